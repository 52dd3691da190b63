"""The exercises of the lessons: four kinds, read from TOML tables, with errors that name what is wrong.

    number   one number or several, within a tolerance        choice   one or several of a list
    change   a text that fulfils a condition (`changes.py`)   line     one line of Python (`run_line.py`)

`check_answers.py` checks what a learner gives. All texts are Markdown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from regard.config import build, nearest
from regard.course.lessons.changes import CHANGES, check_arguments
from regard.course.lessons.lesson import Exercise
from regard.errors import InputError, RecipeError

COMMON = ("id", "kind", "question", "answer", "source")  # keys of every exercise that do not belong to its kind
NAME = re.compile(r"[a-z]+(-[a-z]+)*")
Numbers = float | tuple[float, ...]
Value = bool | str | float | tuple[float, ...] | tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Hint:
    """A text for wrong answers. It fits those for which its conditions hold; without a condition, all."""

    text: str
    value: Numbers | None = None
    above: float | None = None
    below: float | None = None
    contains: str | None = None  # of a line, or of a text


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

    given: int | float | str | tuple[int, ...] | tuple[float, ...]
    hint: str


@dataclass(frozen=True, kw_only=True)
class CheckedExercise:
    """What all exercises have. `source` names the exercise of the course notes that this is."""

    id: str
    question: str
    answer: str  # the worked answer
    source: str = ""
    wrong: tuple[WrongAnswer, ...]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.id):
            raise InputError(f'id must be lower-case words joined by hyphens, but is "{self.id}"', parameter="id")
        for name in ("question", "answer"):
            if not getattr(self, name).strip():
                raise InputError(f"{name} is empty", parameter=name)
        if not self.wrong:
            raise InputError(
                "wrong needs at least one table { given = …, hint = … }, an answer that is wrong", parameter="wrong"
            )


@dataclass(frozen=True, kw_only=True)
class NumberExercise(CheckedExercise):
    value: Numbers
    tolerance: float = 0.005
    hints: tuple[Hint, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.values:
            raise InputError("value is an empty list", parameter="value")
        if self.tolerance < 0:
            raise InputError(f"tolerance must be 0 or more, but is {self.tolerance:g}", parameter="tolerance")
        check_hints(self.hints, ("value", "above", "below"))
        for hint in self.hints:
            if hint.value is not None and len(as_tuple(hint.value)) != len(self.values):
                raise InputError(
                    f"a hint's value must have {len(self.values)} numbers, as the exercise's own", parameter="hints"
                )

    @property
    def values(self) -> tuple[float, ...]:
        return as_tuple(self.value)


@dataclass(frozen=True, kw_only=True)
class ChoiceExercise(CheckedExercise):
    choices: tuple[AnswerChoice, ...]
    several: bool = False
    hints: tuple[Hint, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.choices) < 2:
            raise InputError("choices must be two or more", parameter="choices")
        if not self.right:
            raise InputError("none of the choices has right = true", parameter="choices")
        if len(self.right) > 1 and not self.several:
            raise InputError(f"{len(self.right)} choices are right; write several = true", parameter="choices")
        for choice in self.choices:
            if not choice.right and not choice.hint and not self.hints:
                raise InputError(f'the choice "{choice.text}" is wrong and has no hint', parameter="choices")
        check_hints(self.hints, ())

    @property
    def right(self) -> tuple[int, ...]:
        """The indices of the right choices, from 1."""
        return tuple(i for i, choice in enumerate(self.choices, 1) if choice.right)


@dataclass(frozen=True, kw_only=True)
class ChangeExercise(CheckedExercise):
    """`keep` and `avoid`: words that the text must, or must not, contain. `model`: the bundled model that is asked."""

    check: str
    begin: str
    right: tuple[str, ...]  # texts that pass
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the check
    keep: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    model: str = "en-fr-classic"
    hints: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.check not in CHANGES:
            raise InputError(f'there is no check "{self.check}"; {nearest(self.check, CHANGES)}', parameter="check")
        if not self.right:
            raise InputError('right needs at least one text that passes, such as right = ["…"]', parameter="right")


@dataclass(frozen=True, kw_only=True)
class LineExercise(CheckedExercise):
    """`before` is run first, `begin` is what stands in the input first."""

    before: str = ""
    begin: str = ""
    solution: str
    tests: tuple[LineTest, ...]
    hints: tuple[Hint, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, code in (("before", self.before), ("solution", self.solution)):
            try:
                ast.parse(code)
            except SyntaxError as problem:
                raise InputError(f"{name} is not Python: {problem.msg}", parameter=name) from None
        if "\n" in self.solution.strip():
            raise InputError("solution must be one line", parameter="solution")
        if not self.tests:
            raise InputError("tests needs at least one table { expression = …, value = … }", parameter="tests")
        check_hints(self.hints, ("contains",))


KINDS: dict[str, type[CheckedExercise]] = {
    "number": NumberExercise,
    "choice": ChoiceExercise,
    "change": ChangeExercise,
    "line": LineExercise,
}


TABLES: dict[str, type] = {"hints": Hint, "choices": AnswerChoice, "tests": LineTest, "wrong": WrongAnswer}


def read_exercise(table: Mapping[str, Any]) -> CheckedExercise:
    """Reads an exercise from its TOML table. Raises InputError, whose `parameters` name the key that is wrong.

    >>> read_exercise({"id": "sum", "kind": "number"})
    Traceback (most recent call last):
    regard.errors.InputError: answer, hints, question, value and wrong are missing
    """
    rest = dict(table)
    name, arguments = rest.pop("kind", None), rest.pop("arguments", None)
    if name not in KINDS:
        raise InputError(f"kind must be {', '.join(KINDS)}, but is {name!r}", parameter="kind")
    kind = KINDS[name]
    if missing := sorted(_required(kind) - set(rest)):
        *first, last = missing
        raise InputError(f"{', '.join(first)} and {last} are missing" if first else f"{last} is missing")
    for key, nested in TABLES.items():
        _check_keys(key, rest.get(key), nested)
    try:
        made = build(kind, rest, "exercise")
    except RecipeError as problem:
        message = str(problem).removeprefix("exercise.")
        raise InputError(message, parameter=re.findall(r"\w+", message.partition('key "')[2] or message)[0]) from None
    if isinstance(made, ChangeExercise):
        check_arguments(made.check, arguments or {})
        return replace(made, arguments=arguments or {})
    if arguments is not None:
        raise InputError("arguments belong to exercises of the kind change", parameter="arguments")
    return made


def checked(exercise: Exercise) -> CheckedExercise:
    """The exercise of a lesson with the keys of its kind."""
    return read_exercise({name: getattr(exercise, name) for name in COMMON} | dict(exercise.keys))


def _check_keys(key: str, tables: Any, kind: type) -> None:
    """Raises InputError if one of these tables has an unknown key, or lacks one."""
    known, needed = {one.name for one in fields(kind)}, _required(kind)
    for table in tables if isinstance(tables, list) else ():
        if isinstance(table, dict) and not needed <= set(table) <= known:
            optional = f", and may have {', '.join(sorted(known - needed))}" if known > needed else ""
            raise InputError(f"each of {key} has {' and '.join(sorted(needed))}{optional}", parameter=key)


def _required(kind: type) -> set[str]:
    return {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}


def check_hints(hints: tuple[Hint, ...], conditions: tuple[str, ...]) -> None:
    """Raises InputError unless hints have only these conditions and the last one, if there are conditions, none."""
    for hint in hints:
        for name in ("value", "above", "below", "contains"):
            if getattr(hint, name) is not None and name not in conditions:
                allowed = ", ".join(conditions) or "no condition"
                raise InputError(f"a hint has the condition {name}, but here are allowed: {allowed}", parameter="hints")
    if conditions and (not hints or hint_conditions(hints[-1])):
        raise InputError(
            "the last of the hints must have no condition, so that it fits every wrong answer", parameter="hints"
        )
    for hint in hints[:-1]:
        if not hint_conditions(hint):
            raise InputError(
                f'the hint "{hint.text}" has no condition, so those after it are never given', parameter="hints"
            )


def hint_conditions(hint: Hint) -> list[str]:
    return [name for name in ("value", "above", "below", "contains") if getattr(hint, name) is not None]


def as_tuple(value: Numbers) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)
