"""A sentence as a model reads it, and the way back.

    😀 CALL 555-0199 AT 3:45 PM!        as it was given
       Call ⟨1⟩ at ⟨2⟩!                 as the model reads it: slots hold what must survive, capitals are read small
       Appelle le ⟨1⟩ à ⟨2⟩ !           as the model answers
    😀 APPELLE LE 555-0199 À 3:45 PM !  as it is given back

Protected spans (`text/protected_spans.py`, a glossary's terms) are held in one of three ways: at the edge of a sentence
one is left out and put back; inside it stands for itself as a slot (`text/slots.py`), if the model has learnt slots;
otherwise the model reads it as it is, and the search is told to say it. A sentence without a letter outside of such
spans is not read at all. Every character keeps its place: `PreparedSentence.origins` leads from what the model reads
back to the sentence, `RestoredText.starts` from what it answers to the text that is given back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from regard.text.casing import lowercase_initial
from regard.text.glossary import TermMatch
from regard.text.known_words import KnownWords
from regard.text.localize import localize
from regard.text.normalize_input import (
    TextEdit,
    is_all_caps,
    is_title_case,
    sentence_case,
    spelling_corrections,
    truecase,
    uncased_names,
)
from regard.text.protected_spans import LabeledSpan, protected_spans, written_dates
from regard.text.slots import SLOTS, SlotTexts
from regard.text.words import Span
from regard.translation.options import TranslateOptions

TERM = "term"
AROUND = {"emoji", "symbol"}  # kinds that are no part of a sentence at whose edge they stand
OMITTED = AROUND | {"object"}  # what a model without slots does not read
SPELLED, LONGEST_SPELLED = {"url", "email", "path", "code"}, 12  # nor these, if they have more characters
LEFT_OUT = AROUND | {"url", "email", "mention", "tag", "path"}  # and for a model that cannot carry them
SENTENCE_END = ".!?…。！？"
STOP = re.compile(r"\s?[.!。！]$")  # what a model trained on sentences puts behind everything
# What is read as one space: further spaces, and a line break that is only wrapping, with the marks of a quotation.
SPACES = re.compile(r"[^\S\r\n]*(?:\r\n|[\n\r\v\f\x85\u2028\u2029])(?:\s|>(?=\s))*|[^\S\r\n]{2,}")
AND = re.compile(r"(?<=\s)&(?=\s)")  # a sign that a model of sentences has hardly seen


@dataclass(frozen=True)
class Reader:
    """What is known of a model's reading: its languages, and whether it has learnt slots."""

    source: str | None
    target: str | None
    slots: int = 0  # how many it can hold
    known: KnownWords | None = None


class ProtectedToken(NamedTuple):
    """A span of a sentence that must survive."""

    start: int
    end: int
    kind: str
    wanted: tuple[str, ...]  # what may stand for it in the translation, the best first
    slot: str | None = None  # the character that the model reads instead
    outside: bool = False  # at the edge of the sentence: the model does not read it
    omitted: bool = False  # inside, but not read: it is put in again where its neighbours are


@dataclass(frozen=True)
class RestoredText:
    """An answer of the model as it is given back."""

    text: str
    starts: Sequence[int]  # for each character of the answer, and its end: where it begins in the text
    ends: Sequence[int]  # for each character of the answer: where it ends

    def span(self, answer: Span) -> Span:
        start = self.starts[answer[0]]
        return start, self.ends[answer[1] - 1] if answer[1] > answer[0] else start


class WrittenForm(NamedTuple):
    """A translation that is given, as the model would have said it."""

    text: str
    origins: tuple[Span, ...]  # of each of its characters, in the translation


