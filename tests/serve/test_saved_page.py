"""What a saved page asks, and how the application is asked without a network. `tests/browser` opens a whole one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.errors import InputError
from regard.serve.saved_page import about_sentence, in_process, saved_page, views
from regard.serve.settings import ServeConfig


def test_the_application_answers_as_over_a_network(client: TestClient) -> None:
    asked = {"model": "en-fr-classic", "text": "The cat sleeps."}

    async def both() -> tuple[Any, Any]:
        app: Any = client.app
        return await in_process(app, "/health", None), await in_process(app, "/api/tokens", asked)

    assert client.portal is not None
    health, tokens = client.portal.call(both)
    assert health == (200, {"status": "ok"})
    assert tokens == (200, client.post("/api/tokens", json=asked).json())


def test_a_sentence_is_asked_about_from_every_side() -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    known = {
        "/api/words": {"translation": "Le chat", "words": [{"span": [0, 2]}, {"span": [3, 7]}, {"span": None}]},
        "/api/attention": {
            "kind": "cross",
            "chosen": {"layer": 2, "head": None},
            "layers": [[{"layer": 1, "head": 1}], [{"layer": 2, "head": 1}]],
        },
        "/api/anatomy": {
            "parts": [
                {
                    "id": "encoder.1",
                    "kind": "layer",
                    "parts": [
                        {"id": "encoder.1.attention", "kind": "attention", "parts": []},
                        {"id": "encoder.1.attention.sum", "kind": "sum"},
                    ],
                },
                {"id": "output", "kind": "softmax", "parts": []},
            ]
        },
        "/api/lattice": {"nbest": [{"text": "Le chat"}, {"text": "Un chat"}]},
        "/api/step": {"positions": ["a", "b", "c"]},
    }

    async def ask(path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        assert body
        asked.append((path, body))
        return known.get(path)

    asyncio.run(about_sentence(ask, {"text": "The cat", "sentence": 0}, "Le chat"))
    of = {path: [body for name, body in asked if name == path] for path, _ in asked}
    assert [body["position"] for body in of["/api/alternatives"]] == [0, 1, 2]
    assert [body["position"] for body in of["/api/step"]] == [0, 1, 2]
    assert {(body["layer"], body["head"]) for body in of["/api/step"]} == {(2, 1)}
    assert [body["part"] for body in of["/api/anatomy/part"]] == ["encoder.1", "encoder.1.attention"]
    assert [len(body["heads"]) for body in of["/api/cut"]] == [1, 1, 2]
    assert [(body["translation"], body.get("share")) for body in of["/api/words"]] == [
        ("Le chat", None),
        ("Le chat", True),
        ("Un chat", None),
    ]
    assert len(of["/api/attention"]) == len(list(views())) + 1


@pytest.mark.parametrize(("models", "texts"), [(("a", "b"), ["cat"]), (("a",), ["cat", " "])])
def test_what_no_page_can_be_made_of(models: tuple[str, ...], texts: list[str]) -> None:
    with pytest.raises(InputError):
        saved_page(ServeConfig(models=models), texts)
