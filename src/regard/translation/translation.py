"""What `translate` returns: a text with its translation, sentence by sentence, and the alternatives.

Every span is (first character, one after the last): source spans index the text as it was given, target spans the
translated text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from regard.text.slots import NO_SLOTS, SlotTexts
from regard.text.words import Span, WordLink, shortened

# kept: it stands in the translation · repaired: the search did not say it, and it was put in afterwards · missing: it
# is not in the translation
Status = Literal["kept", "repaired", "missing"]


@dataclass(frozen=True, repr=False)
class Candidate:
    """One entry of an n-best list."""

    text: str
    score: float  # the length-normalised log-probability by which the search ranks
    log_prob: float  # log P(text | source), EOS included
    ids: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Candidate({self.text!r}, score={self.score:.4f})"


class Reason(NamedTuple):
    """Why a sentence's translation is doubtful: a short name, and a sentence for people."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ProtectedSpan:
    """A span of the source that must survive, and what became of it."""

    text: str  # in the source
    kind: str  # number, url, placeholder, name, term …
    wanted: str  # what must stand in the translation: the text itself, or what a glossary says
    source: Span
    target: Span | None  # None where it is missing
    status: Status
    note: str = ""  # why it is missing


@dataclass(frozen=True, repr=False)
class SentenceTranslation:
    """One sentence: where it stands in both texts, and what is known about its translation."""

    source: str
    text: str
    source_span: Span
    target_span: Span
    read: str  # the source as the model read it: mended, with slots; empty where it was copied unread, or in parts
    candidates: tuple[Candidate, ...] = ()  # best first; none where nothing was read
    confidence: float | None = None  # predicted chrF of the translation, from 0 to 1; None where nothing was judged
    reasons: tuple[Reason, ...] = ()  # why it is doubtful; none where it is not
    alignment: tuple[WordLink, ...] | None = None  # None for a model without attention
    protected: tuple[ProtectedSpan, ...] = ()
    slots: SlotTexts = NO_SLOTS  # what the slots of `read` stand for

    @property
    def doubtful(self) -> bool:
        return bool(self.reasons)

    def __repr__(self) -> str:
        return f"SentenceTranslation({shortened(self.source)!r} → {shortened(self.text)!r})"


@dataclass(frozen=True, repr=False)
class Translation:
    """A text, its translation, its sentences and, of a text of one sentence, all candidates. `str` gives the text.

    What stands between the sentences (spaces, line breaks, list marks) is as in the source. Of a text of several
    sentences the scores are added up, and `candidates` holds the best combinations."""

    source: str
    text: str
    score: float
    log_prob: float
    candidates: tuple[Candidate, ...]
    sentences: tuple[SentenceTranslation, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __repr__(self) -> str:
        return f"Translation({shortened(self.source)!r} → {shortened(self.text)!r}, score={self.score:.4f})"

    @property
    def doubtful(self) -> tuple[SentenceTranslation, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.doubtful)


LINE_BREAK = re.compile(r"\r\n|[\r\n]")


def distinct(candidates: Iterable[Candidate], nbest: int) -> tuple[Candidate, ...]:
    """The first `nbest` of a list that differ in their text; of equal ones the first, which ranks highest.

    Different tokens can give the same text. So the list should hold all that the search found (up to `beam`
    hypotheses), not only `nbest` of them; fewer than `nbest` remain where it found no more different ones."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.text, candidate)
    return tuple(first.values())[:nbest]


def in_one_line(text: str) -> str:
    """
    >>> in_one_line("one\\r\\ntwo")
    'one two'
    """
    return LINE_BREAK.sub(" ", text)


def copied(text: str, words: Iterable[Span] = ()) -> Translation:
    """The text as its own translation, in one sentence whose words are aligned with themselves."""
    whole = (0, len(text))
    links = tuple((word, word) for word in words)
    sentence = SentenceTranslation(text, text, whole, whole, text, alignment=links)
    return Translation(text, text, 0.0, 0.0, (), (sentence,) if text.strip() else ())


def sentence_warnings(sentences: Iterable[SentenceTranslation]) -> tuple[str, ...]:
    """The reasons of all sentences, a line for each."""
    found = []
    for number, sentence in enumerate(sentences, start=1):
        where = f'sentence {number}, "{shortened(sentence.source, 40)}"'
        found += [f"{where}: {reason}" for reason in sentence.reasons]
    return tuple(found)