@dataclass(frozen=True)
class PreparedSentence:
    """A sentence and what the model reads of it."""

    source: str
    start: int  # the model reads source[start:end], changed; what surrounds it is put back
    end: int
    read: str  # empty: nothing is read, and the sentence is its own translation
    origins: tuple[Span, ...]  # of each character of `read`, in `source`
    held: tuple[ProtectedToken, ...] = ()
    loud: bool = False  # in capitals; so is its translation
    item_in: str | None = None  # an item of a list that begins with a small letter; the language of its translation

    @property
    def inner(self) -> list[ProtectedToken]:
        """What the model reads, or what it reads a slot for."""
        return [one for one in self.held if not one.outside]

    @property
    def bare(self) -> str:
        """The sentence without what must survive."""
        edges = [0, *(edge for one in self.held for edge in (one.start, one.end)), len(self.source)]
        return " ".join(self.source[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))

    @property
    def slots(self) -> SlotTexts:
        """What the slots of `read` stand for."""
        filled = [one for one in self.held if one.slot]
        return SlotTexts(
            tuple(self.source[one.start : one.end] for one in filled), tuple(one.wanted[0] for one in filled)
        )

    def origin(self, read: Span) -> Span:
        """Where a span of `read` comes from."""
        return self.origins[read[0]][0], self.origins[read[1] - 1][1]

    def restore(self, answer: str) -> RestoredText:
        """The answer with slots filled, in capitals if the sentence is, and what was left out around it."""
        held = {one.slot: one for one in self.held if one.slot}
        if not self.loud and held.keys().isdisjoint(answer):  # nothing of it changes
            text, last = self.source[: self.start] + answer + self.source[self.end :], self.start + len(answer)
            return RestoredText(text, range(self.start, last + 1), range(self.start + 1, last + 1))
        parts, starts, ends, at = [self.source[: self.start]], [], [], self.start
        for place, character in enumerate(answer):
            one = held.get(character)
            before, part, after = "", character.upper() if self.loud else character, ""
            if one is not None:
                left = answer[place - 1] if place else ""
                left = held[left].wanted[0][-1:] if left in held else left  # two slots side by side
                before, after = self._spaces(one, left, answer[place + 1 : place + 2])
                part = one.wanted[0]
            parts.append(before + part + after)
            starts.append(at + len(before))
            ends.append(starts[-1] + len(part))
            at += len(parts[-1])
        return RestoredText("".join(parts) + self.source[self.end :], (*starts, at), tuple(ends))

    def _spaces(self, one: ProtectedToken, left: str, right: str) -> tuple[str, str]:
        """What keeps a filled slot apart from letters that it does not touch in the source: models forget spaces."""
        touches_left = self.source[one.start - 1 : one.start].isalnum() if one.start else False
        touches_right = self.source[one.end : one.end + 1].isalnum()
        return " " * (left.isalnum() and not touches_left), " " * (right.isalnum() and not touches_right)

    def without_additions(self, answer: str) -> str:
        """The answer without what a model of sentences adds: a full stop that a heading does not have, the capital of a
        list's item."""
        answer = answer if self.item_in is None else lowercase_initial(answer, self.item_in)
        stop = STOP.search(answer)
        if stop is None or self.read[-1:] in SENTENCE_END or not self.read[-1:].isalnum():
            return answer
        return answer[: stop.start()] or answer

    def as_said(self, text: str) -> WrittenForm:
        """A given translation as the model would have said it: without what surrounds the sentence, in small letters if
        the sentence is read so, and with slots for what fills them, each once."""
        before, after = self.source[: self.start], self.source[self.end :]
        start = len(before) if text.startswith(before) else 0
        end = len(text) - len(after) if text.endswith(after) and len(text) - len(after) >= start else len(text)
        changes: list[TextEdit] = []
        for one in self.held:
            if one.slot and (place := _first_place(text, (start, end), one.wanted, changes)):
                changes.append((*place, one.slot))
        said, origins = _changed(text, start, end, changes)
        return WrittenForm(sentence_case(said) if self.loud and is_all_caps(text[start:end]) else said, origins)


