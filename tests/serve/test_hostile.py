"""What is sent to break or mislead the server, and what it answers: always one line in the interface's own shape."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from regard.serve.app import ENDPOINTS

CAT = {"q": "The cat is black.", "source": "en", "target": "fr"}
OURS = {"text": "The cat is black.", "target": "fr"}
JSON = {"content-type": "application/json"}
WRONG: list[Any] = [None, True, 7, -1, 1e308, 10**30, "", "x" * 50_001, [], [[]], [None], {}, {"a": {}}, ["a", 1]]


def send(client: TestClient, body: bytes, path: str = "/translate", kind: str = "application/json") -> Response:
    return client.post(path, content=body, headers={"content-type": kind})


def refused(answer: Response, status: int, words: str) -> None:
    assert answer.status_code == status, answer.text[:300]
    (line,) = answer.json().values()
    message = line["message"] if isinstance(line, dict) else line
    assert words in message
    assert "\n" not in message
    assert len(message) < 400


# ── bodies that are not what they should be ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "text"),
        (b"{", "Invalid JSON"),
        (b"[]", "Invalid JSON"),
        (b"null", "Invalid JSON"),
        (b'{"q": "a"} {"q": "b"}', "Invalid JSON"),
        (b'{"q": "a", "q": "b"}', "same key twice"),
        (b'{"q": "caf\xe9"}', "not UTF-8"),
        (b'{"q": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"q": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"q": NaN}', "NaN"),
        (b'{"q": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"q": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "within each other"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "within each other"),
        ('{"q": "a"}'.encode("utf-16"), "not UTF-8"),
    ],
    ids=lambda value: value[:20].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_a_body_that_is_no_object_of_json_is_named(client: TestClient, body: bytes, words: str) -> None:
    refused(send(client, body, "/api/translate"), 400, words)
    theirs = send(client, body)
    assert (theirs.status_code, list(theirs.json())) == (400, ["error"])


def test_ten_megabytes_of_text_are_too_much_in_each_interface(client: TestClient) -> None:
    text = "The cat is black. " * 550_000
    refused(send(client, json.dumps({**CAT, "q": text}).encode()), 413, "bytes")
    refused(send(client, json.dumps({**OURS, "text": text}).encode(), "/api/translate"), 413, "bytes")
    refused(send(client, json.dumps({**OURS, "text": text[:60_000]}).encode(), "/api/translate"), 413, "characters")
    many = json.dumps({**OURS, "text": None, "texts": ["a"] * 10_000}).encode()
    refused(send(client, many, "/api/translate"), 413, "texts")


def test_a_word_of_fifty_thousand_letters_is_translated_or_refused_not_fatal(client: TestClient) -> None:
    for text in ("x" * 20_000, "😀" * 1_000, "a\u0301" * 1_000, "\u202e" * 1000, "1" * 5_000):
        answer = client.post("/translate", json={**CAT, "q": text})
        assert answer.status_code in (200, 400), answer.text[:200]


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", "application/xml", "a/b/c; ="]
)
def test_a_content_type_that_does_not_fit_is_no_fault(client: TestClient, kind: str) -> None:
    answer = send(client, b'--x\r\n\xff{"q": "a"}', kind=kind)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


def test_every_field_of_every_endpoint_refuses_wrong_types_in_one_line(client: TestClient) -> None:
    """The other fields are as their examples say, or missing."""
    for endpoint in ENDPOINTS:
        if endpoint.method != "POST" or not endpoint.path.startswith(("/translate", "/detect", "/api/translate")):
            continue
        good = {field.name: field.example for field in endpoint.fields if field.example is not None}
        good |= {name: "" for name in ("q", "text") if name in good}  # which is translated at once
        for field in endpoint.fields:
            for value in WRONG:
                answer = client.post(endpoint.path, json={**good, field.name: value})
                assert answer.status_code < 500, (endpoint.path, field.name, value, answer.text[:200])


# ── texts that mean something elsewhere ──────────────────────────────────────────────────────────────────────────────


MEANING = [
    "<script>alert(1)</script> The cat is black.",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} ${7*7} %s %n $(id) `id`",
    "'; DROP TABLE keys; --",
    "../../etc/passwd",
    "The cat is black.\r\nSet-Cookie: a=b",
    "\ufeffThe cat\u200b is black.\u2028New line.",
]


def test_a_text_stays_a_text(client: TestClient) -> None:
    """Within JSON that no browser takes for a page."""
    answer = client.post("/translate", json={**CAT, "q": MEANING})
    assert answer.status_code == 200
    said = answer.json()["translatedText"]
    assert len(said) == len(MEANING)
    assert "<script>" in said[0]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers


def test_a_zero_character_is_translated_or_named(client: TestClient) -> None:
    answer = client.post("/translate", json={**CAT, "q": "The cat\u0000is black."})
    assert answer.status_code in (200, 400)


def test_nothing_of_a_request_reaches_a_header_of_the_answer(client: TestClient) -> None:
    for name in ("x-request-id", "origin", "referer", "x-forwarded-for"):
        answer = client.get("/health", headers={name: "a%0d%0aSet-Cookie: b=c evil"})
        assert "evil" not in str(answer.headers)
    answer = client.get("/api/models?x=%0d%0aSet-Cookie:%20evil")
    assert "evil" not in str(answer.headers)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page/..%2f..%2fapp.py", "/download_file/%00",
        "/download_file/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/static/%5c..%5capp.py", "/app.py",
    ],
)  # fmt: skip
def test_no_path_reaches_the_file_system(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404, 405)
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_a_language_or_a_model_is_a_name_not_a_path(client: TestClient) -> None:
    for name in ("../en-fr", "/etc/passwd", "en-fr-classic/../en-fr-classic", "\u0000", "en\nfr", "x" * 10_000):
        for fields in ({"model": name}, {"target": name}, {"source": name, "target": "fr"}):
            answer = client.post("/api/translate", json={"text": "Hi", **fields})
            assert answer.status_code in (400, 404, 413), (fields, answer.text[:200])
            assert len(answer.text) < 12_000


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)


@pytest.mark.parametrize(
    "name",
    ["../../../tmp/x.txt", "/etc/passwd.txt", "a\\..\\b.txt", "x" * 500 + ".txt", "con.txt", ".txt", "a\u202etxt.exe"],
)
def test_a_file_name_is_never_a_path(client: TestClient, name: str) -> None:
    files = {"file": (name, b"The cat is black.", "text/plain")}
    answer = client.post("/translate_file", data={"source": "en", "target": "fr"}, files=files)
    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert ".." not in answer.json()["translatedFileUrl"].partition("/download_file/")[2]


def test_a_document_that_expands_without_bound_is_refused(client: TestClient) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("word/document.xml", b"<w>" + b" " * 100_000_000)
    files = {"file": ("bomb.docx", made.getvalue(), "application/octet-stream")}
    answer = client.post("/translate_file", data={"source": "en", "target": "fr"}, files=files)
    refused(answer, 400, "holds more than")
