"""Checks that all protected spans are in a sentence's translation, and inserts missing ones.

A slot that the search generated is filled and needs no check. A span that the model read unchanged must occur in the
answer as often as in the source, in one of the allowed forms (`text/span_matching.py`). A missing span replaces the
words that are aligned with it, or is inserted after the translation of its left neighbour: `repaired`. The result is
then read again: a span that is not at its place is missing after all, and a change of order is noted: `verified`. A
term of a glossary is placed by a search (`term_placement.py`) and otherwise only replaces aligned words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from regard.text.glossary import located_terms
from regard.text.numbers import numbers_in_words
from regard.text.span_matching import find_occurrences
from regard.text.span_patterns import NUMERIC
from regard.text.words import Span, WordLink, word_spans
from regard.translation.prepare import PHRASE, TERM, is_invisible
from regard.translation.prepared_sentence import PreparedSentence, ProtectedToken, RestoredText
from regard.translation.translation import ProtectedSpan

NOT_PRODUCED = "missing from the search's output"
NOT_READABLE = "not readable in the translation"
LISTED = NUMERIC | {"url", "email", "path", "code", "mention"}  # a translation keeps the order of a list of them
ONCE = LISTED | {"placeholder"}  # and does not repeat them
LIST_WORDS = frozenset(("and", "or", "to", "et", "ou", "à", "und", "oder", "bis", "y", "o", "a"))
NOT_PLACED = "no word of the translation is aligned with its source"
NOT_ALIGNED = "in the translation, but not aligned with its source"
REORDERED = "in another order than in the source"
SHORTEST_OWN = 4  # letters of a word that shows where a term is translated
ENDING = ".,;:!?…。！？»\"')]}"


@dataclass(frozen=True)
class CheckedAnswer:
    """A sentence's translation after the check. Spans refer to the sentence and to its translation."""

    text: str
    links: tuple[WordLink, ...]
    protected: tuple[ProtectedSpan, ...]


def checked(sentence: PreparedSentence, answer: str, links: Sequence[WordLink]) -> CheckedAnswer:
    """Restores the answer and finds every protected span in it. `links` lead from `sentence.read` to the answer."""
    restored = sentence.restore(answer)
    if links and links[-1][1][1] > len(answer):  # without links of a removed full stop
        links = [link for link in links if link[1][1] <= len(answer)]
    if not sentence.is_read_unchanged or restored.starts != range(len(answer) + 1):
        origins, starts, ends = sentence.origins, restored.starts, restored.ends
        links = [
            ((origins[first][0], origins[last - 1][1]), (starts[start], ends[stop - 1]))
            for (first, last), (start, stop) in links
        ]
    moved = tuple(links)
    found = CheckedAnswer(restored.text, moved, ())
    if not (sentence.protected_tokens or sentence.known):
        return found
    fates = [_fate(sentence, one, restored, answer) for one in sentence.protected_tokens]
    taken = [fate.target for fate in fates if fate is not None and fate.target is not None]
    pending = [
        (i, one) for i, (one, fate) in enumerate(zip(sentence.protected_tokens, fates, strict=True)) if fate is None
    ]
    for i, one in pending:
        target, aligned = (
            _term_place(one, found, taken) if one.kind == TERM else (_first_free(one, found.text, taken), True)
        )
        fates[i] = _span(sentence, one, target, "kept" if target and aligned else "missing")
        taken += [target] if target else []
    protected = tuple(fate for fate in fates if fate is not None)
    if sentence.known:
        moved = tuple((one.source, one.target) for one in protected if one.kind == PHRASE and one.target)
    return CheckedAnswer(restored.text, moved, protected)


def repaired(found: CheckedAnswer) -> CheckedAnswer:
    """Inserts missing protected spans, and accepts terms that seem to be at another place."""
    if not found.protected:
        return found
    for fate in found.protected:
        if fate.status == "missing" and fate.target is None:
            found = _repaired(found, fate)
    for i, one in enumerate(found.protected):
        if one.target and one.status == "missing":
            accepted = replace(one, status="kept")
            found = replace(found, protected=(*found.protected[:i], accepted, *found.protected[i + 1 :]))
    return verified(found)


