"""Word documents: opened again by python-docx, byte for byte with a translator that copies."""

from __future__ import annotations

import io

import docx as python_docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from formats.echo import DOCUMENTS, changed_document, parts_of, same, shouted
from formats.fakes import copy, reverse
from regard.errors import InputError
from regard.formats.document import DEFAULTS
from regard.formats.docx import read
from regard.formats.translate_document import translate_document

FILES = ["report.docx", "word.docx", "comments.docx", "notes.docx"]
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def with_body(body: str) -> bytes:
    word = (DOCUMENTS / "word.docx").read_bytes()
    content = f'<w:document xmlns:w="{W[1:-1]}"><w:body>{body}</w:body></w:document>'
    return changed_document(word, document=content.encode())


def body_of(data: bytes) -> str:
    return parts_of(data)["word/document.xml"].decode().partition("<w:body>")[2].partition("</w:body>")[0]


def skeleton(data: bytes) -> list[object]:
    """Paragraph styles, tables, pictures, links and notes, as python-docx sees them."""
    document = python_docx.Document(io.BytesIO(data))
    paragraphs = [
        (
            paragraph.style.name if paragraph.style else None,
            None if paragraph._p.pPr is None else paragraph._p.pPr.xml,
            len(paragraph.hyperlinks),
            [link.address for link in paragraph.hyperlinks],
            paragraph.text.count("\t"),
            paragraph.text.count("\n"),
            len(paragraph._p.findall(f".//{W}footnoteReference")),
            len(paragraph._p.findall(f".//{W}fldChar")),
            sorted({(run.bold, run.italic, run.underline) for run in paragraph.runs if run.text.strip()}, key=str),
        )
        for paragraph in document.paragraphs
    ]
    tables = [[len(row.cells) for row in table.rows] for table in document.tables]
    return [paragraphs, tables, len(document.inline_shapes), len(document.sections), len(list(document.comments))]


