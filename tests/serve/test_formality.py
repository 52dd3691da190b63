"""Formality on a server: our own interface, DeepL's texts and documents, and what each says of its languages."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serve.settings import ServeConfig

TEXTS = ["You sleep.", "I see you."]
FORMAL, INFORMAL, OWN = ["Vous dormez.", "Je vous vois."], ["Tu dors.", "Je te vois."], ["Vous dormez.", "Je te vois."]


@pytest.fixture(scope="module")
def config(registers: Path) -> ServeConfig:
    return ServeConfig(models=(str(registers / "en-fr"), str(registers / "fr-en")))


def texts(answer: Any) -> list[str]:
    return [one["text"] for one in answer.json()["translations"]]


def deepl(client: TestClient, **more: Any) -> Any:
    return client.post("/v2/translate", json={"text": TEXTS, "source_lang": "EN", "target_lang": "FR", **more})


def test_our_own_interface(client: TestClient) -> None:
    asked: dict[str, Any] = {"model": "en-fr", "texts": TEXTS}
    for formality, said in (("formal", FORMAL), ("informal", INFORMAL), (None, OWN)):
        assert texts(client.post("/api/translate", json=asked | {"formality": formality})) == said
    refused = client.post("/api/translate", json=asked | {"formality": "more"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "formality")
    models = {one["name"]: one["formality"] for one in client.get("/api/models").json()["models"]}
    assert models == {"en-fr": True, "fr-en": False}


def test_a_model_without_it_says_so(client: TestClient) -> None:
    refused = client.post("/api/translate", json={"model": "fr-en", "text": "Tu dors.", "formality": "formal"})
    assert refused.status_code == 400
    assert "this model has no tags for it" in refused.json()["error"]["message"]


def test_a_streamed_text_agrees_at_its_end(client: TestClient) -> None:
    asked = {"model": "en-fr", "text": "You see the cat. You sleep. The cat sleeps."}
    answer = client.post("/api/translate/stream", json=asked).text
    done = json.loads(answer.rpartition("event: done\ndata: ")[2])
    assert done["text"] == "Vous voyez le chat. Vous dormez. Le chat dort."
    assert [one["text"] for one in done["sentences"]] == ["Vous voyez le chat.", "Vous dormez.", "Le chat dort."]


@pytest.mark.parametrize(
    ("formality", "said"),
    [("more", FORMAL), ("prefer_more", FORMAL), ("less", INFORMAL), ("prefer_less", INFORMAL), ("default", OWN)],
)
def test_deepl(client: TestClient, formality: str, said: list[str]) -> None:
    assert texts(deepl(client, formality=formality)) == said


def test_deepl_for_a_language_without_it(client: TestClient) -> None:
    asked = {"text": ["Tu dors."], "source_lang": "FR", "target_lang": "EN-GB"}
    refused = client.post("/v2/translate", json=asked | {"formality": "less"})
    assert refused.json() == {"message": "'formality' is not supported for given 'target_lang'."}
    assert texts(client.post("/v2/translate", json=asked | {"formality": "prefer_less"})) == ["You sleep."]


def test_deepl_says_which_languages_have_it(client: TestClient) -> None:
    found = client.get("/v2/languages?type=target").json()
    assert {one["language"]: one["supports_formality"] for one in found} == {
        "EN-GB": False, "EN-US": False, "FR": True,
    }  # fmt: skip


def test_the_segments_of_a_markup_agree(client: TestClient) -> None:
    markup = "<p>You sleep.</p><p>I see you.</p>"
    assert texts(deepl(client, text=[markup, "I see you."], tag_handling="html")) == [
        "<p>Vous dormez.</p><p>Je vous vois.</p>",
        "Je te vois.",
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [({}, "Vous dormez.\n\nJe vous vois.\n"), ({"formality": "less"}, "Tu dors.\n\nJe te vois.\n")],
)
def test_a_document(client: TestClient, more: dict[str, str], said: str) -> None:
    data = {"source_lang": "EN", "target_lang": "FR", **more}
    made = client.post("/v2/document", data=data, files={"file": ("you.txt", b"You sleep.\n\nI see you.\n")}).json()
    path, key = f"/v2/document/{made['document_id']}", {"document_key": made["document_key"]}
    while (found := client.post(path, json=key).json())["status"] not in ("done", "error"):
        time.sleep(0.05)
    assert found["status"] == "done"
    assert client.post(f"{path}/result", json=key).text == said
