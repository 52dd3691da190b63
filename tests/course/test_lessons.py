"""The lessons of the web UI: complete, each scene with a view that the page has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import regard
from regard.course.lessons import lessons, sentences

PAGE = Path(regard.__file__).parent / "serve" / "page"
SCENES = [(lesson["id"], scene) for lesson in lessons()["lessons"] for scene in lesson["scenes"]]


@pytest.mark.parametrize(("lesson", "scene"), SCENES, ids=[f"{lesson}-{scene['view']}" for lesson, scene in SCENES])
def test_a_scene_has_a_view_a_question_and_an_answer(lesson: str, scene: dict[str, object]) -> None:
    assert str(scene["question"]).endswith("?") or "?" in str(scene["question"])
    assert scene["answer"]
    assert scene["text"]


def test_the_page_has_every_view() -> None:
    listed = (PAGE / "inside.js").read_text(encoding="utf-8") + (PAGE / "lesson.js").read_text(encoding="utf-8")
    for view in {scene["view"] for _, scene in SCENES}:
        assert re.search(rf"\b{view}: \w+(Panel|View)\b", listed), view


def test_what_a_lesson_selects_is_part_of_the_selection() -> None:
    start = re.search(r"START = Object.freeze\(\{(.*?)\}\)", (PAGE / "state.js").read_text(encoding="utf-8"), re.DOTALL)
    assert start
    known = set(re.findall(r"^  (\w+):", start[1], re.MULTILINE))
    for lesson in lessons()["lessons"]:
        chosen = [lesson["start"], *(one["set"] for scene in lesson["scenes"] for one in scene.get("tries", []))]
        assert all(set(one) <= known for one in chosen)


def test_every_sentence_is_named_once() -> None:
    assert len(sentences()) == len(set(sentences())) > 5
