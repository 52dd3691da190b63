"""Prepares a sentence for a model, and restores the model's answer.

    😀 CALL 555-0199 AT 3:45 PM!        the sentence
       Call ⟨1⟩ at ⟨2⟩!                 the model's input: slots replace protected spans, capitals are lower-cased
       Appelle le ⟨1⟩ à ⟨2⟩ !           the model's answer
    😀 APPELLE LE 555-0199 À 3:45 PM !  the restored answer

Protected spans (`text/protected_spans.py`, a glossary's terms) are handled in one of three ways: at the edge of a
sentence a span is left out and put back; inside it is replaced by a slot (`text/slots.py`), if the model was trained
with slots; otherwise the model reads it unchanged, and the search must output it. A sentence without a letter outside
of such spans is not read at all, nor one that the phrase table has (`text/phrases.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from regard.text.glossary import TermMatch
from regard.text.known_words import KnownWords
from regard.text.language import scripts_of
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
from regard.text.phrases import phrase_edits
from regard.text.protected_spans import LabeledSpan, protected_spans, written_dates
from regard.text.slots import SLOTS, without_slots
from regard.text.words import Span
from regard.translation.options import TranslateOptions
from regard.translation.prepared_sentence import SENTENCE_END, PreparedSentence, ProtectedToken, replace_spans

TERM, PHRASE = "term", "phrase"  # of a glossary, of the phrase table
EDGE_KINDS = {"emoji", "symbol"}  # not part of the sentence if at its edge
APART = {TERM, "object", "symbol"}  # not joined with a span that they touch
OMITTED = EDGE_KINDS | {"object", "script"}  # not read by a model without slots
SPELLED, LONGEST_SPELLED = {"url", "email", "path", "code"}, 12  # nor are these, if longer
NOT_READ = EDGE_KINDS | {"url", "email", "mention", "tag", "path"}  # not read at the edge by a model without slots
# Read as one space: several spaces, a no-break space between words, a line break by wrapping, with quote prefixes (>).
SPACES = re.compile(
    r"[^\S\r\n]*(?:\r\n|[\n\r\v\f\x85\u2028\u2029])(?:\s|>(?=\s))*|[^\S\r\n]{2,}"
    r"|(?<![«‹“„])[\u00a0\u2007\u2009\u202f](?![!?;:%‰»›”])"
)
ODD_SPACE = re.compile(r"[^\S ]|  ")  # in every match of SPACES
AND = re.compile(r"(?<=\s)&(?=\s)")  # rare in the training data


@dataclass(frozen=True)
class Reader:
    """The properties of a model that determine its input: its languages, slots and known words."""

    source: str | None
    target: str | None
    slots: int = 0  # number of slots the model was trained with; 0: none
    known: KnownWords | None = None

    @property
    def scripts(self) -> tuple[str, ...] | None:
        """The scripts that the model reads; None if they are unknown."""
        return scripts_of(self.source, self.target)


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
        protected_tokens = tuple(one._replace(outside=True) for one in spans)
        return PreparedSentence(sentence, len(sentence), len(sentence), "", (), protected_tokens)
    terms = [one for one in inner if one.kind == TERM]
    inner = _with_slots(sentence, inner, reader) if options.protect else terms
    spelt: list[TextEdit] = []
    if options.mend and reader.known:
        around = [(0, start), *((one.start, one.end) for one in inner), (end, len(sentence))]
        spelt = spelling_corrections(sentence, around, reader.known, reader.source or "en")
    edits = _edits(sentence, start, end, inner, reader.source if options.protect else None, spelt)
    read = replace_spans(sentence, start, end, edits)
    rest = without_slots(read)
    all_caps = bool(options.mend) and is_all_caps(rest)
    small = all_caps or (options.mend and is_title_case(rest, reader.source, reader.known))
    read = sentence_case(read) if small else read
    if options.mend and reader.known and (small or not any(map(str.isupper, rest))):
        read = truecase(read, reader.known, reader.source or "en")
    return PreparedSentence(sentence, start, end, read, edits, tuple(sorted(outside + inner)), all_caps)


def translated_phrase(sentence: str, options: TranslateOptions, reader: Reader) -> PreparedSentence | None:
    """Returns a fragment with its translation by the phrase table, None if the table does not have all of it. A term of
    the glossary takes precedence, and so do the numbers of another locale."""
    languages = reader.source or "en", reader.target or "en"
    if options.glossary and options.glossary.find(sentence, *languages):
        return None
    spans = protected_spans(sentence)
    edits = phrase_edits(sentence, reader.source, reader.target, spans, options.formality == "informal")
    if edits is None or (options.localize and any(map(str.isdecimal, sentence))):
        return None
    known = replace_spans(sentence, 0, len(sentence), edits)
    tokens = [ProtectedToken(start, end, PHRASE, (new,)) for start, end, new in edits if any(map(str.isalpha, new))]
    taken = {place for token in tokens for place in range(token.start, token.end)}
    tokens += [ProtectedToken(*span, (sentence[span.start : span.end],)) for span in spans if span.start not in taken]
    return PreparedSentence(sentence, 0, len(sentence), "", (), tuple(sorted(tokens)), known=known)


def unread(sentence: str) -> PreparedSentence:
    """Returns a sentence that is its own translation."""
    return PreparedSentence(sentence, len(sentence), len(sentence), "")


def _spans(sentence: str, options: TranslateOptions, reader: Reader) -> list[ProtectedToken]:
    """Returns protected spans and terms; terms take precedence, except inside a longer span that is no name."""
    if not (options.protect or options.mend or options.glossary):
        return []
    known = None if options.mend and is_title_case(sentence, reader.source, reader.known) else reader.known
    found = protected_spans(sentence, known, reader.source or "en", reader.scripts)
    languages = reader.source or "en", reader.target or "en"
    names: dict[LabeledSpan, str] = {}
    if options.mend and options.protect and reader.known:
        # At most as many as there are slots: without a slot, the model would read and output a name in lower case.
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
    return longer and span.kind != "name" and span.start <= term.start and term.end <= span.end


def _wanted(sentence: str, span: LabeledSpan, options: TranslateOptions, reader: Reader) -> str:
    text = sentence[span.start : span.end]
    if not options.localize or reader.source is None or reader.target is None:
        return text
    return localize(text, span.kind, reader.source, reader.target)


def _edges(sentence: str, spans: Sequence[ProtectedToken], slots: bool) -> Span:
    """Returns start and end of the model's input. With slots, only spans outside the sentence proper are left out."""
    kinds = EDGE_KINDS if slots else NOT_READ
    start, end = _after_space(sentence, 0), _before_space(sentence, len(sentence))
    for span in spans:
        apart = sentence[span.end : span.end + 1].isspace() or span.end == len(sentence)
        if span.start != start or span.kind not in kinds or not (apart or span.kind in EDGE_KINDS):
            break
        start = _after_space(sentence, span.end)
    for span in reversed(spans):
        left = _before_space(sentence, span.start)
        if span.end != end or span.start < start:
            break
        after_end = left < span.start and sentence[left - 1 : left] in SENTENCE_END
        if not (span.kind in EDGE_KINDS or after_end or (left < span.start and span.kind in kinds)):
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
    """Whether there is anything to translate: a term, or a letter outside of protected spans."""
    edges = [start, *(edge for one in spans for edge in (one.start, one.end)), end]
    between = zip(edges[::2], edges[1::2], strict=True)
    terms = any(one.kind == TERM for one in spans)
    return terms or any(character.isalpha() for a, b in between for character in sentence[a:b])


