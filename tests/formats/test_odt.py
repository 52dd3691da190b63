"""OpenDocument texts: opened again by odfpy, byte for byte with a translator that copies."""

from __future__ import annotations

import io
import zipfile

import pytest
from odf import teletype
from odf.opendocument import load

from formats.echo import DOCUMENTS, changed_document, parts_of, same, shouted
from formats.fakes import copy, reverse
from regard.errors import InputError
from regard.formats.document import DEFAULTS
from regard.formats.odt import read
from regard.formats.translate_document import translate_document

FILES = ["report.odt", "shop.odt", "notes.odt"]
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def elements(data: bytes) -> list[str]:
    """The elements that hold or are content, in order, as odfpy sees them; spans may be split."""
    names: list[str] = []

    def walk(node: object) -> None:
        for child in node.childNodes:  # type: ignore[attr-defined]
            if child.nodeType == 1:
                name = child.qname[1]
                if name not in ("span", "s"):
                    names.append(f"{name} {child.getAttrNS(TEXT, 'style-name') if name in ('p', 'h') else ''}")
                walk(child)

    walk(load(io.BytesIO(data)).text)
    return names


@pytest.mark.parametrize("name", FILES)
def test_copier_gives_the_same_file(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    assert translate_document(data, "odt", copy).data == data


@pytest.mark.parametrize("name", FILES)
def test_skeleton_stays(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = translate_document(data, "odt", reverse).data
    assert new != data
    assert sorted(elements(new)) == sorted(elements(data))
    assert list(parts_of(new)) == list(parts_of(data))


@pytest.mark.parametrize("name", FILES)
def test_every_word_is_found(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    document = read(data, DEFAULTS)
    new = document.write(shouted(document.segments))
    assert sorted(elements(new)) == sorted(elements(data))
    before, after = (teletype.extractText(load(io.BytesIO(version)).text) for version in (data, new))
    assert before.upper() == after.upper()
    assert after.upper() == after.replace("for x in y: print(x)", "FOR X IN Y: PRINT(X)").replace("Ann", "ANN").upper()


def test_notes_comments_frames_and_spaces_are_read() -> None:
    document = read((DOCUMENTS / "notes.odt").read_bytes(), DEFAULTS)
    texts = [segment.text for segment in document.segments]
    assert "The new students will come on Monday. Please be kind to them." in texts
    assert "They speak English and French." in texts
    assert "Read the first book before you come   and bring a pen." in texts
    assert {"This is important.", "A note on the wall", "Do not forget your lunch!"} <= set(texts)
    assert document.warnings == ["paragraphs of code left as they are: 1"]


def with_text(body: str) -> bytes:
    spaces = f'xmlns:text="{TEXT}" xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    content = f"<office:document-content {spaces}><office:body>{body}</office:body></office:document-content>"
    return changed_document((DOCUMENTS / "notes.odt").read_bytes(), content=content.encode())


def test_several_spaces_are_written_as_the_format_wants_them() -> None:
    data = with_text('<text:p>one\n  two <text:s text:c="2"/>three</text:p>')
    document = read(data, DEFAULTS)
    assert document.segments[0].text == "one two   three"
    new = document.write(shouted(document.segments))
    assert b'<text:p>ONE TWO <text:s text:c="2"/>THREE</text:p>' in parts_of(new)["content.xml"]


def test_hostile_files_are_read_or_refused_in_one_line() -> None:
    deep = with_text("<text:p>" + "<text:span>" * 1000 + "word" + "</text:span>" * 1000 + "</text:p>")
    spaces = with_text('<text:p>a<text:s text:c="999999999"/>b</text:p>')
    tail = with_text(f"<text:p>{'a' * 5_000_000}</text:p>")
    for data in (deep, spaces, tail):
        document = read(data, DEFAULTS)
        assert document.write(same(document.segments)) == data
    notes = (DOCUMENTS / "notes.odt").read_bytes()
    for said, data in {
        "declares the entity": changed_document(notes, content=b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
        "only text documents": changed_document(notes, mimetype=b"application/vnd.oasis.opendocument.spreadsheet"),
        "encrypted": changed_document(notes, manifest=b'<m xmlns="x"><encryption-data/></m>'),
        "more than": changed_document(notes, content=b"<w>" + b" " * 70_000_000 + b"</w>"),
        "no part content.xml": (DOCUMENTS / "word.docx").read_bytes(),
    }.items():
        with pytest.raises(InputError, match=said):
            read(data, DEFAULTS)


def test_an_empty_archive_is_refused() -> None:
    out = io.BytesIO()
    zipfile.ZipFile(out, "w").close()
    with pytest.raises(InputError, match="without parts"):
        read(out.getvalue(), DEFAULTS)
