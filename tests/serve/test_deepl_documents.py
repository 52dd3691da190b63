"""Files in both interfaces: documents of DeepL's, /translate_file and /download_file of LibreTranslate's, /suggest."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

TEXT = b"The cat is black.\n\nThank you!\n"
SAID = "Le chat est noir.\n\nMerci !\n"


def upload(client: TestClient, name: str = "cat.txt", data: bytes = TEXT, **more: str) -> Any:
    return client.post("/v2/document", data={"target_lang": "FR", **more}, files={"file": (name, data)})


def wait(client: TestClient, made: dict[str, str]) -> dict[str, Any]:
    for _ in range(300):
        found: dict[str, Any] = client.post(
            f"/v2/document/{made['document_id']}", json={"document_key": made["document_key"]}
        ).json()
        if found["status"] in ("done", "error"):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_document_from_upload_to_result(client: TestClient) -> None:
    made = upload(client, formality="default").json()
    found = wait(client, made)
    assert (found["status"], found["billed_characters"]) == ("done", len(TEXT))
    result = client.post(f"/v2/document/{made['document_id']}/result", data={"document_key": made["document_key"]})
    assert result.text == SAID
    assert 'filename="cat.txt"' in result.headers["content-disposition"]


def test_only_who_has_the_key_learns_of_a_document(client: TestClient) -> None:
    made = upload(client).json()
    wait(client, made)
    for path in (f"/v2/document/{made['document_id']}", f"/v2/document/{made['document_id']}/result"):
        assert client.post(path, json={"document_key": "0" * 64}).status_code == 404
        assert client.post(path).json() == {"message": "Parameter 'document_key' not specified."}


REFUSED = [
    ("cat.exe", TEXT, {}, "file format not supported"),
    ("cat.txt.gz", TEXT, {}, "file format not supported"),
    ("cat.parquet", TEXT, {}, "file format not supported"),
    (
        "cat.pdf",
        b"%PDF-1.7",
        {},
        "file format not supported; cat.pdf cannot be read: it is a PDF file; open it in Word",
    ),
    ("cat.txt", b"%PDF-1.7", {}, "the document is a PDF file, not plain text"),
    ("cat.txt", b"<?xml version='1.0'?>", {}, "rename it to .xml"),
    ("cat.csv", b'a,"b', {}, "row 1 has a cell that begins with a quotation mark"),
    ("cat.docx", TEXT, {}, "not a DOCX file"),
    ("cat.txt", b"\xff\xfe\xfd", {}, ""),
    ("cat.txt", TEXT, {"output_format": "pdf"}, "output_format"),
    ("cat.txt", TEXT, {"formality": "less"}, "formality"),
    ("cat.txt", TEXT, {"target_lang": "ZZ"}, "target_lang"),
    ("cat.txt", b"a " * 500_001, {}, "characters"),
]


@pytest.mark.parametrize(("name", "data", "more", "said"), REFUSED)
def test_what_cannot_be_translated_is_refused_at_once(
    client: TestClient, name: str, data: bytes, more: dict[str, str], said: str
) -> None:
    answer = upload(client, name, data, **more)
    assert answer.status_code in (400, 413)
    assert said in answer.json()["message"]


def translate_file(client: TestClient, name: str, data: bytes = TEXT) -> Any:
    return client.post("/translate_file", data={"source": "en", "target": "fr"}, files={"file": (name, data)})


@pytest.mark.parametrize("name", ["../../etc/cat.txt", 'C:\\c\r\na"t é.txt'])
def test_a_file_and_where_to_fetch_it(client: TestClient, name: str) -> None:
    address = translate_file(client, name).json()["translatedFileUrl"]
    result = client.get(address)
    assert (result.status_code, result.text) == (200, SAID)
    assert result.headers["content-disposition"].startswith("attachment; filename=")
    assert "etc" not in address


def test_other_names_fetch_nothing(client: TestClient) -> None:
    name = translate_file(client, "cat.txt").json()["translatedFileUrl"].rpartition("/")[2]
    for other in (name.replace(name[:8], "00000000"), f"{name[:40]}{'0' * 56}{name[96:]}", name[:90], "regard.sqlite"):
        answer = client.get(f"/download_file/{other}")
        assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_markup_of_a_file_survives(client: TestClient) -> None:
    page = b"<title>Thank you!</title><p>The cat is <b>black</b>.</p>"
    address = translate_file(client, "page.html", page).json()["translatedFileUrl"]
    assert client.get(address).text == "<title>Merci !</title><p>Le chat est <b>noir</b>.</p>"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("cat.en", "The cat is black.\n", "Le chat est noir.\n"),
        ("cat.csv", 'id;text\r\n7;"The cat is black."\r\n', 'id;text\r\n7;"Le chat est noir."\r\n'),
        ("cat.tsv", "7\tThe cat is black.\n", "7\tLe chat est noir.\n"),
    ],
)
def test_lines_and_tables(client: TestClient, name: str, data: str, said: str) -> None:
    address = translate_file(client, name, data.encode()).json()["translatedFileUrl"]
    assert client.get(address).content.decode() == said


def test_files_that_libretranslate_refuses(client: TestClient) -> None:
    assert translate_file(client, "cat.png").json()["error"].startswith("Invalid request: file format not supported")
    missing = client.post("/translate_file", data={"source": "en", "target": "fr"})
    assert (missing.status_code, missing.json()) == (400, {"error": "Invalid request: missing file parameter"})


def test_suggestions_are_kept(client: TestClient) -> None:
    asked = {"q": "cat", "s": "minou", "source": "en", "target": "fr"}
    assert client.post("/suggest", data=asked).json() == {"success": True}
    assert client.post("/suggest", json={**asked, "s": ""}).json() == {"error": "Invalid request: missing s parameter"}
    kept = client.app.state.services.state.suggestions.all()  # type: ignore[attr-defined]
    assert [(one.text, one.better) for one in kept] == [("cat", "minou")]


def test_an_upload_says_what_it_was_charged(client: TestClient) -> None:
    """So that it can be given back where the translation fails."""
    made = upload(client).json()
    services = client.app.state.services  # type: ignore[attr-defined]
    job = services.state.documents.get(made["document_id"], made["document_key"], None)
    assert job.request["charged"] == {"subject": "address:unknown", "characters": len(TEXT), "period": "month"}
    wait(client, made)
