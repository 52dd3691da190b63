"""The lessons over HTTP: a list, each lesson block by block, and the progress of a learner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from regard.course.lessons.load import lessons
from regard.errors import InputError
from regard.serve.app import create_app
from regard.serve.settings import ServeConfig

KINDS = {"html", "guess", "view", "equation", "code", "console", "python", "exercise"}


@pytest.fixture(scope="module")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server as `regard course` starts it."""
    config = ServeConfig(models=("en-fr-classic",), course=str(tmp_path_factory.mktemp("learner")))
    with TestClient(create_app(config), base_url="http://127.0.0.1:8000") as made:
        yield made


def test_the_list_names_every_lesson(client: TestClient) -> None:
    found = client.get("/api/lessons").json()
    assert [(one["number"], one["title"]) for one in found["lessons"]] == [(one.number, one.title) for one in lessons()]
    assert found["can"] == {"line": False, "learn": False, "progress": False, "live": True}


def test_a_learner_may_do_more(learner: TestClient) -> None:
    assert set(learner.get("/api/lessons").json()["can"].values()) == {True}


@pytest.mark.parametrize("one", lessons(), ids=lambda one: one.name)
def test_a_lesson_is_given_block_by_block(client: TestClient, one: object) -> None:
    lesson = client.get(f"/api/lessons/{one.number}").json()  # type: ignore[attr-defined]
    assert lesson["number"] == one.number  # type: ignore[attr-defined]
    assert {block["kind"] for block in lesson["blocks"]} <= KINDS
    exercises = [block for block in lesson["blocks"] if block["kind"] == "exercise"]
    assert [block["id"] for block in exercises] == lesson["exercises"]
    assert not any({"value", "right", "solution", "hints"} & block.keys() for block in exercises)


@pytest.mark.parametrize("number", ["0", "13", "x", "٤", "99999"])
def test_other_numbers_are_not_found(client: TestClient, number: str) -> None:
    refused = client.get(f"/api/lessons/{number}")
    assert refused.status_code == 404
    assert refused.json()["error"]["message"] == f'there are lessons 1 to 12, but not "{number}"'


def test_progress_is_kept_for_a_learner_only(client: TestClient, learner: TestClient) -> None:
    assert client.get("/api/progress").status_code == 403
    assert client.put("/api/progress", json={"lessons": {}}).status_code == 403
    done = {"lessons": {"2": {"done": True, "exercises": []}}}
    assert learner.put("/api/progress", json=done).json() == done
    assert learner.get("/api/progress").json() == done
    assert learner.put("/api/progress", json={"lessons": {"2": 7}}).status_code == 400
    assert learner.get("/api/progress").json() == done


@pytest.mark.parametrize("more", [{"host": "0.0.0.0"}, {"workers": 2}, {"cors": ("*",)}])
def test_a_learner_has_the_server_alone(more: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="course needs the host"):
        ServeConfig(course=str(tmp_path), **more)  # type: ignore[arg-type]