def prepared(sentence: str, options: TranslateOptions, reader: Reader) -> PreparedSentence:
    """
    >>> found = prepared("Tom has 1,250 cats 🐈", TranslateOptions(mend=True), Reader("en", "fr", slots=2))
    >>> found.read.replace(SLOTS[0], "⟨1⟩"), found.restore(f"Tom a {SLOTS[0]} chats").text
    ('Tom has ⟨1⟩ cats', 'Tom a 1,250 chats 🐈')
    """
    spans = _spans(sentence, options, reader)
    start, end = _edges(sentence, spans, reader.slots > 0) if options.mend or options.protect else (0, len(sentence))
    outside = [one._replace(outside=True) for one in spans if one.end <= start or one.start >= end]
    inner = [one for one in spans if one.start >= start and one.end <= end]
    if not _has_letters(sentence, start, end, inner):
        held = tuple(one._replace(outside=True) for one in spans)
        return PreparedSentence(sentence, len(sentence), len(sentence), "", (), held)
    terms = [one for one in inner if one.kind == TERM]
    inner = _with_slots(sentence, inner, reader) if options.protect else terms
    spelt: list[TextEdit] = []
    if options.mend and reader.known:
        around = [(0, start), *((one.start, one.end) for one in inner), (end, len(sentence))]
        spelt = spelling_corrections(sentence, around, reader.known, reader.source or "en")
    read, origins = _as_read(sentence, start, end, inner, reader.source if options.protect else None, spelt)
    rest = "".join(character for character in read if character not in SLOTS)
    loud = bool(options.mend) and is_all_caps(rest)
    small = loud or (options.mend and is_title_case(rest, reader.source, reader.known))
    read = sentence_case(read) if small else read
    if options.mend and reader.known and (small or not any(map(str.isupper, rest))):
        read = truecase(read, reader.known, reader.source or "en")
    return PreparedSentence(sentence, start, end, read, origins, tuple(sorted(outside + inner)), loud)


def unread(sentence: str) -> PreparedSentence:
    """A sentence that is its own translation."""
    return PreparedSentence(sentence, len(sentence), len(sentence), "", ())


def _spans(sentence: str, options: TranslateOptions, reader: Reader) -> list[ProtectedToken]:
    """Protected spans and terms, which go first, unless a term stands inside a longer protected span."""
    if not (options.protect or options.mend or options.glossary):
        return []
    known = None if options.mend and is_title_case(sentence, reader.source, reader.known) else reader.known
    found = protected_spans(sentence, known, reader.source or "en")
    languages = reader.source or "en", reader.target or "en"
    names: dict[LabeledSpan, str] = {}
    if options.mend and options.protect and reader.known:
        # No more than there are slots for: a model that reads them small could not be told to say them otherwise.
        free = max(0, reader.slots - len(found))
        names = dict(islice(uncased_names(sentence, found, reader.known, languages[0]).items(), free))
        found = sorted([*found, *names])
    terms = options.glossary.find(sentence, *languages) if options.glossary else []
    terms = [term for term in terms if not any(_inside(term, span) for span in found)]
    kept = [span for span in found if not any(span.start < term.end and term.start < span.end for term in terms)]
    spans = [ProtectedToken(term.start, term.end, TERM, term.targets) for term in terms]
    return sorted(
        spans + [ProtectedToken(*span, (names.get(span) or _wanted(sentence, span, options, reader),)) for span in kept]
    )


def _inside(term: TermMatch, span: LabeledSpan) -> bool:
    longer = span.end - span.start > term.end - term.start
    return longer and span.start <= term.start and term.end <= span.end


def _wanted(sentence: str, span: LabeledSpan, options: TranslateOptions, reader: Reader) -> str:
    text = sentence[span.start : span.end]
    if not options.localize or reader.source is None or reader.target is None:
        return text
    return localize(text, span.kind, reader.source, reader.target)


def _edges(sentence: str, spans: Sequence[ProtectedToken], slots: bool) -> Span:
    """Start and end of what the model reads. With slots, only what is no part of the sentence is left out."""
    kinds = AROUND if slots else LEFT_OUT
    start, end = _after_space(sentence, 0), _before_space(sentence, len(sentence))
    for span in spans:
        apart = sentence[span.end : span.end + 1].isspace() or span.end == len(sentence)
        if span.start != start or span.kind not in kinds or not (apart or span.kind in AROUND):
            break
        start = _after_space(sentence, span.end)
    for span in reversed(spans):
        left = _before_space(sentence, span.start)
        if span.end != end or span.start < start:
            break
        after_end = left < span.start and sentence[left - 1 : left] in SENTENCE_END
        if not (span.kind in AROUND or after_end or (left < span.start and span.kind in kinds)):
            break
        end = left
    return start, max(start, end)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _before_space(text: str, at: int) -> int:
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def _has_letters(sentence: str, start: int, end: int, spans: Sequence[ProtectedToken]) -> bool:
    """Whether there is anything to translate."""
    edges = [start, *(edge for one in spans for edge in (one.start, one.end)), end]
    between = zip(edges[::2], edges[1::2], strict=True)
    terms = any(one.kind == TERM for one in spans)
    return terms or any(character.isalpha() for a, b in between for character in sentence[a:b])


