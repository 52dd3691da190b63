"""The context of a sentence in the interfaces: DeepL's `context`, the own field, documents, and streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serve.settings import ServeConfig


@pytest.fixture(scope="module")
def config(contexts: Path) -> ServeConfig:
    return ServeConfig(models=(str(contexts),))


def deepl(client: TestClient, text: list[str], **more: Any) -> list[dict[str, Any]]:
    body = {"text": text, "source_lang": "EN", "target_lang": "FR", **more}
    found: list[dict[str, Any]] = client.post("/v2/translate", json=body).raise_for_status().json()["translations"]
    return found


def test_deepls_context_comes_before_each_text_and_is_not_counted(client: TestClient) -> None:
    texts = ["It is old.", "It is here. The dog eats.", ""]
    found = deepl(client, texts, context="The dog eats. I see the car.")
    assert [one["text"] for one in found] == ["Elle est vieille.", "Elle est ici. Le chien mange.", ""]
    assert [one["billed_characters"] for one in found] == [10, 25, 0]
    assert [one["text"] for one in deepl(client, texts[:1])] == ["C'est vieux."]
    assert [one["text"] for one in deepl(client, texts[:1], context=" ")] == ["C'est vieux."]


def test_deepls_context_of_markup(client: TestClient) -> None:
    found = deepl(client, ["<p>It is old.</p>"], context="I see the boat.", tag_handling="html")
    assert found[0]["text"] == "<p>Il est vieux.</p>"


@pytest.mark.parametrize(("context", "text"), [(None, "Elle est vieille."), (False, "C'est vieux.")])
def test_the_own_field(client: TestClient, context: bool | None, text: str) -> None:
    body = {"text": "I see the car. It is old.", "source": "en", "target": "fr", "in_context": context}
    (found,) = client.post("/api/translate", json=body).raise_for_status().json()["translations"]
    assert found["sentences"][1]["text"] == text


def test_a_stream_ends_with_the_revised_translation(client: TestClient) -> None:
    body = {"text": "I see the car. It is old. The dog eats.", "source": "en", "target": "fr"}
    answer = client.post("/api/translate/stream", json=body).raise_for_status().text
    *_, done = answer.strip().split("\n\n")
    assert json.loads(done.split("data: ")[1])["text"] == "Je vois la voiture. Elle est vieille. Le chien mange."
