"""A lesson and its blocks, as plain data. All texts are Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regard.config import require
from regard.course.lessons.exercises import Exercise


@dataclass(frozen=True)
class Prose:
    """Paragraphs, headings, lists and tables."""

    text: str


@dataclass(frozen=True)
class Guess:
    """A question that the reader answers before reading on."""

    question: str
    answer: str
    choices: tuple[str, ...]
    right: int  # index into the choices, from 1

    def __post_init__(self) -> None:
        count = len(self.choices)
        require(1 <= self.right <= count, f"right must be from 1 to {count}, but is {self.right}")


@dataclass(frozen=True)
class ViewChange:
    """A button of a view."""

    label: str
    set: Mapping[str, Any]  # the part of the page's selection that it changes


@dataclass(frozen=True)
class LiveView:
    """A view of the web UI that works on the reader's sentence."""

    name: str  # as in serve/page/lesson.js and inside.js
    caption: str
    set: Mapping[str, Any] = field(default_factory=dict)  # the part of the page's selection that this view begins with
    tries: tuple[ViewChange, ...] = ()


@dataclass(frozen=True)
class QuotedCode:
    """Lines of a file of this repository."""

    file: str
    text: str


@dataclass(frozen=True)
class Listing:
    """An equation, or a command or a Python session with what it prints."""

    kind: str  # equation | console | python
    text: str


Block = Prose | Guess | LiveView | QuotedCode | Listing | Exercise


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

    def __post_init__(self) -> None:
        require(1 <= self.minutes <= 10, f"minutes must be from 1 to 10, but is {self.minutes}")
        require(2 <= len(self.objectives) <= 4, f"objectives must be 2 to 4, but there are {len(self.objectives)}")
        ids = [one.id for one in self.exercises]
        for id in ids:
            require(ids.count(id) == 1, f'the id "{id}" occurs twice')

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
