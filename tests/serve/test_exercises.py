"""The endpoint that checks answers: right, wrong, and refused; with a lesson of its own that has every kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from exercise_tables import ALL, CHANGE
from regard.course.lessons import load
from regard.course.lessons.exercises import read_exercise
from regard.course.lessons.lesson import Lesson
from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

MODEL = "en-fr-classic"
PIECES = CHANGE | {"id": "pieces", "check": "pieces", "arguments": {"least": 6}}
ALIGNED = CHANGE | {"id": "aligned", "check": "aligned", "arguments": {"source": "black", "target": "noir"}}
OTHER = PIECES | {"id": "other", "model": "en-de"}
Check = Callable[..., Any]


@pytest.fixture(autouse=True)
def _own_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    real = load.lessons()
    blocks = tuple(map(read_exercise, (*ALL, PIECES, ALIGNED, OTHER)))
    own: tuple[Lesson, ...] = (replace(real[0], blocks=blocks), *real[1:])
    monkeypatch.setattr(load, "lessons", lambda: own)


@pytest.fixture
def check(client: TestClient) -> Check:
    return checker(client)


def checker(client: TestClient) -> Check:
    def ask(exercise: object, given: object, status: int = 200, number: object = 1) -> Any:
        answer = client.post(f"/api/lessons/{number}/check", json={"exercise": exercise, "given": given})
        assert answer.status_code == status, answer.text
        return answer.json() if status == 200 else answer.json()["error"]["message"]

    return ask


def test_numbers_and_choices(check: Check) -> None:
    assert check("bleu", "0,65") == {"right": True, "message": "<p>Right.</p>"}
    assert check("bleu", 0.514) == {"right": False, "message": "<p>Count again.</p>"}
    assert check("weights", [0.665, 0.245, 0.09])["right"]
    assert check("problems", [1, 2, 3])["right"]
    assert check("beam", [2]) == {"right": False, "message": "<p>That is greedy search.</p>"}


def test_a_changed_text(check: Check) -> None:
    assert check("rare", "the cat is on the mat")["right"]
    assert "brevity" in check("rare", "the cat")["message"]
    assert check("pieces", "The photosynthesiser hummed.")["right"]
    found = check("pieces", "The cat sleeps.")
    assert "<p>4 pieces (<code>▁The</code>" in found["message"]
    assert check("aligned", "The black cat sleeps.")["right"]


def test_what_a_learner_writes_is_no_markup(check: Check) -> None:
    found = check("pieces", "<img src=x onerror=alert(1)> ![a](http://b) [c](javascript:d)")
    for hostile in ("<img", "<a", "javascript:d)<"):
        assert hostile not in found["message"]


def test_a_line_is_refused_by_a_server_that_others_use(check: Check) -> None:
    assert (
        check("softmax", "x = 1", 400) == "a line of Python is run only on the learner's own machine: regard course 1"
    )


def test_a_line_is_run_for_the_learner(tmp_path: Path) -> None:
    config = ServeConfig(models=(MODEL,), course=str(tmp_path))
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as client:
        check = checker(client)
        assert check("softmax", "weights = [0.66524, 0.24473, 0.09003]")["right"]
        assert "needed: 1. exp, then divide." in check("softmax", "weights = scores")["message"]
        foreign = {"origin": "https://evil.example", "content-type": "text/plain"}
        body = '{"exercise": "softmax", "given": "weights = scores"}'
        assert client.post("/api/lessons/1/check", content=body, headers=foreign).status_code == 403
        rebound = client.post("/api/lessons/1/check", content=body, headers={"host": "evil.example"})
        assert rebound.status_code == 400


@pytest.mark.parametrize(
    ("exercise", "given", "status", "said", "number"),
    [
        ("none", "1", 404, 'lesson 1 has no exercise "none"; there are: weights, bleu', 1),
        ("bleu", "1", 404, "there are lessons 1 to 12", 13),
        ("bleu", "1", 404, "there are lessons 1 to 12", "x"),
        ("", "1", 400, "exercise is missing", 1),
        (7, "1", 400, "exercise must be a string", 1),
        ("bleu", {"a": 1}, 400, "given must be a string, a number or a list of numbers", 1),
        ("bleu", True, 400, "given must be a string, a number or a list of numbers", 1),
        ("bleu", [[1]], 400, "given must be a string, a number or a list of numbers", 1),
        ("bleu", None, 400, "given must be a string", 1),
        ("bleu", "1" * 501, 413, "given has more than 500 characters", 1),
        ("bleu", "1" * 100_000, 413, "this request may have at most", 1),
        ("other", "The cat.", 404, "this exercise asks the model en-de, which this server does not have", 1),
    ],
)
def test_what_is_refused(exercise: object, given: object, status: int, said: str, number: object, check: Check) -> None:
    assert said in check(exercise, given, status, number)


def test_requests_are_limited_as_elsewhere() -> None:
    config = ServeConfig(models=(MODEL,), per_minute=2)
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as client:
        check = checker(client)
        assert [check("bleu", "0.65")["right"] for _ in range(2)] == [True, True]
        assert "per minute" in check("bleu", "0.65", 429) or "requests" in check("bleu", "0.65", 429)
