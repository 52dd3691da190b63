"""The files of the page: complete, and nothing in them that a strict policy forbids or that another server has."""

from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from regard.serve.page.page_files import page_files, page_routes

PAGE = {name: file.content.decode("utf-8") for name, file in page_files().items()}
SCRIPTS = sorted(name for name in PAGE if name.endswith(".js"))
OWN_NAMES = ("http://www.w3.org/2000/svg",)  # a namespace, which nobody loads


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=page_routes()))


def test_the_document_has_no_inline_script_style_or_handler() -> None:
    document = PAGE["index.html"]
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", document, re.DOTALL)
    assert [(attributes.strip(), text) for attributes, text in scripts] == [
        ('type="module" src="main.js"', ""),
        ('type="application/json" id="answers"', ""),  # data, which a saved page fills
    ]
    assert "<style" not in document
    assert not re.search(r"\s(on\w+|style)=", document)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_put_text_in_as_text(name: str) -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style\""
    assert not re.search(forbidden, PAGE[name])


@pytest.mark.parametrize("name", sorted(PAGE))
def test_no_file_names_another_server(name: str) -> None:
    text = PAGE[name]
    for own in OWN_NAMES:
        text = text.replace(own, "")
    assert not re.search(r"https?:|[\"'(]//|@import", text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_idea(name: str) -> None:
    assert PAGE[name].startswith("// ")
    assert PAGE[name].count("\n") <= 310


def test_all_that_the_page_names_is_there() -> None:
    for name in re.findall(r'(?:href|src)="([\w.]+)"', PAGE["index.html"]):
        assert name in PAGE
    for name in SCRIPTS:
        for other in re.findall(r'from "\./([\w.]+)"', PAGE[name]):
            assert other in PAGE


def test_a_file_is_sent_once_while_it_does_not_change(client: TestClient) -> None:
    first = client.get("/main.js")
    assert first.status_code == 200
    assert first.headers["content-type"].startswith("text/javascript")
    again = client.get("/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/").text == PAGE["index.html"]


@pytest.mark.parametrize("path", ["/page_files.py", "/../app.py", "/%2e%2e/app.py", "/main.js/", "/MAIN.js", "/page/"])
def test_only_exact_names_are_answered(client: TestClient, path: str) -> None:
    assert client.get(path, follow_redirects=False).status_code in (307, 404)
