"""The exercises of the lessons: four kinds, read from TOML tables, with errors that name what is wrong.

    number   one number or several, within a tolerance        choice   one or several of a list
    change   a text that fulfils a condition (`changes.py`)   line     one line of Python (`run_line.py`)

`check_answers.py` checks what a learner gives. All texts are Markdown.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from regard.config import build, nearest, require
from regard.course.lessons.changes import CHANGES, WITHOUT_MODEL
from regard.errors import RecipeError

NAME = re.compile(r"[a-z]+(-[a-z]+)*")
Numbers = float | tuple[float, ...]
Value = bool | str | float | tuple[float, ...] | tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class NumberHint:
    """A text for wrong numbers: near a value, above a bound or below one; without a condition, for all others."""

    text: str
    value: Numbers | None = None
    above: float | None = None
    below: float | None = None

    @property
    def is_general(self) -> bool:
        return self.value is self.above is self.below is None


@dataclass(frozen=True)
class LineHint:
    """A text for lines that contain something; without a condition, for all others."""

    text: str
    contains: str = ""

    @property
    def is_general(self) -> bool:
        return not self.contains


@dataclass(frozen=True)
class AnswerChoice:
    text: str
    right: bool = False
    hint: str = ""  # for those who choose it although it is wrong


@dataclass(frozen=True)
class LineTest:
    """An expression over the names that the line leaves, and its value."""

    expression: str
    value: Value


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer, and a part of the message that it must get; for tests."""

    given: float | str | tuple[float, ...]
    hint: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """What all exercises have. `source` names the exercise of the course notes that this is."""

    kind: ClassVar[str]
    id: str
    question: str
    answer: str  # the worked answer
    source: str = ""
    wrong: tuple[WrongAnswer, ...]

    def __post_init__(self) -> None:
        is_name = NAME.fullmatch(self.id) is not None
        require(is_name, f'id must be lower-case words joined by hyphens, but is "{self.id}"')
        require(self.question.strip() != "", "question is empty")
        require(self.answer.strip() != "", "answer is empty")
        require(self.wrong != (), "wrong needs at least one table { given = …, hint = … }, an answer that is wrong")


@dataclass(frozen=True, kw_only=True)
class NumberExercise(Exercise):
    kind = "number"
    value: Numbers
    tolerance: float = 0.005
    hints: tuple[NumberHint, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.values)
        require(count > 0, "value is an empty list")
        require(self.tolerance >= 0, f"tolerance must be 0 or more, but is {self.tolerance:g}")
        check_hints(self.hints)
        for hint in self.hints:
            is_comparable = hint.value is None or len(as_tuple(hint.value)) == count
            require(is_comparable, f"hints: a value must have {count} numbers, as the exercise's own")

    @property
    def values(self) -> tuple[float, ...]:
        return as_tuple(self.value)


@dataclass(frozen=True, kw_only=True)
class ChoiceExercise(Exercise):
    kind = "choice"
    choices: tuple[AnswerChoice, ...]
    several: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.right)
        require(len(self.choices) >= 2, "choices must be two or more")
        require(count > 0, "choices: none has right = true")
        require(count == 1 or self.several, f"choices: {count} are right; write several = true")
        for choice in self.choices:
            require(choice.right or choice.hint != "", f'choices: "{choice.text}" is wrong and has no hint')

    @property
    def right(self) -> tuple[int, ...]:
        """The indices of the right choices, from 1."""
        return tuple(i for i, choice in enumerate(self.choices, 1) if choice.right)


@dataclass(frozen=True, kw_only=True)
class ChangeExercise(Exercise):
    """`avoid`: words that the text must not contain. `model`: the bundled model that is asked."""

    kind = "change"
    check: str
    arguments: Mapping[str, Any]  # of the check
    begin: str
    right: tuple[str, ...]  # texts that pass
    avoid: tuple[str, ...] = ()
    model: str = "en-fr-classic"
    hints: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.check not in CHANGES:
            raise RecipeError(f'check: there is no "{self.check}"; {nearest(self.check, CHANGES)}')
        try:
            inspect.signature(CHANGES[self.check]).bind("text", "translator", **self.arguments)
        except TypeError as problem:
            raise RecipeError(f"arguments of {self.check}: {problem}") from None
        require(self.right != (), 'right needs at least one text that passes, such as right = ["…"]')

    @property
    def asks_model(self) -> bool:
        return self.check not in WITHOUT_MODEL


@dataclass(frozen=True, kw_only=True)
class LineExercise(Exercise):
    """`before` is run first, `begin` is what stands in the input first."""

    kind = "line"
    before: str = ""
    begin: str = ""
    solution: str
    tests: tuple[LineTest, ...]
    hints: tuple[LineHint, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, code in (("before", self.before), ("solution", self.solution)):
            try:
                ast.parse(code)
            except SyntaxError as problem:
                raise RecipeError(f"{name} is not Python: {problem.msg}") from None
        require("\n" not in self.solution.strip(), "solution must be one line")
        require(self.tests != (), "tests needs at least one table { expression = …, value = … }")
        check_hints(self.hints)


KINDS: dict[str, type[Exercise]] = {
    one.kind: one for one in (NumberExercise, ChoiceExercise, ChangeExercise, LineExercise)
}


def read_exercise(table: Mapping[str, Any]) -> Exercise:
    """Reads an exercise from its TOML table. Raises RecipeError with a message that names the key that is wrong.

    >>> read_exercise({"id": "sum", "kind": "number"})
    Traceback (most recent call last):
    regard.errors.RecipeError: exercise needs question
    """
    rest = dict(table)
    kind = rest.pop("kind", None)
    if kind not in KINDS:
        raise RecipeError(f"kind must be {', '.join(KINDS)}, but is {kind!r}")
    return build(KINDS[kind], rest, "exercise")


def check_hints(hints: Sequence[NumberHint | LineHint]) -> None:
    """Raises RecipeError unless the last hint, and no other, is for all answers."""
    if [hint.is_general for hint in hints] != [False] * (len(hints) - 1) + [True]:
        raise RecipeError(
            "hints: the last one, and no other, must have no condition, so that it fits every wrong answer"
        )


def as_tuple(value: Numbers) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)
