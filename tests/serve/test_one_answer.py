"""One answer: every interface shows the translation that `translate` returns, whatever computes the explanation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

import regard
from regard.explain.lattice import lattice
from regard.serve.app import create_app
from regard.serve.settings import ServeConfig
from regard.translator import Translator
from support import Call

MODEL = "en-fr"
ENGINES = ("native", "ctranslate2")
# One of the phrase table, one with spans, one on which 8 bits and 32 may differ, and texts with a second pass.
TEXTS = [
    "Kind regards",
    "He paid 1,250 euros on 3 May 2024.",
    "Excuse me, but would you please tell me the way to the post office?",
    "The cat is on the mat. It is black. Did you see it?",
    "Please send me your answer. You know that I love you.",
]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def translator(engine: str) -> Translator:
    return regard.load(MODEL, device="cpu", engine=engine)


@pytest.fixture(scope="module")
def client(engine: str) -> Iterator[TestClient]:
    app = create_app(ServeConfig(models=(MODEL,), device="cpu", engine=engine))
    with TestClient(app, base_url="http://127.0.0.1") as found:
        yield found


def post(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


# `make test` asks each engine for some of the texts, `make test-long` for the others.
SHORT = {"native": (0,), "ctranslate2": (0, 1, 3)}
EACH = [
    pytest.param(engine, text, marks=[] if TEXTS.index(text) in SHORT[engine] else [pytest.mark.long])
    for engine in ENGINES
    for text in TEXTS
]


@pytest.mark.parametrize(("engine", "text"), EACH, indirect=["engine"])
def test_every_interface_says_the_same(client: TestClient, translator: Translator, text: str) -> None:
    said = translator.translate(text)
    assert post(client, "/translate", q=text, source="en", target="fr")["translatedText"] == said.text
    assert post(client, "/api/translate", text=text, model=MODEL)["translations"][0]["text"] == said.text
    for number, sentence in enumerate(said.sentences):
        about = {"text": text, "model": MODEL, "sentence": number}
        assert translator.explain(text, sentence=number).translation == sentence.text
        assert post(client, "/api/attention", **about)["translation"] == sentence.text
        found = post(client, "/api/words", **about)
        assert found["translation"] == sentence.text
        check_words(sentence.text, [word["span"] for word in found["words"]])


def check_words(text: str, spans: list[list[int] | None]) -> None:
    """The page writes the words in place of the text, so none may be missing or without a place."""
    rest = list(text)
    for span in spans:
        assert span is not None
        rest[slice(*span)] = " " * (span[1] - span[0])
    assert not "".join(rest).strip()


def test_what_a_changed_model_says_is_compared_with_what_is_shown(client: TestClient, translator: Translator) -> None:
    about = {"text": TEXTS[2], "model": MODEL}
    said = translator.translate(TEXTS[2]).text
    assert post(client, "/api/cut", **about, heads=[["cross", 1, 1]])["own_translation"] == said
    assert post(client, "/api/lattice", **about)["translation"] == said


def test_the_search_that_is_shown_says_when_it_found_another(translator: Translator) -> None:
    text = TEXTS[3]
    for number, sentence in enumerate(translator.translate(text).sentences):
        found = lattice(translator, text, sentence=number)
        assert (found.nbest[0].text == sentence.text) != (f'the translation is "{sentence.text}"' in found.note)


def test_a_command_that_explains_prints_the_translation(
    call: Call, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_ENGINE", engine)
    said = call("translate", "--model", MODEL, TEXTS[2])
    shown = call("explain", "attention", "--model", MODEL, TEXTS[2])
    assert shown.out.splitlines()[0] == said.out.strip()


def test_streamed_sentences_are_final(client: TestClient) -> None:
    """Sentences that a second pass may change (register, pronouns) are sent after it."""
    text = f"{TEXTS[4]} {TEXTS[3]}"
    with client.stream("POST", "/api/translate/stream", json={"text": text, "model": MODEL}) as answer:
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line.startswith("data: ")]
    *sentences, whole = map(json.loads, lines)
    assert {one["index"]: one["text"] for one in sentences} == {
        number: one["text"] for number, one in enumerate(whole["sentences"])
    }
    assert len(sentences) == len(whole["sentences"])