def _with_slots(sentence: str, spans: Sequence[ProtectedToken], reader: Reader) -> list[ProtectedToken]:
    """A slot for each span, in order, as long as there are any; without slots, some are not read. A term that is
    translated has none: the model knows its word, and a sentence comes out far better around it than around a slot.
    Nor have the numbers of a date with the name of a month, which has another order in another language."""
    if not reader.slots:
        return [one._replace(omitted=_too_strange(one)) for one in spans]
    slots = iter(SLOTS[: reader.slots])
    dates = written_dates(sentence, reader.source or "en")
    held = []
    for one in spans:
        if _invisible(one):
            held.append(one._replace(omitted=True))
        elif one.kind == "number" and any(start < one.start and one.end <= end for start, end in dates):
            first = one.wanted == ("1",) and reader.target == "fr"
            held.append(one._replace(wanted=("1", "1er")) if first else one)
        elif one.kind != TERM or one.wanted == (sentence[one.start : one.end],):
            held.append(one._replace(slot=next(slots, None)))
        else:
            held.append(one)
    return held


def _invisible(one: ProtectedToken) -> bool:
    """Whether it only directs how text is shown: marks of direction, soft hyphens, control characters."""
    return one.kind == "symbol" and all(unicodedata.category(c) in ("Cc", "Cf") for c in one.wanted[0])


def _too_strange(one: ProtectedToken) -> bool:
    """Whether a model without slots is better off without it: it would spell a long address piece by piece."""
    return one.kind in OMITTED or (one.kind in SPELLED and one.end - one.start > LONGEST_SPELLED)


def _as_read(
    sentence: str,
    start: int,
    end: int,
    spans: Sequence[ProtectedToken],
    language: str | None,
    spelt: Sequence[TextEdit],
) -> tuple[str, tuple[Span, ...]]:
    """The characters that the model reads, and where each comes from: slots for their spans, spaces for wrapping, words
    in place of slips."""
    changes: list[TextEdit] = [*spelt, *((one.start, one.end, one.slot) for one in spans if one.slot)]
    for one in spans:
        if one.omitted:  # with the space before it, unless a word follows at once
            space = one.start > start and sentence[one.start - 1] == " "
            space = space and not sentence[one.end : one.end + 1].isalnum()
            changes.append((one.start - space, one.end, ""))
    taken = [(first, stop) for first, stop, _ in changes] + [(one.start, one.end) for one in spans]
    for pattern, new in ((SPACES, " "), (AND, "and")) if language == "en" else ((SPACES, " "),):
        for found in pattern.finditer(sentence, start, end):
            if not any(first < found.end() and found.start() < stop for first, stop in taken):
                changes.append((*found.span(), new))
    return _changed(sentence, start, end, changes)


def _changed(sentence: str, start: int, end: int, changes: Sequence[TextEdit]) -> tuple[str, tuple[Span, ...]]:
    """A part of a text with some of its spans replaced, and where each character comes from."""
    read: list[str] = []
    origins: list[Span] = []
    for (_, last, _), (first, stop, new) in pairwise([(start, start, ""), *sorted(changes), (end, end, "")]):
        read.append(sentence[last:first] + new)
        origins += [(at, at + 1) for at in range(last, first)] + [(first, stop)] * len(new)
    return "".join(read), tuple(origins)


def _first_place(text: str, within: Span, wanted: Sequence[str], taken: Sequence[TextEdit]) -> Span | None:
    """Where one of the wanted texts stands first and nothing is taken."""
    for one in wanted:
        at = text.find(one, *within)
        while at >= 0:
            end = at + len(one)
            if not any(first < end and at < stop for first, stop, _ in taken):
                return at, end
            at = text.find(one, at + 1, within[1])
    return None
