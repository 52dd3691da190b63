"""Every exercise of every lesson: its right answers are right, its wrong ones get their hints, and those of the course
notes are all there, with corrected keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import regard
from regard.course.lessons.check_answers import Result, check, judge_line
from regard.course.lessons.exercises import (
    ChangeExercise,
    ChoiceExercise,
    Exercise,
    LineExercise,
    NumberExercise,
    as_tuple,
)
from regard.course.lessons.line_process import evaluate, refusal
from regard.course.lessons.load import lessons
from regard.course.lessons.run_line import LineRun, own_code
from regard.translator import Translator

ALL = [(one.number, exercise) for one in lessons() for exercise in one.exercises]
each = pytest.mark.parametrize(
    ("number", "exercise"), ALL, ids=[f"{number}-{exercise.id}" for number, exercise in ALL]
)  # fmt: skip


@cache
def model(name: str) -> Translator:
    return regard.load(name, device="cpu", engine="auto")  # what learners have


def answered(exercise: Exercise, given: Any) -> Result:
    """As the server answers, but a line runs in this process, without its limits: they are tested elsewhere."""
    if isinstance(exercise, LineExercise):
        refused = refusal(given)
        run = LineRun(problem=refused) if refused else in_this_process(exercise, given)
        return judge_line(exercise, given, run)
    asks = isinstance(exercise, ChangeExercise) and exercise.asks_model
    return check(exercise, given, model(exercise.model) if asks else None)  # type: ignore[attr-defined]


def in_this_process(exercise: LineExercise, line: str) -> LineRun:
    found = evaluate({"line": line, **own_code(exercise)})
    return LineRun(tuple(found["values"]), found["problem"])


def right_answers(exercise: Exercise) -> list[Any]:
    match exercise:
        case NumberExercise():
            typed = "; ".join(f"{value:.12g}".replace(".", ",") for value in exercise.values)
            return [list(exercise.values), typed]
        case ChoiceExercise():
            return [list(exercise.right)]
        case ChangeExercise():
            return list(exercise.right)
        case LineExercise():
            return [exercise.solution]
        case _:
            raise TypeError(exercise)


@each
def test_right_answers_are_right(number: int, exercise: Exercise) -> None:
    for given in right_answers(exercise):
        result = answered(exercise, given)
        assert result.right, f"lesson {number}, {exercise.id}, {given!r}: {result.message}"


@each
def test_wrong_answers_get_the_hint_that_fits(number: int, exercise: Exercise) -> None:
    for wrong in exercise.wrong:
        given = list(wrong.given) if isinstance(wrong.given, tuple) else wrong.given
        result = answered(exercise, given)
        assert not result.right, f"lesson {number}, {exercise.id}: {given!r} is right"
        assert wrong.hint in result.message, f"lesson {number}, {exercise.id}, {given!r}"


@each
def test_what_stands_in_the_box_first_is_not_right(number: int, exercise: Exercise) -> None:
    if isinstance(exercise, ChangeExercise | LineExercise):
        assert not answered(exercise, exercise.begin).right
    else:
        assert not answered(exercise, "" if isinstance(exercise, NumberExercise) else []).right


@each
def test_every_hint_of_a_number_is_reached(number: int, exercise: Exercise) -> None:
    if isinstance(exercise, NumberExercise):
        for hint in exercise.hints:
            if hint.value is not None:
                assert answered(exercise, list(as_tuple(hint.value))).message == hint.text


@pytest.mark.parametrize("one", lessons(), ids=lambda one: one.name)
def test_a_lesson_has_three_to_five_exercises(one: Any) -> None:
    assert 3 <= len(one.exercises) <= 5


# ── the exercises of the course notes ────────────────────────────────────────────────────────────────────────────────

# 003 ends with five exercises of four answers each. 000 works one example of BLEU out and asks what "it" refers to; 001
# counts the n-grams of one pair and says what a good score is. Some keys are wrong or rounded as the notes print them
# (docs/notes.md); a key here is what is true.
Key = Callable[[Any], bool]
NOTES: list[tuple[str, Key, object]] = [  # source, the key, and what the notes print where that is wrong
    ("003, exercise 1", lambda one: near(one.value, (1.7, 0.3)), None),
    ("003, exercise 2", lambda one: "keeps several" in right_text(one), None),
    ("003, exercise 3", lambda one: near(one.value, (0.665, 0.245, 0.090)), None),
    ("003, exercise 4", lambda one: len(one.right) == 3 and one.several, [1, 2, 3, 4]),
    ("003, exercise 5", lambda one: near(one.value, (0.149, 0.740)), [0.524, 0.235]),
    ("000, section 2, Example Intuition", lambda one: one.check == "translation_has", None),
    ("000, section 3, Worked Example", lambda one: near(one.value, (0.650,)), 0.514),
    ("000, section 3, Weaknesses", lambda one: one.check == "bleu", None),
    ("001, BLEU evaluation examples", lambda one: near(one.value, (0.333, 0.0)), [0.333, 0.2]),
    ("001, BLEU evaluation examples", lambda one: "same test" in right_text(one), [1]),
]


def near(value: Any, wanted: tuple[float, ...]) -> bool:
    return as_tuple(value) == pytest.approx(wanted, abs=0.0006)


def right_text(exercise: ChoiceExercise) -> str:
    return " ".join(choice.text for choice in exercise.choices if choice.right)


@pytest.mark.parametrize(("source", "key", "printed"), NOTES)
def test_the_exercises_of_the_notes_are_here_with_corrected_keys(source: str, key: Key, printed: object) -> None:
    mine = [exercise for _, exercise in ALL if exercise.source == source]
    found = [exercise for exercise in mine if is_right(key, exercise)]
    assert len(found) == 1, f"{source}: {[exercise.id for exercise in mine]}"
    if printed is not None:
        assert not answered(found[0], printed).right


def is_right(key: Key, exercise: Exercise) -> bool:
    """Whether an exercise has the kind and the key that are expected; two may have one source."""
    try:
        return key(exercise)
    except AttributeError:
        return False
