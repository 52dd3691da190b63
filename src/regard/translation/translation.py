"""The result of `translate`: a text with its translation, sentence by sentence, and the alternatives.

Every span is (first character, one after the last): source spans index the given text, target spans the translated
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from regard.search.required_terms import SearchRun
from regard.text.slots import NO_SLOTS, SlotTexts
from regard.text.words import Span, WordLink, shortened

# kept: it is in the translation · repaired: the search did not output it, and it was inserted afterwards · missing: it
# is not in the translation
Status = Literal["kept", "repaired", "missing"]
Mark = Literal["check", "doubtful"]  # perhaps wrong · probably wrong
Marking = Literal["lenient", "normal", "strict"]  # how readily sentences are marked


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
    """A reason to mark a sentence's translation: a short name, a sentence for users, and the mark."""

    name: str
    text: str
    mark: Mark = "doubtful"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ProtectedSpan:
    """A protected span of the source, and its place in the translation."""

    text: str  # in the source
    kind: str  # number, url, placeholder, name, term …
    wanted: str  # its text in the translation: the same, or a glossary's translation
    source: Span
    target: Span | None  # None if it is missing
    status: Status
    note: str = ""  # why it is missing, or that its order differs from the source's


@dataclass(frozen=True, repr=False)
class SentenceTranslation:
    """One sentence, with its position in both texts and the details of its translation."""

    source: str
    text: str
    source_span: Span
    target_span: Span
    read: str  # the model's input: normalized, with slots; empty if the source was copied or split
    candidates: tuple[Candidate, ...] = ()  # best first; empty if nothing was read
    confidence: float | None = None  # from 0, certainly wrong, to 1, certainly right; None if not judged
    reasons: tuple[Reason, ...] = ()  # to mark it; empty if there are none
    alignment: tuple[WordLink, ...] | None = None  # None for a model without attention
    protected: tuple[ProtectedSpan, ...] = ()
    slots: SlotTexts = NO_SLOTS  # the texts of the slots of `read`
    search: SearchRun | None = None  # the accepted one; None if the sentence was translated in parts

    @property
    def mark(self) -> Mark | None:
        """The stronger mark of its reasons; None without any."""
        return max((reason.mark for reason in self.reasons), default=None)  # "check" < "doubtful"

    def __repr__(self) -> str:
        return f"SentenceTranslation({shortened(self.source)!r} → {shortened(self.text)!r})"


@dataclass(frozen=True, repr=False)
class Translation:
    """A text, its translation, its sentences and, for a text of one sentence, all candidates. `str` gives the text.

    Everything between the sentences (spaces, line breaks, list marks) is as in the source. For several sentences the
    scores are summed, and `candidates` has the best combinations."""

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
    def marked(self) -> tuple[SentenceTranslation, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.mark)

    @property
    def doubtful(self) -> tuple[SentenceTranslation, ...]:
        return tuple(sentence for sentence in self.sentences if sentence.mark == "doubtful")


LINE_BREAK = re.compile(r"\r\n|[\r\n]")


def distinct(candidates: Iterable[Candidate], nbest: int) -> tuple[Candidate, ...]:
    """Returns the first `nbest` candidates that differ in their text; of equal ones the first, which ranks highest.

    Different tokens can give the same text. So the list should contain all results of the search (up to `beam`
    hypotheses), not only `nbest`; the result is shorter if fewer texts are distinct."""
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
    """Returns the text as its own translation, in one sentence whose words are aligned with themselves."""
    whole = (0, len(text))
    links = tuple((word, word) for word in words)
    sentence = SentenceTranslation(text, text, whole, whole, text, alignment=links)
    return Translation(text, text, 0.0, 0.0, (), (sentence,) if text.strip() else ())


def sentence_warnings(sentences: Iterable[SentenceTranslation]) -> tuple[str, ...]:
    """Returns the reasons of all sentences, a line for each."""
    found = []
    for number, sentence in enumerate(sentences, start=1):
        where = f'sentence {number}, "{shortened(sentence.source, 40)}"'
        found += [f"{where}: {reason}" for reason in sentence.reasons]
    return tuple(found)
