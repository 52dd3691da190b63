"""Checks what a learner answers to an exercise, and finds the hint that fits a wrong answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.course.lessons.changes import CHANGES, MOST_CHARACTERS, words_of
from regard.course.lessons.exercises import (
    ChangeExercise,
    ChoiceExercise,
    Exercise,
    LineExercise,
    NumberExercise,
    NumberHint,
    as_tuple,
)
from regard.course.lessons.read_numbers import Reading, count_numbers, read_numbers
from regard.course.lessons.run_line import LineRun, run_line

if TYPE_CHECKING:
    from regard.translator import Translator

LINE_TOLERANCE = 1e-4
SHARE = "As a share, from 0 to 1, or with the sign %?"
FORMS = "Write a number, such as 0.65, 0,65, 65% or 2/3"


class Result(NamedTuple):
    """Whether an answer is right, and what to tell the learner (Markdown)."""

    right: bool
    message: str


def check(exercise: Exercise, given: Any, translator: Translator | None = None) -> Result:
    """Checks an answer: a number, a list of numbers or a text with them; indices of choices, from 1; a text; a line of
    Python, which is run in a process (`run_line.py`)."""
    match exercise:
        case NumberExercise():
            return check_number(exercise, given)
        case ChoiceExercise():
            return check_choice(exercise, given)
        case ChangeExercise():
            return check_change(exercise, given, translator)
        case LineExercise():
            line = given if isinstance(given, str) else ""
            return judge_line(exercise, line, run_line(exercise, line))
        case _:
            raise TypeError(exercise)


def check_number(exercise: NumberExercise, given: Any) -> Result:
    wanted, count = exercise.values, len(exercise.values)
    readings = read_numbers(given, count)
    if not readings:
        found = count_numbers(given)
        if found and found != count:
            return Result(
                False, f"{'One number is' if count == 1 else f'{count} numbers are'} needed; you gave {found}."
            )
        forms = FORMS if count == 1 else f"{FORMS}, {count} of them with spaces or semicolons between"
        return Result(False, f"That cannot be read. {forms}.")
    if any(near(one, wanted, exercise.tolerance) for one in readings):
        return Result(True, "Right.")
    if max(map(abs, wanted)) <= 1 and near([value / 100 for value in readings[0]], wanted, exercise.tolerance):
        return Result(False, SHARE)
    return Result(False, next(hint.text for hint in exercise.hints if fits(hint, readings, exercise.tolerance)))


def near(found: Sequence[float], wanted: Sequence[float], tolerance: float) -> bool:
    """Whether each number is within the tolerance, give or take what floating point adds.

    >>> near([0.66], [0.665], 0.005), near([0.65], [0.665], 0.005)
    (True, False)
    """
    return all(abs(a - b) <= tolerance + 1e-9 * max(1.0, abs(b)) for a, b in zip(found, wanted, strict=True))


def fits(hint: NumberHint, readings: Sequence[Reading], tolerance: float) -> bool:
    """Whether one of the readings is near the value of a hint, or the first one has a number beyond its bounds."""
    if hint.value is not None:
        return any(near(one, as_tuple(hint.value), tolerance) for one in readings)
    above = hint.above is None or max(readings[0]) > hint.above
    return above and (hint.below is None or min(readings[0]) < hint.below)


def check_choice(exercise: ChoiceExercise, given: Any) -> Result:
    try:
        chosen = sorted({int(one) for one in (given if isinstance(given, list | tuple) else [given])})
    except (TypeError, ValueError):
        chosen = []
    if not chosen or not set(chosen) <= set(range(1, len(exercise.choices) + 1)):
        return Result(False, "Choose at least one answer." if exercise.several else "Choose an answer.")
    if tuple(chosen) == exercise.right:
        return Result(True, "Right.")
    wrong = [exercise.choices[number - 1] for number in chosen if number not in exercise.right]
    if wrong:
        return Result(False, wrong[0].hint)
    left = len(exercise.right) - len(chosen)
    return Result(
        False, f"That is right, but {'one more answer is' if left == 1 else f'{left} more answers are'}, too."
    )


def check_change(exercise: ChangeExercise, given: Any, translator: Translator | None) -> Result:
    text = given.strip() if isinstance(given, str) else ""
    if not words_of(text):
        return Result(False, "Write a text.")
    if len(text) > MOST_CHARACTERS:
        return Result(False, f"At most {MOST_CHARACTERS} characters, please; this has {len(text):,}.")
    for word in exercise.avoid:
        if set(words_of(word)) & set(words_of(text)):
            return Result(False, f"The text must not contain “{word}”.")
    measured = CHANGES[exercise.check](text, translator, **exercise.arguments)
    if measured.right:
        return Result(True, f"Right. {measured.said}.")
    needed = f"; needed: {measured.needed}" if measured.needed else ""
    return Result(False, f"{measured.said}{needed}. {exercise.hints}".strip())


def judge_line(exercise: LineExercise, line: str, run: LineRun) -> Result:
    """The result of a line that was run."""
    tested = list(zip(exercise.tests, run.values, strict=run.problem is None))
    failed = [(test, value) for test, value in tested if not same(value, test.value)]
    if failed:  # before what went wrong in a later test
        test, value = failed[0]
        said = f"`{test.expression}` is {_shown(value)}; needed: {_shown(test.value)}."
    elif run.problem is None:
        return Result(True, "Right. " + "; ".join(f"`{test.expression}` is {_shown(v)}" for test, v in tested))
    else:
        said = run.problem
        name = exercise.begin.partition("=")[0].strip()
        if f"name '{name}' is not defined" in said:
            return Result(False, f"The result needs its name: `{name} = …`.")
    hint = next(hint.text for hint in exercise.hints if hint.contains in line)
    return Result(False, f"{said} {hint}")


def same(found: Any, wanted: Any) -> bool:
    """Whether values are equal, numbers within 1e-4; lists must have the same lengths.

    >>> same([0.30004, 1], [0.3, 1.0]), same([0.3], [0.3, 0.0]), same(True, 1.0), same(True, True)
    (True, False, False, True)
    """
    if isinstance(wanted, list | tuple):
        return isinstance(found, list | tuple) and len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, str | bool) or isinstance(found, str | bool):
        return type(found) is type(wanted) and found == wanted
    return isinstance(found, int | float) and abs(found - wanted) <= LINE_TOLERANCE


def _shown(value: Any) -> str:
    """
    >>> _shown([0.30000001, 2.0]), _shown(True)
    ('[0.3, 2]', 'True')
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
