"""Edits of a draft that put a glossary's term in its place: in place of the words that are aligned with its source.

    Tiens le bouton de courant.       the draft: "bouton de courant" is aligned with the term
    Tiens le bouton marche/arrêt.     the term after each form of the article that may precede it (`text/agreement.py`)

Aligned are the words that attend most to the source of the term. They are joined over function words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from regard.align.attention import WordAttention
from regard.text.agreement import agreeing, function_words
from regard.text.casing import capitalize_first
from regard.text.inflection import plurals
from regard.text.words import Span, word_spans
from regard.translation.placeholder_check import SHORTEST_OWN, CheckedAnswer, overlap
from regard.translation.prepare import TERM
from regard.translation.prepared_sentence import PreparedSentence, ProtectedToken
from regard.translation.translation import ProtectedSpan

MAX_PLACES = 2  # places of a term that are tried
MAX_EDITS = 40  # edited texts of a term that are scored
MIN_WEIGHT = 0.1  # attention that a word must pay to the source of a term, to be its translation
AFTER_NOUN = {"fr": "de du", "es": "de del"}  # of a term that replaces an adjective


class TermEdit(NamedTuple):
    """A draft with a term in its place."""

    head: str  # up to the determiner before the term
    before: str  # up to the term
    term: str
    rest: str

    @property
    def beginning(self) -> str:
        return self.before + self.term


class TermDraft(NamedTuple):
    """The draft of a sentence that may lack terms."""

    sentence: PreparedSentence
    found: CheckedAnswer
    attention: WordAttention
    language: str | None  # of the target
    fixed: int = 0  # characters at the beginning that must not change

    @property
    def taken(self) -> list[Span]:
        """The places of protected spans that are not missing."""
        return [one.target for one in self.found.protected if one.target and one.status != "missing"]

    @property
    def function_words(self) -> frozenset[str]:
        return function_words(self.language)


def edits_for(draft: TermDraft) -> list[TermEdit]:
    """Returns the draft with its first missing term in each possible place and form; empty if there is no place."""
    pairs = zip(draft.sentence.protected_tokens, draft.found.protected, strict=True)
    lost = [(one, fate) for one, fate in pairs if fate.status == "missing" and one.kind == TERM]
    places = [(sorted(_places(draft, fate)), one) for one, fate in lost]
    some, one = min((found for found in places if found[0]), key=lambda found: found[0][0], default=((), None))
    edits = [edit for place in some if one is not None for edit in _edits(draft, one, place)]
    return list(dict.fromkeys(edits))[:MAX_EDITS]


def translated_twice(draft: TermDraft) -> int:
    """Counts the words outside of a term's place that are aligned with its source."""
    count = 0
    for one in draft.found.protected:
        if one.kind == TERM and one.target is not None:
            words = _content_words(draft, one.source)
            count += sum(word.aligned and not overlap(word.span, one.target) for word in words)
    return count


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Word(NamedTuple):
    """A word of the draft."""

    span: Span
    weight: float  # its attention to the source of a term
    aligned: bool  # whether no word outside of that source has more attention


def _places(draft: TermDraft, lost: ProtectedSpan) -> list[Span]:
    """Returns the spans of the draft that translate a term: its aligned words, joined over function words, those with
    most attention first."""
    text, taken = draft.found.text, draft.taken
    words = [
        word
        for word in _content_words(draft, lost.source)
        if word.span[0] >= draft.fixed and not any(overlap(word.span, span) for span in taken)
    ]
    runs: list[tuple[Span, float]] = []
    for word in words:
        if word.aligned and runs and _only_function_words(text[runs[-1][0][1] : word.span[0]], draft.function_words):
            runs[-1] = ((runs[-1][0][0], word.span[1]), runs[-1][1] + word.weight)
        elif word.aligned:
            runs.append((word.span, word.weight))
    best = max(words, key=lambda word: word.weight, default=None)
    if best and not best.aligned and best.weight >= MIN_WEIGHT:
        runs.append((best.span, best.weight))
    return [span for span, _ in sorted(runs, key=lambda run: -run[1])[:MAX_PLACES]]


def _content_words(draft: TermDraft, source: Span) -> list[_Word]:
    """Returns the words of the draft that are no function words, with their attention to a span of the source. That to
    punctuation does not count: words without a counterpart attend to the full stop."""
    sentence, rows = draft.sentence, draft.attention.weights
    spans = word_spans(sentence.read)
    own = [i for i, word in enumerate(spans) if overlap(sentence.origin(word), source)]
    others = [i for i, (a, b) in enumerate(spans) if i not in own and any(map(str.isalnum, sentence.read[a:b]))]
    linked = rows[np.isfinite(rows).all(axis=1) & (rows.max(axis=1, initial=0) > 0)]  # as `hard_links`
    found = []
    for (_, span), row in zip(draft.found.links, linked, strict=False):
        if _is_content(draft.found.text[slice(*span)], draft.function_words):
            most = row[own].max(initial=0)
            found.append(_Word(span, float(row[own].sum()), bool(most > row[others].max(initial=0))))
    return found


def _is_content(word: str, function: frozenset[str]) -> bool:
    """Whether a word is no function word; of an unknown language, whether it is not short."""
    known = word.lower().replace("’", "'") not in function if function else len(word) >= SHORTEST_OWN
    return known and any(map(str.isalnum, word))


def _only_function_words(between: str, function: frozenset[str]) -> bool:
    words = between.lower().replace("’", "'").replace("'", "' ").split()
    return all(word in ("-", "/") or word in function for word in words)


# ── edited texts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _edits(draft: TermDraft, one: ProtectedToken, place: Span) -> Iterator[TermEdit]:
    """Yields the draft with each form of the term in a place, after each determiner that may precede it."""
    head, rest = draft.found.text[: place[0]], draft.found.text[place[1] :]
    last = head.rstrip(" ").rsplit(" ", 1)[-1]
    after_noun = last[-1:].isalpha() and last.lower() not in draft.function_words
    added = AFTER_NOUN.get(draft.language or "", "").split() if after_noun else []
    singular = {form for form in one.wanted if one.wanted[0] in plurals(form, draft.language or "")}
    for form in one.wanted:
        if form in singular and draft.language != "de":  # of a German noun the plural may be equal
            continue
        capital = form[:1].isupper() and form[:1].lower() + form[1:] in one.wanted  # only at the beginning
        own = agreeing(head, form, draft.language)
        same = next((i for i, characters in enumerate(zip(head, *own, strict=False)) if len(set(characters)) > 1), None)
        common = head if same is None else head[: head.rfind(" ", 0, same) + 1]
        more = [text for word in added for text in agreeing(f"{head}{word} ", form, draft.language)]
        for before in (*own, *more):
            first = not any(map(str.isalnum, before))
            if len(before) >= draft.fixed and (first or not capital):
                term = capitalize_first(form) if first else form
                yield TermEdit(common if before in own else before, before, term, rest)
