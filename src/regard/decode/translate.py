"""Text in, text out: a bundle, or several as an ensemble, as a translator.

Lines are sorted by length into batches of a token budget and come back in their order, one out per line in. An empty
line stays empty. A line longer than the model was trained for is translated in parts, cut at sentence ends or spaces,
and joined. The result of a line never depends on the lines around it. A lexicon and the rules may steer the model
(`steer.py`), unknown words may be filled in (`unknown.py`), and rough text may be mended before it is read
(`mend.py`); without them it is the model alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from regard.batch import budgeted, pad_sources
from regard.bundle import box
from regard.bundle.bundle import Bundle
from regard.bundle.folder import find_bundle
from regard.bundle.search_config import DecodeConfig
from regard.decode.beam import beam_search
from regard.decode.greedy import greedy
from regard.decode.hypothesis import Hypothesis
from regard.decode.reading import Reading, joined_reading, reading_of
from regard.decode.sampling import Sampling, sample
from regard.decode.steer import Guided, RuleSystem, Steered, check_weight, rules_in_ids
from regard.decode.token_lexicon import IdTable, TokenLexicon, known
from regard.decode.unknown import Unknown, check_unknown, fill_unknown
from regard.device import pick_device
from regard.errors import InputError
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.text.mend import Mended, mended
from regard.text.tokenizer import Tokenizer

SENTENCE_END = ".!?…。！？"


@dataclass(frozen=True)
class Candidate:
    """One entry of an n-best list."""

    text: str
    score: float  # length-normalised, what the search ranked by
    log_prob: float
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Translation:
    """The best candidate, and the others in order. A line that was cut has the parts' scores added up."""

    source: str
    text: str
    score: float
    log_prob: float
    candidates: tuple[Candidate, ...]
    parts: int = 1
    read: str = ""  # the source as the model read it

    def __str__(self) -> str:
        return self.text


class Part(NamedTuple):
    """A line, or a part of one that is too long."""

    text: str
    ids: list[int]


