"""A lexicon in the model's own tokens, learnt from sentence pairs: t(target token | source token).

    t(w | x) = links of x with w / occurrences of x

over the links on which two HMM aligners agree (`align/hmm.py`), one for each direction. A row sums to less than 1 if x
was sometimes linked with nothing. Only the most probable entries of a token are kept.

Tokens are pieces of a BPE vocabulary, or the words of a word-level one. Words are stored as they are spelled, including
those that are not in the vocabulary, so that an unknown word can be looked up (`translation/unknown.py`). A decoder
reads the lexicon in ids, where all unknown target words are <unk> (`steering.py`).

It is one JSON file beside a model. It has no phrases, no context and no word order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from regard.bundle.folder import LEXICON
from regard.config import key, require
from regard.errors import BundleError, InputError
from regard.files import write_atomically
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
CHUNK = 10_000  # lines that are tokenized at a time

Entries = Mapping[str, Sequence[tuple[str, float]]]  # source token → target tokens, best first, with t


@dataclass(frozen=True)
class LexiconConfig:
    entries: int = key(10, "translations kept for a token")
    least: float = key(0.01, "translations less probable than this are dropped")
    pairs: int = key(200_000, "sentence pairs to learn from, at most; of more, every second, third … is taken")
    longest: int = key(100, "pairs with more tokens than this on a side are left out")

    def __post_init__(self) -> None:
        require(self.entries >= 1, f"entries must be 1 or more, but is {self.entries}; try 10")
        require(0 <= self.least < 1, f"least must be from 0 to below 1, but is {self.least}; try 0.01")
        require(self.pairs >= 1, f"pairs must be 1 or more, but is {self.pairs}; try 200000")
        require(self.longest >= 1, f"longest must be 1 or more, but is {self.longest}; try 100")


class IdTable(NamedTuple):
    """A lexicon in ids: row x has the translations of source token x, padded with probability 0."""

    targets: Tensor  # (source vocabulary, K)
    probs: Tensor  # (source vocabulary, K)


@dataclass(frozen=True)
class TokenLexicon:
    entries: Entries  # frequent source tokens first
    tokenizer: str  # fingerprint of the tokenizer
    pairs: int  # sentence pairs it was learnt from

    @property
    def size(self) -> int:
        return sum(len(row) for row in self.entries.values())

    def best(self, source: str) -> str | None:
        """Returns the most probable translation of a token; None if it has none."""
        row = self.entries.get(source)
        return row[0][0] if row else None

    def in_ids(self, tokenizer: Tokenizer) -> IdTable:
        """Converts the lexicon to ids. Source words outside the vocabulary have no row: <unk> has no translation."""
        import torch

        width = max((len(row) for row in self.entries.values()), default=1)
        targets = torch.zeros(tokenizer.source_size, width, dtype=torch.long)
        probs = torch.zeros(tokenizer.source_size, width)
        for source, row in self.entries.items():
            number = tokenizer.source.ids.get(source)
            for k, (target, probability) in enumerate(row if number is not None else ()):
                known = tokenizer.target.ids.get(target, tokenizer.unknown)
                if known is not None:
                    targets[number, k], probs[number, k] = known, probability
        return IdTable(targets, probs)

    def save(self, folder: Path) -> None:
        stored = {"format": FORMAT, "tokenizer": self.tokenizer, "pairs": self.pairs, "entries": self.entries}
        text = json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n"
        write_atomically(folder / LEXICON, lambda path: path.write_text(text, encoding="utf-8"))

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer) -> TokenLexicon | None:
        """Loads the lexicon beside a model; None if there is none."""
        path = folder / LEXICON
        if not path.is_file():
            return None
        again = f"learn it again: regard lexicon --model {folder}"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["format"] != FORMAT:
                raise ValueError(f"format {stored['format']}")
            entries = {e: tuple((str(f), float(t)) for f, t in row) for e, row in stored["entries"].items()}
            found = cls(entries, str(stored["tokenizer"]), int(stored["pairs"]))
            if not all(0 <= t <= 1 for row in entries.values() for _, t in row):
                raise ValueError("a probability that is not from 0 to 1")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as problem:
            raise BundleError(f"{path} cannot be read ({type(problem).__name__}: {problem}); {again}") from None
        if found.tokenizer != tokenizer.fingerprint:
            raise BundleError(f"{path} is in the tokens of another model; {again}")
        return found


def known(lexicon: TokenLexicon | None) -> TokenLexicon:
    if lexicon is None:
        raise InputError("the model has no lexicon; learn one first: regard lexicon --model FOLDER")
    return lexicon


def learn_lexicon(
    pairs: Iterable[tuple[str, str]],
    tokenizer: Tokenizer,
    config: LexiconConfig | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> TokenLexicon:
    """Learns a lexicon from pairs of lines, which are read twice and not stored. `progress` gets the current task."""
    from regard.align import hmm  # imported here: lookup does not need them
    from regard.align.ibm import NOTHING, count_translations
    from regard.align.numbered import NumberedPairs

    if iter(pairs) is pairs:
        raise InputError("pairs must be read twice, but an iterator was given; give a list")
    config = config or LexiconConfig()
    progress("reading pairs")
    total = sum(1 for _ in pairs)
    occurrences: Counter[str] = Counter()
    numbers: dict[str, str] = {}  # the aligner ignores case, but tokens do not: it gets numbers

    def number(tokens: list[str]) -> list[str]:
        return [numbers.setdefault(token, str(len(numbers))) for token in tokens]

    def numbered() -> Iterator[tuple[list[str], list[str]]]:
        for source, target in _tokens(islice(pairs, 0, None, -(-total // config.pairs) or 1), tokenizer, config):
            occurrences.update(source)
            yield number(source), number(target)

    try:
        corpus = NumberedPairs.of(numbered())
    except InputError:
        if numbers:
            raise
        raise InputError(
            f"a lexicon is learnt from sentence pairs, but of {total:,} pairs none has words on both sides, "
            f"{config.longest} tokens at most; give other files",
            parameter=("src", "tgt"),
        ) from None
    progress(f"aligning {len(corpus):,} pairs, source to target")
    forward = hmm.train_on(corpus)
    progress(f"aligning {len(corpus):,} pairs, target to source")
    backward = hmm.train_on(corpus.swapped())
    progress("linking")
    links = hmm.BidirectionalAligner(forward, backward).align_each(corpus, "intersection")
    counted = count_translations(corpus, links, config.entries)
    tokens = {number: token for token, number in numbers.items()}
    entries = {}
    for token, _ in occurrences.most_common():
        row = counted[numbers[token]]
        kept = [(tokens[f], round(t, 4)) for f, t in row if f != NOTHING and t >= config.least]
        if kept:
            entries[token] = tuple(kept)
    return TokenLexicon(entries, tokenizer.fingerprint, len(corpus))


def _tokens(
    lines: Iterable[tuple[str, str]], tokenizer: Tokenizer, config: LexiconConfig
) -> Iterator[tuple[list[str], list[str]]]:
    """Yields both sides of the pairs to learn from, tokenized."""
    stream = iter(lines)
    while chunk := list(islice(stream, CHUNK)):
        sources = tokenizer.source.spelled([source for source, _ in chunk])
        targets = tokenizer.target.spelled([target for _, target in chunk])
        for source, target in zip(sources, targets, strict=True):
            if source and target and max(len(source), len(target)) <= config.longest:
                yield source, target
