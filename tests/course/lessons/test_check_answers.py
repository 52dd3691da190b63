"""Answers right and wrong, and the hint that fits a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from exercise_tables import ALL, CHANGE, CHOICE, LINE, NUMBER, ONE, SEVERAL
from regard.course.lessons.changes import MOST_CHARACTERS
from regard.course.lessons.check_answers import check
from regard.course.lessons.exercises import read_exercise

CASES: list[tuple[dict[str, Any], object, bool, str]] = [
    (NUMBER, [0.665, 0.245, 0.09], True, "Right."),
    (NUMBER, "0,665; 0,245; 0,09", True, "Right."),
    (NUMBER, "0.665 0.244 0.091", True, "Right."),
    (NUMBER, "1/2 1/3 1/6", False, "without exp"),
    (NUMBER, "2 1 0", False, "at most 1"),
    (NUMBER, "0.5 0.6 -0.1", False, "not negative"),
    (NUMBER, "0.3 0.3 0.4", False, "their sum"),
    (NUMBER, "0.665", False, "3 numbers are needed; you gave 1."),
    (NUMBER, "much, little, none", False, "3 of them with spaces"),
    (ONE, "65%", True, "Right."),
    (ONE, 0.654, True, "Right."),
    (ONE, "65", False, "As a share"),
    (ONE, 0.514, False, "Count again."),
    (ONE, "0.6 0.7", False, "One number is needed; you gave 2."),
    (ONE, "", False, "such as 0.65, 0,65, 65% or 2/3."),
    (CHOICE, [1], True, "Right."),
    (CHOICE, 2, False, "greedy"),
    (CHOICE, [], False, "Choose an answer."),
    (CHOICE, [3], False, "Choose an answer."),
    (CHOICE, "b", False, "Choose an answer."),
    (SEVERAL, [3, 1, 2], True, "Right."),
    (SEVERAL, [1, 2], False, "one more answer is, too"),
    (SEVERAL, [1], False, "2 more answers are, too"),
    (SEVERAL, [1, 2, 3, 4], False, "as much data"),
    (CHANGE, "the cat is on the mat", True, "Right. BLEU is 100.0"),
    (CHANGE, "the cat", False, "needed: above 50. Look at the brevity"),
    (CHANGE, " ?", False, "Write a text."),
    (CHANGE, None, False, "Write a text."),
    (CHANGE, "a " * MOST_CHARACTERS, False, f"At most {MOST_CHARACTERS} characters"),
    (CHANGE | {"avoid": ["cat"]}, "the Cat is on the mat", False, "must not contain “cat”"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "given", "right", "said"), CASES)
def test_an_answer(table: dict[str, Any], given: object, right: bool, said: str) -> None:
    result = check(read_exercise(table), given)
    assert (result.right, said in result.message) == (right, True), result.message


def test_a_line_is_run() -> None:
    exercise = read_exercise(LINE)
    assert check(exercise, LINE["solution"]).right
    assert check(exercise, "weights = scores").message == "`sum(weights)` is 3; needed: 1. exp, then divide."
    assert check(exercise, "weights = max(scores)").message.endswith("The largest is not needed.")
    assert check(exercise, "weights = x").message == "`NameError: name 'x' is not defined` exp, then divide."
    assert check(exercise, "max(scores)").message == "The result needs its name: `weights = …`."


@pytest.mark.parametrize("table", [one for one in ALL if one is not LINE], ids=lambda table: table["id"])
def test_the_wrong_answers_of_an_exercise_get_their_hint(table: dict[str, Any]) -> None:
    for wrong in read_exercise(table).wrong:
        result = check(read_exercise(table), wrong.given)
        assert not result.right
        assert wrong.hint in result.message
