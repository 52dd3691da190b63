"""Exercises read from tables: each mistake of an author is named."""

from __future__ import annotations

from typing import Any

import pytest

from exercise_tables import ALL, CHANGE, CHOICE, LINE, NUMBER, ONE, SEVERAL
from regard.course.lessons.exercises import read_exercise
from regard.errors import InputError


@pytest.mark.parametrize("table", ALL, ids=lambda table: table["id"])
def test_what_is_complete_is_read(table: dict[str, Any]) -> None:
    assert read_exercise(table).id == table["id"]


WRONG = [
    (ONE, {"kind": "essay"}, "kind must be number, choice, change, line, but is 'essay'"),
    (ONE, {"value": None}, "value is missing"),
    (ONE, {"value": "0.65"}, "value must be a number or a list of a number, but is '0.65'"),
    (ONE, {"value": []}, "value is an empty list"),
    (ONE, {"id": "Bleu 1"}, 'id must be lower-case words joined by hyphens, but is "Bleu 1"'),
    (ONE, {"question": " "}, "question is empty"),
    (ONE, {"wrong": []}, "wrong needs at least one table"),
    (ONE, {"tolerance": -1}, "tolerance must be 0 or more, but is -1"),
    (ONE, {"tolerence": 1}, 'did you mean "tolerance"?'),
    (ONE, {"arguments": {}}, "arguments belong to exercises of the kind change"),
    (ONE, {"hints": []}, "the last of the hints must have no condition"),
    (ONE, {"hints": [{"above": 1.0, "text": "a"}]}, "the last of the hints must have no condition"),
    (ONE, {"hints": [{"text": "first"}, {"text": "second"}]}, 'the hint "first" has no condition'),
    (ONE, {"hints": [{"contains": "x", "text": "a"}, {"text": "b"}]}, "here are allowed: value, above, below"),
    (ONE, {"hints": [{"value": 0.5}]}, "each of hints has text, and may have above, below, contains, value"),
    (ONE, {"wrong": [{"gives": 1, "hint": "a"}]}, "each of wrong has given and hint"),
    (NUMBER, {"hints": [{"value": 1.0, "text": "a"}, {"text": "b"}]}, "a hint's value must have 3 numbers"),
    (CHOICE, {"choices": [{"text": "a", "right": True}]}, "choices must be two or more"),
    (CHOICE, {"choices": [{"text": "a", "hint": "h"}] * 2}, "none of the choices has right = true"),
    (CHOICE, {"choices": [{"text": "a", "right": True}] * 2}, "2 choices are right; write several = true"),
    (CHOICE, {"choices": [{"text": "a", "right": True}, {"text": "b"}]}, 'the choice "b" is wrong and has no hint'),
    (CHANGE, {"check": "piece"}, 'there is no check "piece"; did you mean "pieces"?'),
    (CHANGE, {"arguments": {"reference": "a"}}, "bleu needs the argument above or below"),
    (CHANGE, {"arguments": {"above": 5}}, "bleu needs the argument reference"),
    (CHANGE, {"arguments": {"reference": 5, "above": 5}}, "arguments.reference must be text, but is 5"),
    (CHANGE, {"arguments": {"reference": "a", "over": 5}}, 'bleu has no argument "over"'),
    (CHANGE, {"right": []}, "right needs at least one text that passes"),
    (LINE, {"solution": "weights ="}, "solution is not Python: invalid syntax"),
    (LINE, {"solution": "a = 1\nb = 2"}, "solution must be one line"),
    (LINE, {"tests": []}, "tests needs at least one table"),
    (LINE, {"hints": [{"above": 1.0, "text": "a"}, {"text": "b"}]}, "here are allowed: contains"),
]


@pytest.mark.parametrize(("table", "change", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_a_mistake_is_named(table: dict[str, Any], change: dict[str, Any], said: str) -> None:
    changed = {name: value for name, value in (table | change).items() if value is not None}
    with pytest.raises(InputError) as problem:
        read_exercise(changed)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)
    assert "missing" in said or problem.value.parameters[0] in changed


def test_choices_count_from_one() -> None:
    assert read_exercise(SEVERAL).right == (1, 2, 3)  # type: ignore[attr-defined]
