"""The corpus: sentences drawn from the grammar, sorted into splits that share no sentence.

Some combinations of words (an adjective with a noun, a subject with a verb, a verb with an object) are withheld by a
fixed rule: no train, dev or test sentence contains one, and every sentence of the compositional split does. All its
word forms occur in train; only their combination is new.

Equal seeds give equal bytes on every machine: one `random.Random`, no sets iterated, no hash().
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from regard.course.grammar import ambiguous, compound, objects, pronouns, simple
from regard.course.grammar.morphology import WORDS, word_table
from regard.course.grammar.tokens import Draft, Pair, Tok, alignment, join, realize_english, realize_french
from regard.errors import InputError
from regard.files import check_free

DEFAULT_SIZE = 40_000
SMALLEST = 1_000
LARGEST = 1_000_000
SHORTEST, LONGEST = 3, 50  # words
_RESERVE = 2_000
_PATIENCE = 20_000  # maximum consecutive draws without a new sentence

# Sentences that the grammar can generate and that no split contains.
NOTES_EXAMPLES: tuple[tuple[str, str], ...] = tuple(WORDS["notes_examples"].items())


@dataclass(frozen=True)
class Example:
    """A sentence pair with its word alignment and tags."""

    src: str
    tgt: str
    alignment: tuple[tuple[int, int], ...]  # (source word, target word) by regard.text.words.split_words, from 0
    tags: tuple[str, ...]  # the phenomena in it, sorted


@dataclass(frozen=True)
class MinimalPair:
    """Two lines of a split that differ in one English word (or the deciding phrase) and in one French word."""

    kind: str  # "pronoun" | "polysemy"
    first: int
    second: int
    first_word: str  # must be in the translation of the first line and not in that of the second
    second_word: str


@dataclass(frozen=True)
class Split:
    """The examples of one split, and its minimal pairs."""

    name: str
    examples: tuple[Example, ...]
    pairs: tuple[MinimalPair, ...]


@dataclass(frozen=True)
class DrawnSentence:
    """An example with the properties that determine its split."""

    example: Example
    withheld: bool  # whether it contains a withheld combination
    forms: frozenset[str]  # its word forms, both languages
    longest: int  # words of its longer side, with punctuation


_MODULES = {"simple": simple, "objects": objects, "compound": compound, "pronouns": pronouns}
# construction, its final mark, and its number per thousand
_MIX: tuple[tuple[Callable[[Draft], Pair], str, int], ...] = tuple(
    (getattr(_MODULES[module], name), mark, weight)
    for name, (module, mark, weight) in word_table("constructions").items()
)
_POLYSEMY_WEIGHT = 340
_CONSTRUCTIONS = tuple(m[:2] for m in _MIX)
_CUMULATIVE = tuple(accumulate(m[2] for m in _MIX))
_POLYSEMY_SHARE = _POLYSEMY_WEIGHT / (_CUMULATIVE[-1] + _POLYSEMY_WEIGHT)
_WITHHELD_ONE_IN = 30


@cache
def withheld(combination: tuple[str, str, str]) -> bool:
    """Whether a combination is reserved for the compositional split; the same for all seeds and machines."""
    return zlib.crc32("|".join(combination).encode()) % _WITHHELD_ONE_IN == 0


def finish(d: Draft, pair: Pair, mark: str) -> DrawnSentence:
    """Completes a sentence: word boundaries, capital letter, final mark, alignment, tags."""
    key = (d.key(),)
    en = realize_english([*pair.en, Tok(mark, key)])
    fr = realize_french([*pair.fr, Tok(mark, key)])
    src, tgt = join(en, attached=".,?"), join(fr, attached=".,")
    if "'" in tgt:
        d.tags.add("elision")
    if any(len(t.keys) > 1 and t.text in ("du", "des", "au", "aux") for t in fr):
        d.tags.add("contraction")
    example = Example(src, tgt, alignment(en, fr), tuple(sorted(d.tags)))
    forms = frozenset([t.text.casefold() for t in en] + [t.text.casefold() for t in fr])
    return DrawnSentence(example, any(withheld(c) for c in d.combinations), forms, max(len(en), len(fr)))


def compose(rng: random.Random) -> tuple[Draft, Pair, str]:
    """Draws a sentence of any construction, with its final mark."""
    if rng.random() < _POLYSEMY_SHARE:
        return *ambiguous.sentence(rng), "."
    make, mark = rng.choices(_CONSTRUCTIONS, cum_weights=_CUMULATIVE)[0]
    d = Draft(rng)
    return d, make(d), mark


def draw(rng: random.Random) -> DrawnSentence:
    """Draws one sentence pair of any construction."""
    return finish(*compose(rng))


class _Sorter:
    """Keeps the sentences of all splits distinct."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"regard-{seed}")
        self.taken = {text.casefold() for pair in NOTES_EXAMPLES for text in pair}

    def free(self, *examples: Example) -> bool:
        """Whether these texts are all new and different from each other."""
        texts = [t.casefold() for e in examples for t in (e.src, e.tgt)]
        return len(set(texts)) == len(texts) and not any(t in self.taken for t in texts)

    def take(self, *examples: Example) -> None:
        """Marks these texts as taken."""
        self.taken.update(t.casefold() for e in examples for t in (e.src, e.tgt))


