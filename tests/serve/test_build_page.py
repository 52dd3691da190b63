"""The built page: what Bun makes of the sources, and the page as one file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regard.serve.page.build_page import ONE_FILE, PageBuildError, build_page, hashes
from regard.serve.page.page_files import HASHED, SOURCES
from support import needs_bundler

pytestmark = needs_bundler
INDEX = """<!doctype html><html lang="en"><head>
<meta charset="utf-8">
<link rel="preload" href="api/models" as="fetch" crossorigin>
<link rel="stylesheet" href="one.css"><link rel="stylesheet" href="two.css">
<script type="module" src="main.js"></script></head><body></body></html>"""
SMALL = {
    "index.html": INDEX,
    "docs.html": INDEX.replace("main.js", "docs.js"),
    "one.css": "p:dir(rtl) { color: light-dark(red, #010203); inset-inline-start: 1px; }",
    "two.css": "b { color: blue; }",
    "main.js": 'import { both } from "./both.js"; document.title = both("main"); import("./later.js");',
    "docs.js": 'import { both } from "./both.js"; document.title = both("docs");',
    "both.js": "export const both = (name) => `shared by ${name} </script>`;",
    "later.js": 'document.body.append("loaded when it is needed");',
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for name, text in SMALL.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(sources: Path) -> Path:
    build_page(sources, sources / "built")
    return sources / "built"


def loaded_first(built: Path, page: str) -> dict[str, str]:
    """An HTML file and the scripts that it names."""
    document = (built / page).read_text(encoding="utf-8")
    names = re.findall(r'(?:href|src)="\./([\w.-]+)"', document)
    return {page: document, **{name: (built / name).read_text(encoding="utf-8") for name in names}}


def test_every_html_file_is_built(built: Path) -> None:
    assert {file.name for file in built.glob("*.html")} == {"index.html", "docs.html", ONE_FILE}
    assert all(HASHED.fullmatch(file.name) for file in built.iterdir() if file.suffix != ".html")
    for page in ("index", "docs"):
        texts = "".join(loaded_first(built, f"{page}.html").values())
        assert all(part in texts for part in ("red", "#00f", "shared by", page))
        assert "loaded when it is needed" not in texts


def test_a_dynamic_import_is_a_file_of_its_own(built: Path) -> None:
    (later,) = (file.name for file in built.glob("*.js") if "loaded when it is needed" in file.read_text("utf-8"))
    assert any(f'import("./{later}")' in text for text in loaded_first(built, "index.html").values())


def test_one_file_has_all_of_it_and_allows_nothing_else(built: Path) -> None:
    document = (built / ONE_FILE).read_text(encoding="utf-8")
    (script,) = re.findall(r'<script type="module">(.*?)</script>', document, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", document, re.DOTALL)
    assert "shared by" in script
    assert "loaded when it is needed" in script
    assert not re.search(r"\bimport\(|^import |(?:src|href)=", document, re.MULTILINE)
    policy = f"default-src 'none'; script-src {hashes([script])}; style-src {hashes([style])}; img-src data:"
    assert f'content="{policy}"' in document


def test_the_same_sources_have_the_same_names(sources: Path, built: Path, tmp_path: Path) -> None:
    build_page(sources, tmp_path)
    again = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.suffix != ".map"}
    assert again == {file.name: file.read_bytes() for file in built.iterdir() if file.suffix != ".map"}


def test_other_sources_have_other_names(sources: Path, built: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    for name, text in SMALL.items():
        (changed / name).write_text(text.replace("shared by", "common to"), encoding="utf-8")
    build_page(changed, tmp_path / "built")
    assert set(loaded_first(tmp_path / "built", "index.html")) != set(loaded_first(built, "index.html"))


def test_what_cannot_be_built_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(INDEX.replace("main.js", "missing.js"), encoding="utf-8")
    with pytest.raises(PageBuildError, match=r"missing\.js"):
        build_page(tmp_path, tmp_path / "built")


def test_newer_css_stays_as_it_is(built: Path) -> None:
    """In older terms Bun would write lists of languages for directions, but the page has directions."""
    rule = "p:dir(rtl){color:light-dark(red,#010203);inset-inline-start:1px}"
    assert rule in (built / "index.html").read_text(encoding="utf-8")
    assert rule in (built / ONE_FILE).read_text(encoding="utf-8")


def test_the_page_itself_loads_little_at_first(tmp_path: Path) -> None:
    build_page(SOURCES, tmp_path)
    assert len(loaded_first(tmp_path, "index.html")) <= 7  # with the models, eight requests
