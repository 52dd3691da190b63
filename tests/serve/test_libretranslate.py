"""LibreTranslate's /translate and /detect: shapes, markup, languages and problems."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

CAT, CHAT = "The cat is black.", "Le chat est noir."


def translate(client: TestClient, q: Any, source: str = "en", target: str = "fr", **more: Any) -> Any:
    answer = client.post("/translate", json={"q": q, "source": source, "target": target, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(client: TestClient, **given: Any) -> tuple[int, str]:
    answer = client.post("/translate", json={"q": CAT, "source": "en", "target": "fr", **given})
    return answer.status_code, answer.json()["error"]


def test_one_text_or_several(client: TestClient) -> None:
    assert translate(client, CAT) == {"translatedText": CHAT}
    assert translate(client, [CAT]) == {"translatedText": [CHAT]}
    assert translate(client, ["", " \n", CAT])["translatedText"] == ["", " \n", CHAT]
    assert translate(client, CAT, api_key=None, format=None, alternatives=None) == {"translatedText": CHAT}


def test_the_language_is_found_in_each_text(client: TestClient) -> None:
    one = translate(client, CAT, source="auto")
    assert one["detectedLanguage"]["language"] == "en"
    assert 50 < one["detectedLanguage"]["confidence"] <= 100
    many = translate(client, ["The cat sleeps on the mat.", "Le chat dort sur le tapis.", "OK"], source="auto")
    assert [found["language"] for found in many["detectedLanguage"]][:2] == ["en", "fr"]
    assert many["translatedText"][1] == "Le chat dort sur le tapis."  # it is in the target language already


def test_alternatives_only_where_they_are_asked_for(client: TestClient) -> None:
    found = translate(client, [CAT, ""], alternatives=2)
    assert [len(one) for one in found["alternatives"]] == [2, 0]
    assert CHAT not in found["alternatives"][0]
    html = translate(
        client, ["<p>The cat is black.</p>", "<p>The <b>cat</b> is black.</p>"], format="html", alternatives=1
    )
    (plain,), marked = html["alternatives"]
    assert plain.startswith("<p>")
    assert plain != html["translatedText"][0]
    assert marked == []


MARKUP = [
    ("<p>The cat is black.</p>", "<p>Le chat est noir.</p>"),
    ("<p>The cat is <strong><em>black</em></strong>.</p>", "<p>Le chat est <strong><em>noir</em></strong>.</p>"),
    ("The cat is black.<br />Thank you!", "Le chat est noir.<br />Merci !"),
    ("<!-- a & b --><p>The\n cat\n is black.</p><script>if (a < b) {}</script>",
     "<!-- a & b --><p>Le\n chat\n est noir.</p><script>if (a < b) {}</script>"),
    ("<p>The cat is black. &lt;b&gt; &amp;amp;</p>", "<p>Le chat est noir. &lt;b&gt; &amp;amp;</p>"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), MARKUP)
def test_markup_survives(client: TestClient, given: str, said: str) -> None:
    assert translate(client, given, format="html")["translatedText"] == said


def test_codes_of_other_clients(client: TestClient) -> None:
    assert translate(client, CAT, source="en-GB", target="fr_CA") == {"translatedText": CHAT}


def test_problems_are_said_as_libretranslate_says_them(client: TestClient) -> None:
    assert problem(client, q="") == (400, "Invalid request: missing q parameter")
    assert problem(client, source="") == (400, "Invalid request: missing source parameter")
    assert problem(client, source="zz") == (400, "zz is not supported")
    assert problem(client, target="zz") == (400, "zz is not supported")
    assert problem(client, format="pdf") == (400, "pdf format is not supported")
    assert problem(client, alternatives=11) == (400, "Invalid request: alternatives parameter must be <= 10")
    assert problem(client, q="a" * 50_001) == (400, "Invalid request: request (50001) exceeds text limit (50000)")
    assert problem(client, q=["a"] * 201) == (400, "Invalid request: request (201) exceeds text limit (200)")
    unavailable = "English (en) is not available as a target language from French (fr)"
    assert problem(client, source="fr", target="en") == (400, unavailable)
    italian = "French (fr) is not available as a target language from Italian (it)"
    assert problem(client, source="auto", q="Il gatto dorme sul tappeto oggi.") == (400, italian)
    assert problem(client, alternatives="many")[0] == 400
    assert client.post("/translate", content="[1", headers={"content-type": "application/json"}).json() == {
        "error": "Invalid JSON format"
    }


def test_detection(client: TestClient) -> None:
    found = client.post("/detect", data={"q": "Where is the railway station?"}).json()
    assert found[0]["language"] == "en"
    assert 50 < found[0]["confidence"] <= 100
    assert client.post("/detect", data={"q": "Il gatto dorme sul tappeto oggi."}).json()[0]["language"] == "it"
    assert client.post("/detect", data={"q": "123"}).json() == [{"confidence": 0.0, "language": "en"}]
    assert client.post("/detect", data={}).json() == {"error": "Invalid request: missing q parameter"}
