"""A lesson and its blocks, as plain data. All texts are Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prose:
    """Paragraphs, headings, lists and tables."""

    text: str


@dataclass(frozen=True)
class Guess:
    """A question that the reader answers before reading on. Without choices the answer is free text, unchecked."""

    question: str
    answer: str
    choices: tuple[str, ...] = ()
    right: int | None = None  # index into the choices, from 1


@dataclass(frozen=True)
class LiveView:
    """A view of the web UI that works on the reader's sentence."""

    name: str  # one of load.VIEWS
    caption: str
    set: Mapping[str, Any]  # the part of the page's selection that this view begins with
    tries: tuple[tuple[str, Mapping[str, Any]], ...] = ()  # (label of a button, what it selects)


@dataclass(frozen=True)
class Equation:
    text: str


@dataclass(frozen=True)
class QuotedCode:
    """Lines of a file of this repository."""

    file: str
    text: str


@dataclass(frozen=True)
class Session:
    """A command or a Python session with what it prints."""

    kind: str  # console | python
    text: str


@dataclass(frozen=True)
class Exercise:
    """An exercise whose answer can be checked. `keys` has what belongs to its kind (load.EXERCISE_KEYS)."""

    id: str
    kind: str  # number | choice | change | line
    question: str
    answer: str
    keys: Mapping[str, Any]
    source: str = ""  # the exercise of the course notes that this is


Block = Prose | Guess | LiveView | Equation | QuotedCode | Session | Exercise


@dataclass(frozen=True)
class Lesson:
    number: int
    slug: str  # of its files and of its address in docs/course, such as attention
    title: str
    summary: str
    minutes: int
    objectives: tuple[str, ...]
    notes: str  # the place in the course notes; the lesson does not need them
    start: Mapping[str, Any]  # the part of the page's selection that the lesson begins with
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        """The name of its files without the suffix, such as 04-attention."""
        return f"{self.number:02}-{self.slug}"

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Exercise))

    def exercise(self, id: str) -> Exercise | None:
        """The exercise with this id, or None."""
        return next((one for one in self.exercises if one.id == id), None)
