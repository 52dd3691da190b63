"""`regard translate --input page.html`: documents in, documents out, with the bundled model."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import html5lib
import pytest

from support import Call

pytestmark = pytest.mark.usefixtures("usual_engine")

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


TABLE = 'id,Note,price\nA-1,"The cat is black, thank you!",12.50\nA-2,"Thank you!\nThe cat sleeps.",\n'


def test_a_table(call: Call, tmp_path: Path) -> None:
    source, target = tmp_path / "shop.csv", tmp_path / "shop.fr.csv"
    source.write_text(TABLE)
    answer = call("translate", "--input", source, "--output", target, "--column", "Note", "--device", "cpu")
    assert (answer.code, answer.err) == (0, "")
    before, after = (list(csv.reader(io.StringIO(table, newline=""))) for table in (TABLE, target.read_text()))
    assert after[2][1] == "Merci !\nLe chat dort."
    assert [(row[0], row[2]) for row in after] == [(row[0], row[2]) for row in before]
    assert after[0] == before[0]
    answer = call("translate", "--input", source, "--output", target, "--column", "note", "--device", "cpu")
    assert answer.code == 2
    assert "'note' is none of them; there are: 1 (id), 2 (Note), 3 (price) (--column)" in answer.err


PDF, PICTURE = b"%PDF-1.7\n\xff", b"\x89PNG\r\n\x1a\n"
REFUSED = {
    "msg.xlf": (b'<?xml version="1.0"?><xliff/>', "convert it to PO with xliff2po"),
    "memory.tmx": (b"<tmx/>", "convert it to TSV"),
    "old.rtf": (b"{\\rtf1 Hello}", "save it as DOCX"),
    "old.doc": (b"\xd0\xcf\x11\xe0", "save it as DOCX"),
    "report.pdf": (PDF, "pdftotext"),
    "sheet.xlsx": (b"PK\x03\x04", "save each sheet as CSV"),
    "talk.pptx": (b"PK\x03\x04", "export its text as DOCX"),
    "photo.jpeg": (b"\xff\xd8\xff", "extract its text first"),
    "program.foo": (b"Hello.\n", ".txt .md .html"),
    "report.txt": (PDF, "is a PDF file, not plain text; save it as DOCX"),
    "packed.txt": (b"PK\x03\x04\x14", "is a zip archive, not plain text"),
    "photo.en": (PICTURE, "is a picture, not plain text"),
    "photo.md": (PICTURE, "is a picture, not plain text"),
    "page.txt": (b"\xef\xbb\xbf<!DOCTYPE html><p>Hello.", 'rename it to .html, or set format to "html" (--format)'),
    "msg.en": (b'<?xml version="1.0"?><xliff/>', 'rename it to .xml, or set format to "xml" (--format)'),
    "letter.txt": (b"{\\rtf1 Hello}", "save it as DOCX"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_not_read_is_not_destroyed(call: Call, tmp_path: Path, name: str) -> None:
    data, said = REFUSED[name]
    (tmp_path / name).write_bytes(data)
    answer = call("translate", "--input", tmp_path / name, "--output", tmp_path / "out", "--device", "cpu")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert name in answer.err or name == "photo.md"
    assert said in answer.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "name",
    [
        *("news.en", "dev.eng_Latn", "notes", "a.en.gz"),
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("train.fr", "corpus.de", "x.pt-BR", "a.log", "part.001", "dev.src")
        ),
    ],
)
def test_lines_have_many_names(call: Call, tmp_path: Path, name: str) -> None:
    data = b"The cat is black.\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    answer = call("translate", "--input", tmp_path / name, "--device", "cpu")
    assert (answer.code, answer.out) == (0, "Le chat est noir.\n")


@pytest.mark.parametrize("format", ["text", "lines"])
def test_any_text_can_be_translated_by_lines(call: Call, tmp_path: Path, format: str) -> None:
    (tmp_path / "old.rtf").write_text("The cat is black.\n")
    answer = call("translate", "--input", tmp_path / "old.rtf", "--format", format, "--device", "cpu")
    assert (answer.code, answer.out) == (0, "Le chat est noir.\n")
