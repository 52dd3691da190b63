"""The lessons: complete, with a view that the page has, and the same text in the docs.

REGARD_WRITE_DOCS=1 pytest tests/course/test_lessons.py
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import regard
from regard.course.lessons import VIEWS, as_markdown, lessons, sentences

DOCS = Path(__file__).parents[2] / "docs" / "lessons.md"
PAGE = Path(regard.__file__).parent / "serve" / "page"
SCENES = [(lesson["id"], scene) for lesson in lessons()["lessons"] for scene in lesson["scenes"]]


def test_the_docs_have_the_same_text() -> None:
    if os.environ.get("REGARD_WRITE_DOCS"):
        DOCS.write_text(as_markdown(), encoding="utf-8")
    assert DOCS.read_text(encoding="utf-8") == as_markdown(), "REGARD_WRITE_DOCS=1 writes it"


@pytest.mark.parametrize(("lesson", "scene"), SCENES, ids=[f"{lesson}-{scene['view']}" for lesson, scene in SCENES])
def test_a_scene_has_a_view_a_question_and_an_answer(lesson: str, scene: dict[str, object]) -> None:
    assert scene["view"] in VIEWS
    assert str(scene["question"]).endswith("?") or "?" in str(scene["question"])
    assert scene["answer"]
    assert scene["text"]


def test_the_page_has_every_view() -> None:
    listed = (PAGE / "inside.js").read_text(encoding="utf-8") + (PAGE / "lesson.js").read_text(encoding="utf-8")
    for view in VIEWS:
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
