"""LibreTranslate's /languages and /frontend/settings, also of requests with a body or a content type on GET."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
def test_languages_whatever_the_content_type(client: TestClient, kind: str) -> None:
    assert client.request("GET", "/languages", headers={"content-type": kind}).json() == [
        {"code": "en", "name": "English", "targets": ["en", "fr"]},
        {"code": "fr", "name": "French", "targets": ["fr"]},
    ]


def test_a_get_may_have_a_body(client: TestClient) -> None:
    assert client.request("GET", "/languages", data={"api_key": "x"}).status_code == 200


def test_what_a_page_should_know(client: TestClient) -> None:
    found = client.get("/frontend/settings").json()
    assert found["charLimit"] == 50_000
    assert ".docx" in found["supportedFilesFormat"]
    assert found["language"] == {
        "source": {"code": "auto", "name": "Auto Detect"},
        "target": {"code": "fr", "name": "French"},
    }