class Translator:
    """What `regard.load` returns."""

    def __init__(
        self,
        bundle: Bundle,
        config: DecodeConfig | None = None,
        longest: int = 256,
        lexicon: TokenLexicon | None = None,
        reading: Reading | None = None,
        folders: Sequence[Path] = (),
    ) -> None:
        """Without a lexicon, one that lies in the folders is read when it is needed. `reading` says which attention is
        the alignment; without it the bundle's card does."""
        self.bundle, self.config, self.longest = bundle, config or DecodeConfig(), longest
        self._lexicon, self._reading, self._folders = lexicon, reading, folders
        self.rule_system: RuleSystem | None = None  # set by whoever has one; `rules` is its weight

    @classmethod
    def load(cls, paths: Path | Sequence[Path] | None = None, device: str = "auto") -> Translator:
        """The model in a folder, the ensemble of those in several, or the model in the box. The first one's recipe says
        how to search."""
        paths = box.boxed() if paths is None else paths
        folders = [find_bundle(path) for path in ([paths] if isinstance(paths, Path) else paths)]
        if not folders:
            raise InputError("a translator needs a model, but no folder is given")
        bundles = [Bundle.load(folder, pick_device(device)) for folder in folders]
        first, longest = bundles[0], min(bundle.max_length for bundle in bundles)
        config = first.decode
        if len(bundles) == 1:
            return cls(first, config, longest, folders=folders)
        check_tokenizers(folders, bundles)
        models = [bundle.model for bundle in bundles]
        card = {"members": [bundle.card for bundle in bundles]}
        together = Bundle("ensemble", None, Ensemble(models), first.tokenizer, card)
        return cls(together, config, longest, None, joined_reading(models), folders)

    @property
    def tokenizer(self) -> Tokenizer:
        return self.bundle.tokenizer

    @cached_property
    def lexicon(self) -> TokenLexicon | None:
        beside = (TokenLexicon.load(folder, self.tokenizer) for folder in self._folders)
        return self._lexicon or next((lexicon for lexicon in beside if lexicon), None)

    @cached_property
    def reading(self) -> Reading:
        return reading_of(self.bundle.model, self.bundle.card) if self._reading is None else self._reading

    @cached_property
    def _table(self) -> IdTable:
        return known(self.lexicon).in_ids(self.tokenizer)

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        steer: float = 0.0,
        rules: float = 0.0,
        unknown: Unknown = "keep",
        tag: str | None = None,
        mend: bool | None = None,
        sampling: Sampling | None = None,
        batch_tokens: int = 4096,
        progress: Callable[[int], None] | None = None,
    ) -> list[Translation]:
        """`steer` and `rules` are the weights of the lexicon and of `rule_system`, `unknown` says what becomes
        of each <unk>. A `tag` stands before every source; `mend` says whether rough text is mended. With `sampling`,
        `nbest` translations are drawn instead of searched for. `progress`, when given, is told how many more lines are
        done, batch by batch."""
        if isinstance(texts, str):
            raise InputError('translate takes a list of sentences; for one sentence type translate(["…"])')
        beam = self.config.beam if beam is None else beam
        search = DecodeConfig(
            beam,
            self.config.length_penalty if length_penalty is None else length_penalty,
            self.config.mend if mend is None else mend,
        )
        if sampling is None and not 1 <= nbest <= beam:
            remedy = f"; use a wider beam: {nbest}" if nbest > beam else ""
            raise InputError(f"nbest must be between 1 and the beam ({beam}), but is {nbest}{remedy}")
        if unknown != "keep":
            if tag is not None:
                raise InputError(
                    "unknown words are looked up in sources without a tag; give a tag or unknown, not both"
                )
            lexicon = self.lexicon if unknown == "lexicon" else None
            check_unknown(unknown, self.tokenizer, self.reading, lexicon, self.bundle.architecture)
        model = self._steered(steer, rules)
        rough = [mended(text) if search.mend else Mended("", text, "") for text in texts]
        read = [line.read for line in rough]
        ids, mark = self.tokenizer.plain.encode_source(read), self.tokenizer.tag_ids(tag) or self.tokenizer.mark_ids
        parts = [self._parts(text, i, mark) if text.strip() else [] for text, i in zip(read, ids, strict=True)]
        flat = [(line, part) for line, ps in enumerate(parts) for part in ps]
        results: list[list[Candidate]] = [[] for _ in flat]
        waiting = [len(ps) for ps in parts]
        if progress is not None:
            progress(waiting.count(0))
        for batch in budgeted([len(part.ids) for _, part in flat], batch_tokens):
            some = [flat[i][1] for i in batch]
            found = [hypotheses[:nbest] for hypotheses in self._search(model, some, search, sampling, nbest)]
            for place, candidates in zip(batch, self._in_words(some, found, unknown), strict=True):
                results[place] = candidates
            if progress is not None:
                for i in batch:
                    waiting[flat[i][0]] -= 1
                progress(sum(waiting[line] == 0 for line in {flat[i][0] for i in batch}))
        of_line: list[list[list[Candidate]]] = [[] for _ in texts]
        for (line, _), candidates in zip(flat, results, strict=True):
            of_line[line].append(candidates)
        return [_translation(*line) for line in zip(texts, rough, of_line, strict=True)]

    def _steered(self, steer: float, rules: float) -> Model:
        """The model itself where both weights are 0."""
        check_weight("steer", steer)
        check_weight("rules", rules)
        model = self.bundle.model
        if steer:
            model = Steered(model, self._table, self.reading, steer)
        if not rules:
            return model
        if self.rule_system is None:
            raise InputError(f"rules is {rules:g}, but this translator has no rule system; set translator.rule_system")
        return Guided(model, rules_in_ids(self.rule_system, self.tokenizer), rules)

    def _search(
        self, model: Model, parts: list[Part], search: DecodeConfig, sampling: Sampling | None, count: int
    ) -> list[list[Hypothesis]]:
        src, mask = (t.to(model.device) for t in pad_sources([part.ids for part in parts]))
        if sampling is not None:
            return sample(model, src, mask, count, **asdict(sampling))
        if search.beam == 1:
            return [[h] for h in greedy(model, src, mask)]
        return beam_search(model, src, mask, search.beam, search.length_penalty)

    def _parts(self, text: str, ids: list[int], mark: Sequence[int] = ()) -> list[Part]:
        """A line as one part or several, each with the tag's id before it if there is one."""
        longest = self.longest - len(mark)
        if len(ids) < longest:  # EOS takes the last place
            return [Part(text, [*mark, *ids])]
        plain = self.tokenizer.plain  # the mark is added here, so that every part has it once
        spans = [(p.start, p.end) for p in plain.source_tokens(text)]
        most = max(1, longest - 2)  # room for EOS, and for the word mark that a part's new beginning may need
        pieces = [p for p in (text[a:b].strip() for a, b in cut_points(text, spans, most)) if p]
        return [Part(p, [*mark, *i]) for p, i in zip(pieces, plain.encode_source(pieces), strict=True) if i]

    def _in_words(self, parts: list[Part], found: list[list[Hypothesis]], unknown: Unknown) -> list[list[Candidate]]:
        """The n-best list of every part, its unknown words filled in where that is asked for."""
        rows = [(part, h) for part, hypotheses in zip(parts, found, strict=True) for h in hypotheses]
        texts = [self.tokenizer.decode(h.ids) for _, h in rows]
        gaps = [i for i, (_, h) in enumerate(rows) if unknown != "keep" and self.tokenizer.unknown in h.ids]
        lexicon = self.lexicon if unknown == "lexicon" else None
        for start in range(0, len(gaps), len(parts)):  # as many at a time as were read at a time
            some = gaps[start : start + len(parts)]
            sources, targets = [rows[i][0].text for i in some], [rows[i][1].ids for i in some]
            filled = fill_unknown(self.bundle.model, self.reading, self.tokenizer, lexicon, sources, targets)
            for i, text in zip(some, filled, strict=True):
                texts[i] = text
        said = iter(re.sub(r"[\r\n]", " ", text) for text in texts)  # one line, whatever the model says
        return [[Candidate(next(said), h.score, h.log_prob, h.ids) for h in hypotheses] for hypotheses in found]