@pytest.mark.parametrize("name", FILES)
def test_copier_gives_the_same_file(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    assert translate_document(data, "docx", copy).data == data


@pytest.mark.parametrize("name", FILES)
def test_skeleton_stays(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = translate_document(data, "docx", reverse).data
    assert new != data
    assert skeleton(new) == skeleton(data)


@pytest.mark.parametrize("name", FILES)
def test_every_word_is_found_and_other_parts_stay(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    document = read(data, DEFAULTS)
    new = document.write(shouted(document.segments))
    before, after = parts_of(data), parts_of(new)
    assert list(before) == list(after)
    assert [name for name in before if before[name] != after[name]] == [
        name for name in before if name in document.parts and document.parts[name].segments
    ]
    texts = [paragraph.text for paragraph in python_docx.Document(io.BytesIO(new)).paragraphs]
    assert all(text == text.upper() for text in texts if "print" not in text and "ls -l" not in text)


def test_what_word_writes_is_read_as_text_marks_and_atoms() -> None:
    segments = {segment.text: segment for segment in read((DOCUMENTS / "word.docx").read_bytes(), DEFAULTS).segments}
    link = segments["You can read more about it or write to him."]
    assert [link.text[start:end] for start, end in link.marks] == ["read more", "write to him"]
    assert "The map is on page \ufffc of this book." in segments  # a field
    assert "He is always very friendly." in segments  # a tracked deletion is not text, an insertion is
    assert "nine o’clock" in segments  # tabs and line breaks separate
    assert {"The shop is closed on Sunday.", "A sign on the door", "A letter to my friends"} <= segments.keys()
    assert "The command \ufffc shows the files." in segments  # code
    assert not any("print" in text for text in segments)


def test_runs_that_differ_in_revision_marks_only_are_one_format() -> None:
    data = with_body(
        '<w:p><w:r w:rsidR="1"><w:t>One </w:t></w:r><w:r w:rsidR="2"><w:t>two </w:t></w:r>'
        "<w:r><w:rPr><w:b/></w:rPr><w:t>three</w:t></w:r></w:p>"
    )
    document = read(data, DEFAULTS)
    assert (document.segments[0].text, document.segments[0].marks) == ("One two three", ((8, 13),))
    new = translate_document(data, "docx", reverse).data
    assert body_of(new) == (
        '<w:p><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">THREE</w:t></w:r>'
        '<w:r w:rsidR="1"><w:t xml:space="preserve"> TWO ONE</w:t></w:r></w:p>'
    )


def test_a_note_follows_its_word() -> None:
    data = with_body(
        '<w:p><w:r><w:t>One two</w:t></w:r><w:r><w:rPr><w:i/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
        "<w:r><w:t> three four</w:t></w:r></w:p>"
    )
    new = translate_document(data, "docx", reverse).data
    assert body_of(new) == (
        '<w:p><w:r><w:t xml:space="preserve">FOUR THREE </w:t><w:t xml:space="preserve">TWO</w:t></w:r>'
        '<w:r><w:rPr><w:i/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:t xml:space="preserve"> ONE</w:t></w:r></w:p>'
    )


RUNS = st.sampled_from(
    [
        '<w:r><w:t xml:space="preserve"> plain words </w:t></w:r>',
        "<w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r>",
        "<w:r><w:rPr><w:i/></w:rPr><w:t>some</w:t><w:t>thing</w:t></w:r>",
        '<w:r><w:footnoteReference w:id="7"/></w:r>',
        "<w:r><w:t>A\ufffcB</w:t><w:tab/><w:t>and more</w:t></w:r>",
        "<w:r><w:sym/></w:r>",
        '<w:bookmarkStart w:id="3"/>',
        '<w:bookmarkEnd w:id="3"/>',
        "<w:proofErr/>",
        "\n  ",
        "<w:r><w:softHyphen/></w:r>",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
        '<w:r><w:instrText>HYPERLINK</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>',
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>",
    ]
)
INLINE = st.recursive(
    RUNS,
    lambda inner: st.tuples(
        st.sampled_from(["ins", "hyperlink", "smartTag"]), st.lists(inner, max_size=4).map("".join)
    ).map(lambda made: f"<w:{made[0]}>{made[1]}</w:{made[0]}>"),
    max_leaves=12,
)


@given(st.lists(INLINE, max_size=8).map("".join))
def test_no_element_and_no_word_is_lost(inside: str) -> None:
    data = with_body(f"<w:p>{inside}</w:p>")
    assert translate_document(data, "docx", copy).data == data
    new = body_of(translate_document(data, "docx", reverse).data)
    before, after = (etree.fromstring(f'<w:p xmlns:w="{W[1:-1]}">{body[5:]}') for body in (body_of(data), new))
    for name in ("footnoteReference", "sym", "bookmarkStart", "bookmarkEnd", "tab", "del", "instrText"):
        assert len(before.findall(f".//{W}{name}")) == len(after.findall(f".//{W}{name}"))
    kinds = [[element.get(f"{W}fldCharType") for element in tree.iter(f"{W}fldChar")] for tree in (before, after)]
    assert sorted(kinds[0]) == sorted(kinds[1])
    letters = [
        sorted("".join(element.text or "" for element in tree.iter(f"{W}t")).upper()) for tree in (before, after)
    ]
    assert [c for c in letters[0] if not c.isspace()] == [c for c in letters[1] if not c.isspace()]


def test_text_is_escaped_and_its_own_object_characters_stay() -> None:
    data = with_body("<w:p><w:r><w:t>a &lt; b &amp; \ufffc c</w:t></w:r></w:p>")
    document = read(data, DEFAULTS)
    assert document.segments[0].text == "a < b & \ufffc c"
    assert "A &lt; B &amp; " in body_of(document.write(shouted(document.segments)))
    assert "\ufffc" in body_of(document.write(shouted(document.segments)))


def test_deep_and_long_documents_are_read() -> None:
    deep = "<w:smartTag>" * 1000 + "<w:r><w:t>word</w:t></w:r>" + "</w:smartTag>" * 1000
    for body in (f"<w:p>{deep}</w:p>", f"<w:p><w:r><w:t>{'a' * 5_000_000}</w:t></w:r></w:p>"):
        data = with_body(body)
        document = read(data, DEFAULTS)
        assert document.write(same(document.segments)) == data


ENTITIES = b'<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><w>&b;</w>'
BODIES = {
    "declares the entity": ENTITIES,
    "well-formed": b"<w:document><w:p>",
    "UTF-8": "<w/>".encode("utf-16"),
    "more than": b"<w>" + b" " * 70_000_000 + b"</w>",
    "invalid token": b"<w>\0</w>",
    "not well-formed": b"<w>\xff\xfe\xfd</w>",
}
FOREIGN = {
    "not a DOCX file": b"PK\3\4" + b"\0" * 100,
    "not a zip": b"hello",
    "older or encrypted": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
    "no part [Content_Types].xml": (DOCUMENTS / "notes.odt").read_bytes(),
}


@pytest.mark.parametrize("said", [*BODIES, *FOREIGN])
def test_hostile_files_are_refused_in_one_line(said: str) -> None:
    word = (DOCUMENTS / "word.docx").read_bytes()
    data = FOREIGN[said] if said in FOREIGN else changed_document(word, document=BODIES[said])
    with pytest.raises(InputError) as caught:
        read(data, DEFAULTS)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", range(0, 100, 7))
def test_a_file_cut_off_anywhere_is_refused(share: int) -> None:
    data = (DOCUMENTS / "word.docx").read_bytes()
    with pytest.raises(InputError):
        read(data[: len(data) * share // 100], DEFAULTS)
