"""Exercises read from tables: each mistake of an author is named."""

from __future__ import annotations

from typing import Any

import pytest

from exercise_tables import ALL, CHANGE, CHOICE, LINE, NUMBER, ONE, SEVERAL
from regard.course.lessons.exercises import read_exercise
from regard.errors import RecipeError


@pytest.mark.parametrize("table", ALL, ids=lambda table: table["id"])
def test_what_is_complete_is_read(table: dict[str, Any]) -> None:
    assert read_exercise(table).id == table["id"]


WRONG = [
    (ONE, {"kind": "essay"}, "kind must be number, choice, change, line, but is 'essay'"),
    (ONE, {"value": None}, "exercise needs value"),
    (ONE, {"value": "0.65"}, "value must be a number or a list of a number, but is '0.65'"),
    (ONE, {"value": []}, "value is an empty list"),
    (ONE, {"id": "Bleu 1"}, 'id must be lower-case words joined by hyphens, but is "Bleu 1"'),
    (ONE, {"question": " "}, "question is empty"),
    (ONE, {"wrong": []}, "wrong needs at least one table"),
    (ONE, {"tolerance": -1}, "tolerance must be 0 or more, but is -1"),
    (ONE, {"tolerence": 1}, 'did you mean "tolerance"?'),
    (ONE, {"arguments": {}}, 'unknown key "arguments" in exercise'),
    (ONE, {"hints": []}, "hints: the last one, and no other, must have no condition"),
    (ONE, {"hints": [{"above": 1.0, "text": "a"}]}, "hints: the last one, and no other, must have no condition"),
    (ONE, {"hints": [{"text": "first"}, {"text": "second"}]}, "the last one, and no other, must have no condition"),
    (
        ONE,
        {"hints": [{"contains": "x", "text": "a"}, {"text": "b"}]},
        'unknown key "contains" in numberhint; known: above, below, text, value',
    ),
    (ONE, {"hints": [{"value": 0.5}]}, "numberhint needs text"),
    (ONE, {"wrong": [{"gives": 1, "hint": "a"}]}, 'unknown key "gives" in wronganswer; did you mean "given"'),
    (NUMBER, {"hints": [{"value": 1.0, "text": "a"}, {"text": "b"}]}, "hints: a value must have 3 numbers"),
    (CHOICE, {"choices": [{"text": "a", "right": True}]}, "choices must be two or more"),
    (CHOICE, {"choices": [{"text": "a", "hint": "h"}] * 2}, "choices: none has right = true"),
    (CHOICE, {"choices": [{"text": "a", "right": True}] * 2}, "choices: 2 are right; write several = true"),
    (CHOICE, {"choices": [{"text": "a", "right": True}, {"text": "b"}]}, 'choices: "b" is wrong and has no hint'),
    (CHANGE, {"check": "piece"}, 'check: there is no "piece"; did you mean "pieces"?'),
    (CHANGE, {"arguments": None}, "exercise needs arguments"),
    (CHANGE, {"arguments": {"above": 5}}, "arguments of bleu: missing a required argument: 'reference'"),
    (CHANGE, {"arguments": 5}, "arguments must be a table, but is 5"),
    (CHANGE, {"arguments": {"reference": "a", "above": 5, "over": 5}}, "got an unexpected keyword argument 'over'"),
    (CHANGE, {"right": []}, "right needs at least one text that passes"),
    (LINE, {"solution": "weights ="}, "solution is not Python: invalid syntax"),
    (LINE, {"solution": "a = 1\nb = 2"}, "solution must be one line"),
    (LINE, {"tests": []}, "tests needs at least one table"),
    (
        LINE,
        {"hints": [{"above": 1.0, "text": "a"}, {"text": "b"}]},
        'unknown key "above" in linehint; known: contains, text',
    ),
]


@pytest.mark.parametrize(("table", "change", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_a_mistake_is_named(table: dict[str, Any], change: dict[str, Any], said: str) -> None:
    changed = {name: value for name, value in (table | change).items() if value is not None}
    with pytest.raises(RecipeError) as problem:
        read_exercise(changed)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_choices_count_from_one() -> None:
    assert read_exercise(SEVERAL).right == (1, 2, 3)  # type: ignore[attr-defined]