def _minimal_pairs(sorter: _Sorter, count: int, wanted: bool, known: frozenset[str] | None) -> _Listing:
    """Draws `count` pairs of each kind; `wanted`: both sentences must have a withheld combination, else neither may."""
    listing = _Listing([], [])
    for kind, make in (("pronoun", pronouns.minimal_pair), ("polysemy", ambiguous.minimal_pair)):
        made = 0
        for _ in range(400 * count):
            if made == count:
                break
            (d1, p1, w1), (d2, p2, w2) = make(sorter.rng)
            one, two = finish(d1, p1, "."), finish(d2, p2, ".")
            a, b = one.example, two.example
            if (one.withheld, two.withheld) != (wanted, wanted) or not sorter.free(a, b):
                continue
            if known is not None and not (one.forms | two.forms) <= known:
                continue
            sorter.take(a, b)
            start = len(listing.examples)
            listing.examples += [a, b]
            listing.pairs.append(MinimalPair(kind, start, start + 1, w1.lower(), w2.lower()))
            made += 1
    return listing


@dataclass
class _Listing:
    examples: list[Example]
    pairs: list[MinimalPair]

    def split(self, name: str) -> Split:
        return Split(name, tuple(self.examples), tuple(self.pairs))


def generate(size: int = DEFAULT_SIZE, seed: int = 1) -> dict[str, Split]:
    """Generates the four splits, "train" with `size` pairs. From 5,000 pairs on, dev and test depend only on the seed.

    >>> sorted(generate(1000)), len(generate(1000)["train"].examples)
    (['compositional', 'dev', 'test', 'train'], 1000)
    """
    if not SMALLEST <= size <= LARGEST:
        raise InputError(
            f"size must be {SMALLEST:,} to {LARGEST:,} training pairs, but is {size:,}; the default is {DEFAULT_SIZE}"
        )
    sorter = _Sorter(seed)
    scale = min(1.0, size / 5000)
    listings = {}
    for name, lines, pairs in (("test", 1000, 100), ("dev", 500, 40)):
        listings[name] = _minimal_pairs(sorter, int(pairs * scale), False, None)
        _fill(sorter, listings[name].examples, int(lines * scale))
    reserve: list[DrawnSentence] = []  # sentences with a withheld combination, drawn while filling train
    train: list[Example] = []
    known = _fill(sorter, train, size, reserve)
    compositional = _minimal_pairs(sorter, int(40 * scale), True, known)
    for drawn in reserve:
        if len(compositional.examples) >= int(500 * scale):
            break
        if sorter.free(drawn.example) and drawn.forms <= known:
            sorter.take(drawn.example)
            compositional.examples.append(drawn.example)
    return {
        "train": Split("train", tuple(train), ()),
        "dev": listings["dev"].split("dev"),
        "test": listings["test"].split("test"),
        "compositional": compositional.split("compositional"),
    }


def _fill(
    sorter: _Sorter, examples: list[Example], size: int, reserve: list[DrawnSentence] | None = None
) -> frozenset[str]:
    """Draws until there are `size` examples and returns their word forms; withheld combinations go to the reserve."""
    forms: set[str] = set()
    in_vain = 0
    while len(examples) < size:
        d, pair, mark = compose(sorter.rng)
        in_vain += 1
        if in_vain > _PATIENCE:
            raise InputError(
                f"the grammar gave {len(examples)} distinct pairs, fewer than size = {size}; give a smaller size"
            )
        full = reserve is None or len(reserve) >= _RESERVE
        if full and any(withheld(c) for c in d.combinations):
            continue
        drawn = finish(d, pair, mark)
        fits = drawn.longest <= LONGEST and drawn.example.src.count(" ") >= SHORTEST - 1
        if not fits or not sorter.free(drawn.example):
            continue
        if drawn.withheld:
            assert reserve is not None
            reserve.append(drawn)
            continue
        sorter.take(drawn.example)
        examples.append(drawn.example)
        forms |= drawn.forms
        in_vain = 0
    return frozenset(forms)


# ------------------------------------------------------------------------------------------------ files


def write_corpus(out: Path, splits: Mapping[str, Split]) -> None:
    """Writes all splits into `out`, which must be new or empty."""
    check_free(out)
    out.mkdir(parents=True, exist_ok=True)
    readme = Path(__file__).with_name("corpus_readme.txt").read_text(encoding="utf-8")
    _write(out / "README.txt", readme)
    for name, split in splits.items():
        _write(out / f"{name}.en", "".join(f"{e.src}\n" for e in split.examples))
        _write(out / f"{name}.fr", "".join(f"{e.tgt}\n" for e in split.examples))
        links = (" ".join(f"{i}-{j}" for i, j in e.alignment) for e in split.examples)
        _write(out / f"{name}.align", "".join(f"{line}\n" for line in links))
        _write(out / f"{name}.tags", "".join(" ".join(e.tags) + "\n" for e in split.examples))
        rows = (f"{p.kind}\t{p.first}\t{p.second}\t{p.first_word}\t{p.second_word}\n" for p in split.pairs)
        _write(out / f"{name}.pairs.tsv", "kind\tfirst\tsecond\tfirst_word\tsecond_word\n" + "".join(rows))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
