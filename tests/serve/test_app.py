"""The application as a client sees it."""

from __future__ import annotations

import json
import re

from starlette.testclient import TestClient

from regard.serve.api.openapi import openapi
from regard.serve.app import ENDPOINTS
from regard.serve.page.build_page import hashes
from regard.serve.page.page_files import DOCUMENTS
from support import needs_bundler

CAT = "The cat is black."


def test_json_that_curl_calls_a_form_is_read_as_json(client: TestClient) -> None:
    """As the examples of docs/http-api.md are typed."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/api/detect", content='{"text": "The cat sleeps."}', headers=headers)
    assert answer.json()["languages"][0]["language"] == "en"
    assert client.post("/api/detect", content='{"text": ', headers=headers).status_code == 400
    assert client.post("/api/detect", content="text=%7Bcat%7D", headers=headers).status_code == 200


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/spec").json()["openapi"] == "3.1.0"


def test_json_a_form_and_the_query_are_read_alike(client: TestClient) -> None:
    asked = {"q": CAT, "source": "en", "target": "fr"}
    answers = [
        client.post("/translate", json=asked),
        client.post("/translate", data=asked),
        client.post("/translate", params=asked),
    ]
    assert [answer.json() for answer in answers] == [{"translatedText": "Le chat est noir."}] * 3


def test_every_endpoint_is_in_the_document(client: TestClient) -> None:
    document = client.get("/spec").json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert len(operations) == len(ENDPOINTS)
    assert {operation["tags"][0] for operation in operations} == {tag["name"] for tag in document["tags"]}
    assert not any("security" in operation for operation in operations)


def test_the_document_says_which_endpoints_need_a_key() -> None:
    paths = openapi(ENDPOINTS, {}, keys=True)["paths"]
    assert paths["/translate"]["post"]["security"] == [{"key": []}]
    assert "security" not in paths["/languages"]["get"]


def test_a_problem_is_one_line_in_the_shape_of_its_interface(client: TestClient) -> None:
    ours = client.post("/api/translate", json={"text": CAT, "target": "fr", "beam": 99})
    assert ours.status_code == 400
    assert ours.json() == {
        "error": {"message": "beam must be at least 1 and at most 16, but is 99", "status": 400, "field": "beam"}
    }
    theirs = client.post("/translate", json={"q": CAT, "source": "en"})
    assert (theirs.status_code, theirs.json()) == (400, {"error": "Invalid request: missing target parameter"})


def test_sentences_come_as_they_are_done(client: TestClient) -> None:
    with client.stream("POST", "/api/translate/stream", json={"text": f"{CAT} Thank you!", "target": "fr"}) as answer:
        lines = [line for line in answer.iter_lines() if line]
    names, data = lines[::2], [json.loads(line.removeprefix("data: ")) for line in lines[1::2]]
    assert names == ["event: sentence", "event: sentence", "event: done"]
    assert [one["text"] for one in data] == ["Le chat est noir.", "Merci !", "Le chat est noir. Merci !"]
    assert data[-1]["sentences"][1]["source_span"] == [18, 28]


def test_large_answers_are_compressed_for_those_who_take_it(client: TestClient) -> None:
    answers = [client.get("/api/models", headers={"Accept-Encoding": way}) for way in ("gzip, br", "identity")]
    assert [answer.headers.get("content-encoding") for answer in answers] == ["gzip", None]
    assert answers[0].json() == answers[1].json()
    assert int(answers[0].headers["content-length"]) < int(answers[1].headers["content-length"]) / 2
    assert "content-encoding" not in client.get("/health").headers
    with client.stream("POST", "/api/translate/stream", json={"text": CAT, "target": "fr"}) as streamed:
        assert "content-encoding" not in streamed.headers


@needs_bundler
def test_the_policy_allows_what_is_inside_the_documents_and_nothing_else(client: TestClient) -> None:
    documents = [client.get(path).text for path in DOCUMENTS]
    scripts, styles = (
        [text for document in documents for text in re.findall(element, document, re.DOTALL)]
        for element in (r"<script>(.*?)</script>", r"<style>(.*?)</style>")
    )
    assert len(scripts) == len(styles) == len(DOCUMENTS)
    for path in (*DOCUMENTS, "/health"):
        policy = client.get(path).headers["content-security-policy"]
        assert f"; script-src 'self' {hashes(scripts)}; style-src 'self' {hashes(styles)}; " in policy