def _translation(text: str, rough: Mended, parts: list[list[Candidate]]) -> Translation:
    if not parts:
        return Translation(text, rough.restore("") if text.strip() else "", 0.0, 0.0, (), parts=0)
    candidates = tuple(parts[0])
    if len(parts) > 1:  # the best of every part; alternatives of a cut line would multiply
        best = [candidates[0] for candidates in parts]
        ids = tuple(i for c in best for i in c.ids)
        joined = " ".join(c.text for c in best)
        candidates = (Candidate(joined, sum(c.score for c in best), sum(c.log_prob for c in best), ids),)
    candidates = tuple(replace(candidate, text=rough.restore(candidate.text)) for candidate in candidates)
    first = candidates[0]
    return Translation(text, first.text, first.score, first.log_prob, candidates, len(parts), rough.read)


def check_tokenizers(folders: Sequence[Path], bundles: Sequence[Bundle]) -> None:
    """Ids must mean the same to all members of an ensemble, and all read the same ones."""
    for folder, bundle in zip(folders, bundles, strict=True):
        if bundle.tag != bundles[0].tag:
            tags = " and ".join(f"{f} {one.tag or 'none'}" for f, one in ((folders[0], bundles[0]), (folder, bundle)))
            raise InputError(f"the models of an ensemble must have one tag before every source, but {tags}")
        if bundle.tokenizer.fingerprint != bundles[0].tokenizer.fingerprint:
            raise InputError(
                f"the models of an ensemble must share one vocabulary, but {folders[0]} and {folder} have different "
                "ones; train them on the same files with the same [text]"
            )


def cut_points(text: str, spans: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Character ranges of at most `most` tokens each, given every token's span."""
    first = 0
    while first < len(spans):
        last = min(first + most, len(spans))  # tokens first … last−1 go into this part
        if last < len(spans):
            last = _best_cut(text, spans, first, last)
        yield spans[first][0], spans[last - 1][1]
        first = last


def _best_cut(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """Behind the last sentence end, unless that leaves a scrap; else before the last word; else where the room ends."""

    def ends_sentence(i: int) -> bool:
        piece = text[slice(*spans[i - 1])].rstrip()
        return piece != "" and piece[-1] in SENTENCE_END

    def begins_word(i: int) -> bool:
        start = spans[i][0]
        return any(c.isspace() for c in text[max(0, start - 1) : start + 1])

    scrap = first + (last - first) // 4
    sentence = next((i for i in range(last, scrap, -1) if ends_sentence(i)), None)
    return sentence or next((i for i in range(last, first, -1) if begins_word(i)), last)
