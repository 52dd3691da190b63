"""A sentence with the model's input for it, and the restoration of the model's answer.

Character positions are tracked: `PreparedSentence.origins` maps the model's input to the sentence, and
`RestoredText.starts` the model's answer to the restored text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from regard.text.fragments import reshaped
from regard.text.normalize_input import TextEdit, is_all_caps, sentence_case
from regard.text.slots import SLOT, SlotTexts
from regard.text.words import Span

SENTENCE_END, CLOSING = ".!?…。！？", "\"'”’»)]"
STOP = re.compile(r"\s?[.!。！]$")  # added to everything by models trained on sentences
NUMBER_SIGNS = ".,:/'’"  # make one number of the digits on both sides


class ProtectedToken(NamedTuple):
    """A protected span of a sentence."""

    start: int
    end: int
    kind: str
    wanted: tuple[str, ...]  # allowed forms in the translation, best first
    slot: str | None = None  # the character that the model reads instead
    outside: bool = False  # at the edge of the sentence: the model does not read it
    omitted: bool = False  # inside, but not read: it is inserted next to its neighbours


@dataclass(frozen=True)
class RestoredText:
    """An answer of the model, restored to the final text."""

    text: str
    starts: Sequence[int]  # where each character of the answer, and its end, begins in the text
    ends: Sequence[int]  # where each character of the answer ends in the text

    def span(self, answer: Span) -> Span:
        start = self.starts[answer[0]]
        return start, self.ends[answer[1] - 1] if answer[1] > answer[0] else start


class WrittenForm(NamedTuple):
    """A given translation in the form in which the model would output it."""

    text: str
    origins: tuple[Span, ...]  # span in the translation of each character of `text`


@dataclass(frozen=True)
class PreparedSentence:
    """A sentence and the model's input for it."""

    source: str
    start: int  # the model reads source[start:end], changed; the surroundings are put back
    end: int
    read: str  # empty: nothing is read, and the sentence is its own translation, or `known`
    edits: tuple[TextEdit, ...] = ()  # in order: what `read` has instead of spans of `source`
    protected_tokens: tuple[ProtectedToken, ...] = ()
    all_caps: bool = False  # in capitals, like its translation
    fragment_in: str | None = None  # target language, for a fragment, whose translation gets its shape
    known: str = ""  # the translation by the phrase table, for which nothing is read

    @property
    def is_read_unchanged(self) -> bool:
        """Whether the model reads the sentence from its beginning without a change."""
        return self.start == 0 and not self.edits

    @cached_property
    def origins(self) -> tuple[Span, ...]:
        """The span in `source` of each character of `read`."""
        return edit_origins(self.start, self.end, self.edits) if self.read else ()

    @property
    def inner(self) -> list[ProtectedToken]:
        """The protected spans that the model reads, or reads as a slot."""
        return [one for one in self.protected_tokens if not one.outside]

    @property
    def bare(self) -> str:
        """The sentence without its protected spans."""
        edges = [0, *(edge for one in self.protected_tokens for edge in (one.start, one.end)), len(self.source)]
        return " ".join(self.source[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))

    @property
    def slots(self) -> SlotTexts:
        """The texts that the slots of `read` stand for."""
        filled = [one for one in self.protected_tokens if one.slot]
        return SlotTexts(
            tuple(self.source[one.start : one.end] for one in filled), tuple(one.wanted[0] for one in filled)
        )

    def origin(self, read: Span) -> Span:
        """Returns the span of the source that a span of `read`, which is not empty, comes from."""
        if not self.edits:
            return self.start + read[0], self.start + read[1]
        return self.origins[read[0]][0], self.origins[read[1] - 1][1]

    def restore(self, answer: str) -> RestoredText:
        """Fills the slots of an answer, upper-cases it if the sentence is in capitals, and adds the surroundings. Slots
        that the sentence does not have are removed, and all but the first of the same."""
        if not self.all_caps and not SLOT.search(answer):  # the answer is unchanged
            text, last = self.source[: self.start] + answer + self.source[self.end :], self.start + len(answer)
            return RestoredText(text, range(self.start, last + 1), range(self.start + 1, last + 1))
        by_slot = {one.slot: one for one in self.protected_tokens if one.slot}
        text, last = self.source[: self.start], 0  # written so far, and the characters of the answer before it
        starts: list[int] = []
        ends: list[int] = []
        for found in SLOT.finditer(answer):
            place, one = found.start(), by_slot.pop(found[0], None)
            space = one is None and answer[last:place].endswith(" ")
            text = self._copied(text, answer[last : place - space], starts, ends)
            last = place + 1
            if one is None:
                starts += [len(text)] * (1 + space)
                ends += [len(text)] * (1 + space)
                continue
            before, after = self._spaces(one, text[-2:], answer[last : last + 1])
            starts.append(len(text) + len(before))
            ends.append(starts[-1] + len(one.wanted[0]))
            text += before + one.wanted[0] + after
        text = self._copied(text, answer[last:], starts, ends)
        return RestoredText(text + self.source[self.end :], (*starts, len(text)), tuple(ends))

    def _copied(self, before: str, part: str, starts: list[int], ends: list[int]) -> str:
        """Returns the text with a part of an answer without slots, and adds where its characters start and end."""
        if self.all_caps:
            characters = list(map(str.upper, part))  # some become two
            at = list(accumulate(map(len, characters), initial=len(before)))
            starts += at[:-1]
            ends += at[1:]
            return before + "".join(characters)
        starts += range(len(before), len(before) + len(part))
        ends += range(len(before) + 1, len(before) + len(part) + 1)
        return before + part

    def _spaces(self, one: ProtectedToken, left: str, right: str) -> tuple[str, str]:
        """Returns the spaces around a filled slot where it would touch letters that it does not touch in the source, or
        make one number of two: "12,⟨14⟩". `left` are the two characters before it."""
        before = self.source[one.start - 1 : one.start] if one.start else ""
        joins = (
            one.wanted[0][0].isdecimal() and left[:1].isdecimal() and left[-1:] in NUMBER_SIGNS and left[-1:] != before
        )
        touches_left = left[-1:].isalnum() and not before.isalnum()
        touches_right = right.isalnum() and not self.source[one.end : one.end + 1].isalnum()
        return " " * (touches_left or joins), " " * touches_right

    def without_additions(self, answer: str) -> str:
        """Removes what a model of sentences adds: the full stop after a heading that has none, and the capital or the
        article of a fragment."""
        if self.fragment_in is not None:
            return reshaped(self.read, answer, self.fragment_in)
        stop = STOP.search(answer)
        if stop is None or self.read.rstrip(CLOSING)[-1:] in SENTENCE_END + ",;:":
            return answer
        return answer[: stop.start()] or answer

    def as_model_output(self, text: str) -> WrittenForm:
        """Converts a given translation to the model's output form: without the sentence's surroundings, in lower case
        if the sentence is read so, and with a slot for the first occurrence of each slot's text."""
        before, after = self.source[: self.start], self.source[self.end :]
        start = len(before) if text.startswith(before) else 0
        end = len(text) - len(after) if text.endswith(after) and len(text) - len(after) >= start else len(text)
        changes: list[TextEdit] = []
        for one in self.protected_tokens:
            if one.slot and (place := _first_occurrence(text, (start, end), one.wanted, changes)):
                changes.append((*place, one.slot))
        changes.sort()
        said, origins = replace_spans(text, start, end, changes), edit_origins(start, end, changes)
        return WrittenForm(sentence_case(said) if self.all_caps and is_all_caps(text[start:end]) else said, origins)


def replace_spans(sentence: str, start: int, end: int, edits: Sequence[TextEdit]) -> str:
    """Returns a part of a text with some of its spans replaced, which are in order."""
    parts = []
    for first, stop, new in edits:
        parts += [sentence[start:first], new]
        start = stop
    return "".join([*parts, sentence[start:end]])


def edit_origins(start: int, end: int, edits: Sequence[TextEdit]) -> tuple[Span, ...]:
    """Returns the span in the text of each character of the result of `replace_spans`."""
    origins: list[Span] = []
    for first, stop, new in (*edits, (end, end, "")):
        origins += zip(range(start, first), range(start + 1, first + 1), strict=True)
        origins += [(first, stop)] * len(new)
        start = stop
    return tuple(origins)


def _first_occurrence(text: str, within: Span, wanted: Sequence[str], taken: Sequence[TextEdit]) -> Span | None:
    """Returns the first free span of one of the wanted texts, None if there is none."""
    for one in wanted:
        at = text.find(one, *within)
        while at >= 0:
            end = at + len(one)
            if not any(first < end and at < stop for first, stop, _ in taken):
                return at, end
            at = text.find(one, at + 1, within[1])
    return None