def verified(found: CheckedAnswer) -> CheckedAnswer:
    """Reads the final text again: reports spans that are not at their places as missing, and notes changes of order."""
    protected: list[ProtectedSpan] = []
    last = -1
    for one in found.protected:
        if one.target is None or _is_readable(one, found.text):
            moved = one.target is not None and one.target[0] < last
            last = last if one.target is None else max(last, one.target[0])
            protected.append(replace(one, note=REORDERED) if moved and one.kind != TERM else one)
        else:
            protected.append(replace(one, target=None, status="missing", note=NOT_READABLE))
    return replace(found, protected=tuple(protected))


def _is_readable(one: ProtectedSpan, text: str) -> bool:
    """Whether a span can be read at its place: its text is there, and no digits beside it make it another number."""
    start, end = one.target or (0, 0)
    said = text[start:end]
    if one.kind == TERM or said not in (one.text, one.wanted):
        return one.kind == TERM or bool(find_occurrences(one.wanted, one.kind, said))
    return one.kind not in NUMERIC or (start, end) in find_occurrences(said, one.kind, text)


def swapped(source: str, protected: Sequence[ProtectedSpan]) -> list[tuple[ProtectedSpan, ProtectedSpan]]:
    """Returns pairs in the wrong order: neighbours in a list or range of numbers (12, 14 and 16), and tags that end
    before they begin. Other numbers may change places, with the words around them: im Oktober 2015 um 7 Prozent."""
    found = [one for one in protected if one.target is not None]
    pairs = [pair for pair in pairwise(one for one in found if one.kind in LISTED) if _are_neighbours(source, *pair)]
    opened: list[ProtectedSpan] = []
    for one in found:
        if one.text.startswith("</") and opened:
            pairs.append((opened.pop(), one))
        elif one.text.startswith("<") and not one.text.endswith("/>") and "</" not in one.text:
            opened.append(one)
    return [(a, b) for a, b in pairs if a.target and b.target and b.target < a.target]


def repeated(source: str, found: CheckedAnswer, language: str) -> list[str]:
    """Returns the protected spans that the translation has more often than the source, in digits or in words."""
    spans = {(one.text, one.wanted, one.kind) for one in found.protected if one.kind in ONCE}
    more = [
        (text, wanted)
        for text, wanted, kind in spans
        if (times := _count(wanted, kind, found.text)) and times > _count(text, kind, source)
    ]
    if not more:
        return []
    words = numbers_in_words(re.sub(r"\d", "", source), language)
    return sorted(wanted for text, wanted in more if text not in words)


def _count(span: str, kind: str, text: str) -> int:
    return len(find_occurrences(span, kind, text))


def _are_neighbours(source: str, first: ProtectedSpan, second: ProtectedSpan) -> bool:
    between = source[first.source[1] : second.source[0]]
    return all(between[start:end] in LIST_WORDS for start, end in word_spans(between) if between[start].isalpha())


def _fate(sentence: PreparedSentence, one: ProtectedToken, restored: RestoredText, answer: str) -> ProtectedSpan | None:
    """Returns the status of a span that was not read or read as a slot; None if the text must be searched."""
    if one.outside:
        after = len(restored.text) - len(sentence.source) if one.start >= sentence.end and sentence.read else 0
        return _span(sentence, one, (one.start + after, one.end + after), "kept")
    if one.slot and one.slot in answer:
        at = answer.index(one.slot)
        return _span(sentence, one, restored.span((at, at + 1)), "kept")
    return None


