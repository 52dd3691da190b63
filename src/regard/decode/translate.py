"""Text in, text out: a bundle as a translator.

Lines are sorted by length into batches of a token budget and come back in their order, one out per line in. An empty
line stays empty. A line longer than the model was trained for is translated in parts, cut at sentence ends or spaces,
and joined. The result of a line never depends on the lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from regard.batch import pad_sources
from regard.bundle import Bundle
from regard.config import build
from regard.decode.beam import DecodeConfig, beam_search
from regard.decode.greedy import greedy
from regard.decode.hypothesis import Hypothesis
from regard.errors import InputError
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

    def __str__(self) -> str:
        return self.text


def pick_device(name: str = "auto") -> torch.device:
    """cuda before mps before cpu; a device asked for by name must be there."""
    count = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    usable = [kind for kind, number in count.items() if number]
    if name == "auto":
        return torch.device(usable[0])
    kind, _, number = name.partition(":")
    if not (number or "0").isdecimal() or int(number or 0) >= count.get(kind, 0):
        raise InputError(f'device "{name}" is not available here; usable: auto, {", ".join(usable)}')
    return torch.device(name)


class Translator:
    """What `regard.load` returns."""

    def __init__(self, bundle: Bundle, config: DecodeConfig | None = None, longest: int = 256) -> None:
        self.bundle, self.config, self.longest = bundle, config or DecodeConfig(), longest

    @classmethod
    def load(cls, path: Path, device: str = "auto") -> Translator:
        bundle = Bundle.load(path, pick_device(device))
        recipe = bundle.card.get("recipe", {})
        known = build(DecodeConfig, recipe.get("decode", {}), "decode")
        return cls(bundle, known, int(recipe.get("data", {}).get("max_length", 256)))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.bundle.tokenizer

    def translate(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        batch_tokens: int = 4096,
        progress: Callable[[int], None] | None = None,
    ) -> list[Translation]:
        """`progress`, when given, is told how many more lines are done, batch by batch."""
        if isinstance(texts, str):
            raise InputError('translate takes a list of sentences; for one sentence type translate(["…"])')
        beam = self.config.beam if beam is None else beam
        search = DecodeConfig(beam, self.config.length_penalty if length_penalty is None else length_penalty)
        if not 1 <= nbest <= beam:
            remedy = f"; use a wider beam: {nbest}" if nbest > beam else ""
            raise InputError(f"nbest must be between 1 and the beam ({beam}), but is {nbest}{remedy}")
        ids = self.tokenizer.encode_source(texts)
        parts = [self._parts(text, i) if text.strip() else [] for text, i in zip(texts, ids, strict=True)]
        flat = [(line, part) for line, ps in enumerate(parts) for part in ps]
        found: dict[int, list[list[Hypothesis]]] = {line: [] for line in range(len(texts))}
        results: list[list[Hypothesis]] = [[] for _ in flat]
        waiting = [len(ps) for ps in parts]
        if progress is not None:
            progress(waiting.count(0))
        for batch in budgeted([len(part) for _, part in flat], batch_tokens):
            for place, hypotheses in zip(batch, self._search([flat[i][1] for i in batch], search), strict=True):
                results[place] = hypotheses
            if progress is not None:
                for i in batch:
                    waiting[flat[i][0]] -= 1
                progress(sum(waiting[line] == 0 for line in {flat[i][0] for i in batch}))
        for (line, _), hypotheses in zip(flat, results, strict=True):
            found[line].append(hypotheses)
        return [self._translation(text, found[line], nbest) for line, text in enumerate(texts)]

    def _search(self, sources: list[list[int]], search: DecodeConfig) -> list[list[Hypothesis]]:
        src, mask = (t.to(self.bundle.model.device) for t in pad_sources(sources))
        if search.beam == 1:
            return [[h] for h in greedy(self.bundle.model, src, mask)]
        return beam_search(self.bundle.model, src, mask, search.beam, search.length_penalty)

    def _parts(self, text: str, ids: list[int]) -> list[list[int]]:
        if len(ids) < self.longest:  # EOS takes the last place
            return [ids]
        spans = [(p.start, p.end) for p in self.tokenizer.source_tokens(text)]
        most = max(1, self.longest - 2)  # room for EOS, and for the word mark that a part's new beginning may need
        pieces = [text[a:b].strip() for a, b in cut_points(text, spans, most)]
        return [p for p in self.tokenizer.encode_source([p for p in pieces if p]) if p]

    def _translation(self, text: str, parts: list[list[Hypothesis]], nbest: int) -> Translation:
        if not parts:
            return Translation(text, "", 0.0, 0.0, (), parts=0)
        if len(parts) == 1:
            candidates = tuple(Candidate(self._text(h), h.score, h.log_prob, h.ids) for h in parts[0][:nbest])
        else:  # the best of every part; alternatives of a cut line would multiply
            best = [hypotheses[0] for hypotheses in parts]
            joined = " ".join(self._text(h) for h in best)
            ids = tuple(i for h in best for i in h.ids)
            candidates = (Candidate(joined, sum(h.score for h in best), sum(h.log_prob for h in best), ids),)
        first = candidates[0]
        return Translation(text, first.text, first.score, first.log_prob, candidates, len(parts))

    def _text(self, hypothesis: Hypothesis) -> str:
        """One line, whatever the model says."""
        return re.sub(r"[\r\n]", " ", self.tokenizer.decode(hypothesis.ids))


def budgeted(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices, longest first, in groups whose padded size stays within the budget (a lone long one may exceed it).

    >>> list(budgeted([3, 9, 4], budget=12))
    [[1], [2, 0]]
    """
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if group and (len(group) + 1) * (lengths[group[0]] + 1) > budget:  # + EOS
            yield group
            group = []
        group.append(i)
    if group:
        yield group


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
