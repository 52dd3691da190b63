"""What a saved page holds of the lessons: their text, and the answers of their views about sentences that it has."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from regard.course.lessons.lesson import LiveView
from regard.course.lessons.load import lessons, parse
from regard.serve.saved_lessons import about_lessons, about_view, selections_of, settings_of

KNOWN: dict[str, Any] = {
    "/api/translate": {"translations": [{"sentences": [{"text": "Le chat dort."}]}]},
    "/api/step": {"positions": ["a", "b"]},
}
SENTENCE = {"model": "m", "text": "The cat sleeps.", "sentence": 0}


def asked_by(view: str, **shown: object) -> list[tuple[str, Any]]:
    asked: list[tuple[str, Any]] = []

    async def ask(path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        asked.append((path, body))
        return KNOWN.get(path)

    asyncio.run(about_view(ask, "m", view, {"text": "The cat sleeps.", **shown}))
    return [one for one in asked if one[0] != "/api/translate"]


def test_the_views_of_a_lesson_are_asked_about() -> None:
    about = SENTENCE | {"translation": "Le chat dort."}
    step = {"kind": "cross", "layer": 2, "head": 3}
    assert asked_by("beam", beam=2) == [("/api/lattice", SENTENCE | {"beam": 2})]
    assert asked_by("step", layer=2, head=3) == [("/api/step", about | step | {"position": n}) for n in (0, 1)]
    assert asked_by("bleu", reference="a\n \nb") == [
        ("/api/bleu", {"hypothesis": "Le chat dort.", "references": ["a", "b"]})
    ]
    broken, of_model = asked_by("break", broken="mask=0")[::-1]
    assert of_model == ("/api/break?model=m", None)
    assert broken == ("/api/break", SENTENCE | settings_of("mask=0"))
    assert [body["text"] for _, body in asked_by("self", pair="The dog eats.")] == ["The cat sleeps.", "The dog eats."]
    assert asked_by("words") == []


def test_settings_are_read_as_the_page_reads_them() -> None:
    assert settings_of("") == {
        "scores": 1, "positions": 1, "residual": 1, "residual_at": "", "mask": True, "heads": [],
    }  # fmt: skip
    assert settings_of("positions=0.5 mask=0 at=encoder.2 heads=cross.1.2,encoder.3.4") == {
        "scores": 1, "positions": 0.5, "residual": 1, "residual_at": "encoder.2", "mask": False,
        "heads": [["cross", 1, 2], ["encoder", 3, 4]],
    }  # fmt: skip


@pytest.mark.parametrize("texts", [["The cat sleeps."], []])
def test_only_sentences_that_the_page_has_are_asked_about(texts: list[str]) -> None:
    asked: list[str] = []

    async def ask(path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        assert body is None or body.get("text", texts[0] if texts else "") in texts
        asked.append(path)
        return KNOWN.get(path)

    asyncio.run(about_lessons(ask, "m", texts))
    assert asked[:13] == ["/api/lessons", *(f"/api/lessons/{one.number}" for one in lessons())]


def test_a_view_begins_with_the_lesson_and_its_own_setting() -> None:
    one = parse(
        '+++\ntitle = "a"\nsummary = "b"\nminutes = 1\nobjectives = ["c", "d"]\nnotes = "n"\n'
        'start = { text = "e", layer = 1 }\n+++\n'
        '```view align\ncaption = "f"\nset = { layer = 2 }\ntries = [{ label = "g", set = { head = 3 } }]\n```\n',
        "01-a.md",
    )
    (view,) = one.blocks
    assert isinstance(view, LiveView)
    assert [*selections_of(one, view)] == [{"text": "e", "layer": 2}, {"text": "e", "layer": 2, "head": 3}]
