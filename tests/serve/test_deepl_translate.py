"""DeepL's /v2/translate, /v2/languages and /v2/usage: shapes, tags and problems."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

CAT, CHAT = "The cat is black.", "Le chat est noir."


def translate(client: TestClient, text: Any, **more: Any) -> list[str]:
    answer = client.post("/v2/translate", json={"text": text, "target_lang": "FR", **more})
    assert answer.status_code == 200, answer.text
    return [one["text"] for one in answer.json()["translations"]]


def problem(client: TestClient, **given: Any) -> tuple[int, str]:
    answer = client.post("/v2/translate", json={"text": [CAT], "target_lang": "FR", **given})
    return answer.status_code, answer.json()["message"]


def test_the_answer_has_what_clients_read(client: TestClient) -> None:
    asked = {"text": [CAT, "Le chat dort sur le tapis."], "target_lang": "fr-CA", "show_billed_characters": True}
    assert client.post("/v2/translate", json=asked).json() == {
        "translations": [
            {"detected_source_language": "EN", "text": CHAT, "billed_characters": 17},
            {"detected_source_language": "FR", "text": "Le chat dort sur le tapis.", "billed_characters": 26},
        ]
    }
    form = client.post("/v2/translate", data={"text": [CAT, "Thank you!"], "target_lang": "FR", "split_sentences": "1"})
    assert [one["text"] for one in form.json()["translations"]] == [CHAT, "Merci !"]
    kind = client.post("/v2/translate", json={**asked, "model_type": "prefer_quality_optimized"}).json()
    assert kind["translations"][0]["model_type_used"] == "quality_optimized"


def test_what_changes_nothing_is_taken(client: TestClient) -> None:
    more = {"context": "About pets.", "formality": "prefer_more", "preserve_formatting": True, "source_lang": "EN-US"}
    assert translate(client, CAT, **more) == [CHAT]


def test_line_breaks(client: TestClient) -> None:
    wrapped = "The cat\nis black."
    assert translate(client, wrapped, split_sentences="nonewlines") == ["Le chat est noir."]
    assert translate(client, wrapped)[0].startswith("Le chat\n")


PLACEHOLDERS = [
    'Hello <x id="7"></x>!',
    '<x id="0"></x>The cat is <x id="15"></x> black.<x id="40"></x>',
    '<x id="1"></x><x id="2"></x> cats',
    '<x id="0"></x>',
    "",
]


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_placeholders_survive(client: TestClient, text: str) -> None:
    (said,) = translate(client, [text], tag_handling="xml", ignore_tags=["x"], source_lang="EN")
    ids = [part.split('"')[1] for part in text.split("<x ")[1:]]
    assert sorted(part.split('"')[1] for part in said.split("<x ")[1:]) == ids
    assert said.count("></x>") == len(ids)


TAGS: list[tuple[str, dict[str, Any], str]] = [
    ("The cat is <b>black</b>.", {}, "Le chat est <b>noir</b>."),
    ("<d><t>The cat is black</t><p>Thank you!</p></d>", {}, "<d><t>Le chat est noir</t><p>Merci !</p></d>"),
    ("Thank you!<p>The cat is black.</p>", {"splitting_tags": "p"}, "Merci !<p>Le chat est noir.</p>"),
    ("<a>The cat</a> <a>is black.</a>", {"non_splitting_tags": ["a"]}, "<a>Le chat</a> <a>est noir.</a>"),
    ("<a>The cat</a> <a>is black.</a>", {"outline_detection": False}, "<a>Le chat</a> <a>est noir.</a>"),
    ("Thank you! <code>The cat</code>", {"ignore_tags": "x,code"}, "Merci ! <code>The cat</code>"),
    ("The cat is black.\nThank you! &lt;", {}, "Le chat est noir.\nMerci ! &lt;"),
]


@pytest.mark.parametrize(("text", "more", "said"), TAGS)
def test_tags_of_xml(client: TestClient, text: str, more: dict[str, Any], said: str) -> None:
    assert translate(client, text, tag_handling="xml", **more) == [said]


def test_tags_of_html(client: TestClient) -> None:
    (said,) = translate(client, "<p>The cat is <em>black</em>.<br>Thank you &amp;copy;!</p>", tag_handling="html")
    assert said.startswith("<p>Le chat est <em>noir</em>.<br>Merci")
    assert "&amp;copy;" in said
    kept = "<p>Thank you! <Abbr>cat</Abbr></p>"
    assert translate(client, kept, tag_handling="html", ignore_tags="ABBR") == ["<p>Merci ! <Abbr>cat</Abbr></p>"]


def test_problems_are_said_as_deepl_says_them(client: TestClient) -> None:
    assert problem(client, text=[]) == (400, "Parameter 'text' not specified.")
    assert client.post("/v2/translate", json={"text": [CAT]}).json() == {
        "message": "Parameter 'target_lang' not specified."
    }
    assert problem(client, target_lang="ZZ") == (400, "Value for 'target_lang' not supported.")
    assert problem(client, source_lang="ZZ") == (400, "Value for 'source_lang' not supported.")
    assert problem(client, source_lang="FR", target_lang="EN-GB") == (400, "Value for 'target_lang' not supported.")
    assert problem(client, formality="more") == (400, "'formality' is not supported for given 'target_lang'.")
    assert problem(client, text=["a"] * 51)[0] == 400
    assert problem(client, text=["a" * 50_001])[0] == 413
    assert problem(client, glossary_id="none", source_lang="EN") == (404, "Glossary not found.")
    assert problem(client, glossary_id="none")[0] == 400
    status, said = problem(client, text=["<a>x</b>"], tag_handling="xml")
    assert status == 400
    assert said.startswith("Tag handling parsing failed")


def test_languages_and_usage(client: TestClient) -> None:
    french = [{"language": "FR", "name": "French", "supports_formality": False}]
    assert client.get("/v2/languages").json() == [{"language": "EN", "name": "English"}]
    assert client.get("/v2/languages?type=target").json() == french
    assert client.request("GET", "/v2/languages", data={"type": "target"}).json() == french
    assert client.get("/v2/usage").json() == {"character_count": 0, "character_limit": 1_000_000_000_000}
