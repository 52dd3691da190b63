"""Forms with files are read strictly: as the standard says, or not at all."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

ENDS = b"--x--\r\n"


def form(value: bytes, name: bytes = b"q") -> bytes:
    parts = {b"source": b"en", b"target": b"fr", name: value}
    head = b'--x\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n'
    return b"".join(head % part for part in parts.items()) + ENDS


def post(client: TestClient, body: bytes, kind: str = "multipart/form-data; boundary=x") -> tuple[int, str]:
    found = client.post("/translate", content=body, headers={"Content-Type": kind})
    return found.status_code, found.json().get("error", "")


@pytest.mark.parametrize("text", ["The cat is black.", "café 🐈"])
def test_utf_8_is_read(client: TestClient, text: str) -> None:
    assert post(client, form(text.encode())) == (200, "")


@pytest.mark.parametrize(("value", "byte"), [("café".encode("latin-1"), 3), (b"\xff\xfe", 0), ("猫".encode()[:2], 0)])
def test_a_text_that_is_not_utf_8_is_refused_in_one_line(client: TestClient, value: bytes, byte: int) -> None:
    assert post(client, form(value)) == (400, f"the form cannot be read: q is not UTF-8 (byte {byte})")


def test_a_character_set_that_is_named_is_read(client: TestClient) -> None:
    kind = "multipart/form-data; boundary=x; charset=iso-8859-1"
    assert post(client, form("café".encode("latin-1")), kind) == (200, "")


@pytest.mark.parametrize("body", [b"", b"--x\r\n", form(b"a")[:-8], form(b"a").replace(b"name=", b"nam=")])
def test_what_is_no_form_is_refused(client: TestClient, body: bytes) -> None:
    status, said = post(client, body)
    assert status == 400
    assert said
