"""Assembles a text from the translations of its units; the text between them is unchanged.

Units of one sentence make one `SentenceTranslation`. Spans of units become spans of the text.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from regard.text.slots import NO_SLOTS
from regard.text.words import Span, WordLink
from regard.translation.pipeline import UnitResult
from regard.translation.translation import (
    Candidate,
    ProtectedSpan,
    Reason,
    SentenceTranslation,
    Translation,
    sentence_warnings,
)
from regard.translation.units import Unit

Part = tuple[Unit, UnitResult]


class TextAssembly:
    """The translation of a text, built from its units as they are added in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences: list[SentenceTranslation] = []  # complete ones that are followed by another sentence
        self._written = _Written(text)
        self._parts: list[Part] = []  # of the current sentence

    def add(self, part: Part) -> None:
        if self._parts and self._parts[0][0].sentence != part[0].sentence:
            self._end_sentence()
        self._parts.append(part)

    def _end_sentence(self) -> None:
        self.sentences.append(_sentence(self.text, self._parts, self._written))
        self._parts = []

    def finished(self, nbest: int = 1) -> Translation:
        """Returns the translation; all units must have been added."""
        if self._parts:
            self._end_sentence()
        sentences, whole = tuple(self.sentences), self._written.finished()
        candidates = text_candidates(self.text, whole, sentences, nbest)
        score = candidates[0].score if candidates else 0.0
        log_prob = candidates[0].log_prob if candidates else 0.0
        return Translation(self.text, whole, score, log_prob, candidates, sentences, sentence_warnings(sentences))


def assembled(text: str, parts: Iterable[Part], nbest: int = 1) -> Translation:
    """Returns the translation of a text from all its units, in order."""
    whole = TextAssembly(text)
    for part in parts:
        whole.add(part)
    return whole.finished(nbest)


