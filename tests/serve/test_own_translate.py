"""/api/translate by languages: pairs through a pivot language, detection, and texts in another language than said."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from regard.serve.settings import ServeConfig


@pytest.fixture(scope="module")
def config() -> ServeConfig:
    return ServeConfig(models=("en-fr-classic", "fr-en", "de-en"), engine="ctranslate2")


def translated(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post("/api/translate", json=body).raise_for_status().json()
    found: dict[str, Any] = answer["translations"][0]
    return found


def test_pairs_are_listed_with_their_models(client: TestClient) -> None:
    found = client.get("/api/models").json()
    assert {(one["source"], one["target"]): one["models"] for one in found["pairs"]} == {
        ("de", "en"): ["de-en"],
        ("de", "fr"): ["de-en", "en-fr-classic"],
        ("en", "fr"): ["en-fr-classic"],
        ("fr", "en"): ["fr-en"],
    }
    without = client.get("/api/models?cards=false").json()
    assert without["models"] == [{k: v for k, v in one.items() if k != "card"} for one in found["models"]]
    assert (found["through"], found["explains"], found["corrections"]) == ("en", True, False)
    assert found["languages"] == {"de": "German", "en": "English", "fr": "French"}


def test_a_request_may_name_the_pivot_language(client: TestClient) -> None:
    text = "Die Katze schläft."
    refused = client.post("/api/translate", json={"text": text, "source": "de", "target": "fr"})
    assert refused.status_code == 400
    for source in ("de", None):
        found = translated(client, text=text, source=source, target="fr", through="en")
        assert (found["text"], found["models"]) == ("Le chat dort.", ["de-en", "en-fr-classic"])
        assert found["detected"] == (source is None)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Die schwarze Katze schläft auf dem Sofa.", "de"),
        ("Le chat noir dort.", "fr"),
        ("Hallo", None),  # a single word may be a name
        ("The black cat sleeps.", None),
    ],
)
def test_a_text_in_another_language_is_recognized_if_that_is_clear(
    client: TestClient, text: str, other: str | None
) -> None:
    assert translated(client, text=text, model="en-fr-classic")["text_language"] == other
    assert translated(client, text=text, source="en", target="fr")["text_language"] == other


def test_what_was_detected_is_not_said_again(client: TestClient) -> None:
    found = translated(client, text="Die schwarze Katze schläft.", target="en")
    assert (found["source_language"], found["sure"], found["text_language"]) == ("de", True, None)


def test_every_sentence_has_its_words_and_a_chain_only_their_links(client: TestClient) -> None:
    found = translated(client, text="The cat sleeps. I see it.", model="en-fr-classic", words=True)
    assert "words" not in translated(client, text="The cat sleeps.", model="en-fr-classic")["sentences"][0]
    for sentence in found["sentences"]:
        words = sentence["words"]
        assert "".join(found["text"][slice(*span)] for span in words["target"]) == sentence["text"].replace(" ", "")
        assert len(words["probabilities"]) == len(words["target"])
        assert all(0 < one <= 1 for one in words["probabilities"])
        assert len(words["links"]) >= 3
    (through,) = translated(client, text="Die Katze schläft.", target="fr", through="en", words=True)["sentences"]
    assert through["words"]["links"]
    assert (through["words"]["probabilities"], through["words"]["confidences"]) == (None, None)


def test_a_file_is_translated_through_the_pivot_language_too(client: TestClient) -> None:
    def send(**fields: str) -> Any:
        file = {"file": ("a.txt", b"Die Katze schl\xc3\xa4ft.\n")}
        return client.post("/translate_file", data={"target": "fr", **fields}, files=file)

    assert send(source="de").status_code == 400
    for source in ("de", "auto"):
        found = send(source=source, through="en").raise_for_status().json()
        assert client.get(found["translatedFileUrl"]).text == "Le chat dort.\n"


def test_a_glossary_has_the_form_of_the_command_line(client: TestClient) -> None:
    text = "The cat has 3 mice."
    for terms in ("mice\tsourisseaux", "# comment\nmice = sourisseaux\n\n"):
        assert "sourisseaux" in translated(client, text=text, model="en-fr-classic", glossary=terms)["text"]
    refused = client.post("/api/translate", json={"text": text, "target": "fr", "glossary": "cat\tchat\nmice"})
    assert refused.json()["error"]["message"].startswith('glossary, line 2 must be a term, one tab or "="')