def _touching_joined(spans: Sequence[ProtectedToken]) -> list[ProtectedToken]:
    """Joins spans without a character between them, such as the three of `<b>3:45</b>`: a model that reads each as a
    slot may separate them."""
    joined: list[ProtectedToken] = []
    for one in spans:
        last = joined[-1] if joined else one
        if last.end != one.start or not APART.isdisjoint((last.kind, one.kind)):
            joined.append(one)
        else:
            kinds = {last.kind, one.kind} - {"placeholder"}
            kind = kinds.pop() if len(kinds) == 1 else "placeholder"
            joined[-1] = ProtectedToken(last.start, one.end, kind, (last.wanted[0] + one.wanted[0],))
    return joined


def _with_slots(sentence: str, spans: Sequence[ProtectedToken], reader: Reader) -> list[ProtectedToken]:
    """Assigns slots to spans in order, as long as there are any; without slots, some spans are not read. A translated
    term has no slot: the model knows the word, and translates a sentence far better around it than around a slot. Nor
    have the numbers of a date with a month's name, whose order differs between languages."""
    if not reader.slots:
        return [one._replace(omitted=_is_unreadable(one)) for one in spans]
    slots = iter(SLOTS[: reader.slots])
    dates = written_dates(sentence, reader.source or "en")
    protected_tokens = []
    for one in _touching_joined(spans) if len(spans) > 1 else spans:
        if is_invisible(one.kind, one.wanted[0]):
            protected_tokens.append(one._replace(omitted=True))
        elif one.kind == "number" and any(start < one.start and one.end <= end for start, end in dates):
            first = one.wanted == ("1",) and reader.target == "fr"
            protected_tokens.append(one._replace(wanted=("1", "1er")) if first else one)
        elif one.kind != TERM or one.wanted == (sentence[one.start : one.end],):
            protected_tokens.append(one._replace(slot=next(slots, None)))
        else:
            protected_tokens.append(one)
    return protected_tokens


def is_invisible(kind: str, text: str) -> bool:
    """Whether a span only controls the display of text: direction marks, soft hyphens, control characters."""
    return kind == "symbol" and all(unicodedata.category(character) in ("Cc", "Cf") for character in text)


def _is_unreadable(one: ProtectedToken) -> bool:
    """Whether a model without slots should not read a span: it would spell a long address piece by piece."""
    return one.kind in OMITTED or (one.kind in SPELLED and one.end - one.start > LONGEST_SPELLED)


def _edits(
    sentence: str,
    start: int,
    end: int,
    spans: Sequence[ProtectedToken],
    language: str | None,
    spelt: Sequence[TextEdit],
) -> tuple[TextEdit, ...]:
    """Returns what the model reads instead of spans of the sentence, in order: slots for protected spans, a space for
    line wrapping, and corrected spelling."""
    changes: list[TextEdit] = [*spelt, *((one.start, one.end, one.slot) for one in spans if one.slot)]
    for one in spans:
        if one.omitted:  # with the space before it, unless a word follows directly
            space = one.start > start and sentence[one.start - 1] == " "
            space = space and not sentence[one.end : one.end + 1].isalnum()
            changes.append((one.start - space, one.end, ""))
    taken = [(first, stop) for first, stop, _ in changes] + [(one.start, one.end) for one in spans]
    patterns = [(SPACES, " ")] if ODD_SPACE.search(sentence) else []
    if language == "en" and "&" in sentence:
        patterns.append((AND, "and"))
    for pattern, new in patterns:
        for found in pattern.finditer(sentence, start, end):
            if not any(first < found.end() and found.start() < stop for first, stop in taken):
                changes.append((*found.span(), new))
    return tuple(sorted(changes))