def _term_place(one: ProtectedToken, found: CheckedAnswer, taken: Sequence[Span]) -> tuple[Span | None, bool]:
    """Returns a term's place in the translation, and whether it can be its place: it cannot if no word there but one
    elsewhere is aligned with the source of the term."""
    places: list[Span] = []
    while place := located_terms([one.wanted], found.text, [*taken, *places])[0]:
        places.append(place)
    linked = [target for source, target in found.links if overlap(source, (one.start, one.end))]
    own = next((place for place in places if any(overlap(place, target) for target in linked)), None)
    elsewhere = (target for target in linked if not any(overlap(target, span) for span in taken))
    words = (found.text[slice(*target)] for target in elsewhere)
    rival = any(word.isalpha() and len(word) >= SHORTEST_OWN for word in words)
    return own or next(iter(places), None), own is not None or not rival


def _first_free(one: ProtectedToken, text: str, taken: Sequence[Span]) -> Span | None:
    for wanted in one.wanted:
        for start, end in find_occurrences(wanted, one.kind, text):
            if not any(overlap((start, end), span) for span in taken):
                return start, end
    return None


def overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _span(sentence: PreparedSentence, one: ProtectedToken, target: Span | None, status: str) -> ProtectedSpan:
    note = NOT_PRODUCED if target is None else NOT_ALIGNED if status == "missing" else ""
    text = sentence.source[one.start : one.end]
    return ProtectedSpan(text, one.kind, one.wanted[0], (one.start, one.end), target, status, note)  # type: ignore[arg-type]


# ── repair ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _repaired(found: CheckedAnswer, lost: ProtectedSpan) -> CheckedAnswer:
    """Puts the wanted text in place of the translation of its words, or else, unless it is a term, next to its
    neighbours'."""
    start, end = _place(found, lost)
    if start == end and lost.kind == TERM:
        kept = [replace(one, note=NOT_PLACED) if one is lost else one for one in found.protected]
        return replace(found, protected=tuple(kept))
    before, after = found.text[:start], found.text[end:]
    if start == end and not is_invisible(lost.kind, lost.wanted):  # inserted: separate it from its neighbours
        separator = ", " if lost.kind in NUMERIC else " "  # two numbers side by side may read as one
        if before and not before[-1].isspace() and before[-1] not in "([«'’":
            before += separator if before[-1].isdigit() else " "
        if after and not (after[0].isspace() or after[0] in ENDING):
            after = (separator if after[0].isdigit() else " ") + after
    place = (len(before), len(before) + len(lost.wanted))
    text = before + lost.wanted + after
    grown = len(text) - len(found.text)

    def moved(span: Span) -> Span:
        return (span[0] + grown, span[1] + grown) if span[0] >= end else span

    links = [(source, moved(target)) for source, target in found.links if not overlap(target, (start, end))]
    links.append((lost.source, place))
    mended = replace(lost, target=place, status="repaired", note="")
    protected = [
        mended if one is lost else replace(one, target=moved(one.target)) if one.target else one
        for one in found.protected
    ]
    return CheckedAnswer(text, tuple(sorted(links, key=lambda link: link[1])), tuple(protected))


def _place(found: CheckedAnswer, lost: ProtectedSpan) -> Span:
    """Returns where words are linked only with the lost span, if contiguous; else the end of its left neighbour. An
    invisible span replaces no word, and a word around it is its neighbour."""
    invisible = is_invisible(lost.kind, lost.wanted)
    kept = [one.target for one in found.protected if one.target]

    def free(span: Span) -> bool:
        return not any(overlap(span, other) for other in kept)

    own = sorted(target for source, target in found.links if overlap(source, lost.source) and free(target))
    own = [span for span in own if any(character.isalnum() for character in found.text[slice(*span)])]
    if own and not invisible:
        whole = (own[0][0], own[-1][1])
        others = [target for source, target in found.links if not overlap(source, lost.source)]
        if free(whole) and not any(overlap(whole, other) for other in others):
            return whole
    left = [(s[0] + 1 if invisible else s[1], target[1]) for s, target in found.links]
    left = [link for link in left if link[0] <= lost.source[0]]
    at = 0
    if left:
        at = max(left)[1]
    elif not found.links:  # no alignment: before the punctuation at the end
        words = word_spans(found.text)
        at = max((end for start, end in words if found.text[start:end].isalnum()), default=len(found.text))
    at = next((end for start, end in kept if start < at < end), at)
    return at, at