class _Written:
    """The translated text written so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts: list[str] = []
        self.length = 0
        self.read = 0  # characters of the source processed so far

    def add(self, span: Span, text: str, new: bool = True) -> int:
        """Writes the source before the span, then `text`, of a new sentence or not; returns where `text` begins."""
        gap = self.source[self.read : span[0]]
        if new and not gap and self.parts and text and _touch(self.parts[-1][-1:], text[0]):
            gap = " "
        self.parts += [gap, text] if text else [gap]
        self.read = span[1]
        self.length += len(gap) + len(text)
        return self.length - len(text)

    def since(self, start: int) -> str:
        """Returns the text from a character on, reading only the last parts."""
        found, missing = [], self.length - start
        for part in reversed(self.parts):
            if missing <= 0:
                break
            found.append(part[-missing:])
            missing -= len(part)
        return "".join(reversed(found))

    def finished(self) -> str:
        return "".join(self.parts) + self.source[self.read :]


def _touch(left: str, right: str) -> bool:
    """Whether two sentences without a space between them in the source need one here: not in Chinese or Japanese."""
    return bool(left) and not left.isspace() and right.isalnum() and not (_wide(left) or _wide(right))


def _wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def _sentence(text: str, parts: Sequence[Part], written: _Written) -> SentenceTranslation:
    links: list[WordLink] = []
    protected: list[ProtectedSpan] = []
    starts = []
    for number, (unit, result) in enumerate(parts):
        start, source = written.add(unit.span, result.outcome.text, number == 0), unit.span[0]
        starts.append(start)
        if source == start == 0:
            links += result.outcome.links
            protected += result.outcome.protected
            continue
        links += [(_moved(a, source), _moved(b, start)) for a, b in result.outcome.links]
        protected += [_moved_span(one, source, start) for one in result.outcome.protected]
    first, last = parts[0][0], parts[-1][0]
    span, target = (first.span[0], last.span[1]), (starts[0], written.length)
    judgements = [(result.judgement, len(unit.prepared.source)) for unit, result in parts if result.judgement]
    weight = sum(length for _, length in judgements)
    confidence = sum(j.confidence * length for j, length in judgements) / weight if weight else None
    found = [reason for judgement, _ in judgements for reason in judgement.reasons]
    reasons: dict[str, Reason] = {}
    for reason in sorted(found, key=lambda reason: reason.mark, reverse=True):  # doubtful ones first
        reasons.setdefault(reason.name, reason)
    missing = (one for one in protected if one.status == "missing")
    lost = [Reason("lost", f'"{one.wanted}" is not in the translation: {one.note}') for one in missing]
    return SentenceTranslation(
        text[slice(*span)],
        written.since(target[0]),
        span,
        target,
        first.prepared.read if len(parts) == 1 else "",
        parts[0][1].candidates if len(parts) == 1 else _of_parts([result.candidates for _, result in parts]),
        confidence,
        (*reasons.values(), *lost),
        tuple(links) if all(result.aligned for _, result in parts) else None,
        tuple(protected),
        first.prepared.slots if len(parts) == 1 else NO_SLOTS,
        parts[0][1].search if len(parts) == 1 else None,
    )


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def _moved_span(one: ProtectedSpan, source: int, target: int) -> ProtectedSpan:
    there = None if one.target is None else _moved(one.target, target)
    return ProtectedSpan(one.text, one.kind, one.wanted, _moved(one.source, source), there, one.status, one.note)


# ── n-best ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def text_candidates(
    text: str, whole: str, sentences: Sequence[SentenceTranslation], nbest: int
) -> tuple[Candidate, ...]:
    """Returns the candidates of one sentence with its surroundings, or the best combinations of several."""
    lists = [sentence.candidates for sentence in sentences if sentence.candidates]
    if not lists:
        return ()
    if len(lists) == 1 and len(sentences) == 1:
        (only,) = sentences
        before, after = text[: only.source_span[0]], text[only.source_span[1] :]
        found = [Candidate(before + c.text + after, c.score, c.log_prob, c.ids) for c in lists[0]]
        return (Candidate(whole, found[0].score, found[0].log_prob, found[0].ids), *found[1:])
    if nbest == 1:
        best = [candidates[0] for candidates in lists]
        return (_sum(best, whole),)
    choices = _best_choices([[c.score for c in sentence.candidates] or [0.0] for sentence in sentences], nbest)
    return tuple(_sum(_chosen(sentences, choice), _joined(text, sentences, choice)) for choice in choices)


def _chosen(sentences: Sequence[SentenceTranslation], choice: Mapping[int, int]) -> list[Candidate]:
    return [s.candidates[choice.get(i, 0)] for i, s in enumerate(sentences) if s.candidates]


def _joined(text: str, sentences: Sequence[SentenceTranslation], choice: Mapping[int, int]) -> str:
    written = _Written(text)
    for i, sentence in enumerate(sentences):
        chosen = sentence.candidates[choice[i]] if i in choice else sentence
        written.add(sentence.source_span, chosen.text)
    return written.finished()


def _sum(parts: Sequence[Candidate], text: str) -> Candidate:
    ids = tuple(i for part in parts for i in part.ids)
    return Candidate(text, sum(part.score for part in parts), sum(part.log_prob for part in parts), ids)


def _of_parts(lists: Sequence[Sequence[Candidate]]) -> tuple[Candidate, ...]:
    """Combines the best candidates of the parts of a sentence that was translated in parts."""
    best = [candidates[0] for candidates in lists if candidates]
    return (_sum(best, " ".join(one.text for one in best)),) if best else ()


def _best_choices(scores: Sequence[Sequence[float]], most: int) -> list[dict[int, int]]:
    """Returns the choices of one item per list with the largest sums, best first, as {list: item} where not the first.

    >>> _best_choices([[-1.0, -5.0], [-1.0, -2.0]], 3)
    [{}, {1: 1}, {0: 1}]
    """
    waiting: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())]  # cost, (list, item) pairs
    found: list[dict[int, int]] = []
    while waiting and len(found) < most:
        cost, changes = heapq.heappop(waiting)
        found.append(dict(changes))
        last = changes[-1][0] if changes else 0  # earlier lists are final, so that each choice is made once
        for place in range(last, len(scores)):
            i = dict(changes).get(place, 0)
            if i + 1 < len(scores[place]):
                rest = changes[:-1] if i else changes
                heapq.heappush(waiting, (cost + scores[place][i] - scores[place][i + 1], (*rest, (place, i + 1))))
    return found
