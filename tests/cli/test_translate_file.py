"""`regard translate --input page.html`: documents in, documents out, with the bundled model."""

from __future__ import annotations

import gzip
from pathlib import Path

import html5lib
import pytest

from support import Call

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The cat</title></head>
<body><h1>The black cat</h1>
<p>The <b>black cat</b> is on the <a href="mat.html" title="A red mat">mat</a>.<br>
We read <code>cat.txt</code> &amp; sleep.</p>
<script>let cat = "The cat is black.";</script></body></html>
"""


def tags(page: bytes) -> list[tuple[str, str | None]]:
    tree = html5lib.parse(page, namespaceHTMLElements=False, useChardet=False)
    return sorted((str(node.tag), node.get("href")) for node in tree.iter())


def test_a_page_with_the_bundled_model(call: Call, tmp_path: Path) -> None:
    source, target = tmp_path / "page.html", tmp_path / "page.fr.html"
    source.write_text(PAGE)
    answer = call("translate", "--input", source, "--output", target, "--device", "cpu")
    assert answer.code == 0
    assert answer.out == ""
    page = target.read_text()
    assert tags(page.encode()) == tags(PAGE.encode())
    assert "<b>chat noir</b>" in page
    assert '<a href="mat.html" title="' in page
    assert "A red mat" not in page
    assert page.count("<code>cat.txt</code>") == page.count("<br>") == 1
    assert '<script>let cat = "The cat is black.";</script>' in page


def test_a_compressed_page_and_standard_output(call: Call, tmp_path: Path) -> None:
    source, target = tmp_path / "page.html.gz", tmp_path / "page.fr.html.gz"
    source.write_bytes(gzip.compress(b"<p>The cat is <i>black</i>.</p>"))
    assert call("translate", "--input", source, "--output", target, "--device", "cpu").code == 0
    written = gzip.decompress(target.read_bytes()).decode()
    assert written.startswith("<p>Le chat est <i>noir</i>")
    assert call("translate", "--input", source, "--output", "-", "--device", "cpu").out == written


def test_the_format_can_be_named(call: Call, tmp_path: Path) -> None:
    source = tmp_path / "page.tmpl"
    source.write_text("<p>The cat is <i>black</i>.</p>")
    answer = call("translate", "--input", source, "--format", "html", "--device", "cpu")
    assert answer.out.startswith("<p>Le chat est <i>noir</i>")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.xml", b"<a><b></a>", "line 1 of the document is not well-formed XML: mismatched tag"),
        ("a.xml", b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "the document declares the entity 'x'"),
        ("a.html", b"<p>\xff", "line 1 of the document is not UTF-8; convert it to UTF-8 first"),
        ("a.md.gz", b"no gzip", "cannot be read: Not a gzipped file"),
        ("a.md", None, "a.md cannot be read: No such file or directory"),
    ],
)
def test_one_line_for_what_cannot_be_read(call: Call, tmp_path: Path, name: str, data: bytes | None, said: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    answer = call("translate", "--input", tmp_path / name, "--output", tmp_path / "out", "--device", "cpu")
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_format_that_is_none(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    answer = call("translate", "--input", tmp_path / "a", "--format", "htm")
    assert answer.code == 2
    assert "htm" in answer.err
    assert "html" in answer.err
