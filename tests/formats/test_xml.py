"""XML: mixed content, what stays, encodings; documents that are no XML or mean harm."""

from __future__ import annotations

import pytest

from formats.fakes import copy, reverse
from regard.errors import InputError
from regard.formats.document import ATOM, DEFAULTS
from regard.formats.translate_document import translate_document
from regard.formats.xml import read


def texts(source: str) -> list[str]:
    return [segment.text for segment in read(source.encode(), DEFAULTS).segments]


def reversed_xml(source: str) -> str:
    return translate_document(source.encode(), "xml", reverse).data.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<r><a>one</a><a>two</a></r>", ["one", "two"]),
        ("<r><a>one <b>two</b></a></r>", ["one two"]),
        ("<a>one <b><c>two</c></b></a>", ["one two"]),
        ("<a>one <b>two</b><c/> three</a>", [f"one two{ATOM} three"]),
        ("<a>one\r\n   two</a>", ["one two"]),
        ("<a xml:space='preserve'>one\n  two</a>", ["one\n  two"]),
        ("<a>5 &lt; 6 &#233; x</a>", ["5 < 6 é x"]),
        ("<a><b translate='no'>no</b><b its:translate='no' xmlns:its='i'>no</b><b>yes</b></a>", ["yes"]),
        ("<a translate='no'>no<b translate='yes'>yes</b></a>", [f"{ATOM}yes"]),
        ("<a>see <b translate='no'>no</b> yes</a>", [f"see {ATOM} yes"]),
        ("<resources><string translatable='false'>no</string></resources>", []),
        ("<a><id>org.example.App</id><v>1.2</v><u>https://x.org/a</u><k>en_US</k><n>Save.</n></a>", ["Save."]),
        ("<a title='no'><!-- no --><?no no?><![CDATA[no]]></a>", []),
    ],
)
def test_segments(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_written() -> None:
    assert reversed_xml("<a>one <b>two</b> <c/> three</a>") == "<a>THREE <c/> <b>TWO</b> ONE</a>"
    assert reversed_xml("<a>the <b>black cat</b> sleeps</a>") == "<a>SLEEPS <b>CAT BLACK</b> THE</a>"
    assert reversed_xml("<a>a &amp; b &#x3c; c</a>") == "<a>C &#x3c; B &amp; A</a>"
    assert reversed_xml("<a>x]]&gt;y z</a>") == "<a>Z Y &gt; ] ] X</a>"


def test_cdata_sections_are_reported() -> None:
    found = translate_document(b"<a>\n<b>one</b><c><![CDATA[<p>two</p>]]></c></a>", "xml", reverse)
    assert found.data == b"<a>\n<b>ONE</b><c><![CDATA[<p>two</p>]]></c></a>"
    assert found.warnings == ("CDATA sections stay as they were: line 2",)


BILLION = '<!ENTITY l0 "lol">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"<!DOCTYPE a [{BILLION}]><a>&l9;</a>", "declares the entity 'l0'"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "declares the entity 'x'"),
        ("<a><b>", "line 1 of the document is not well-formed XML: no element found"),
        ("<a>\n<b></a>", "line 2 of the document is not well-formed XML: mismatched tag"),
        ("", "no element found"),
        ("<" * 1000, "not well-formed"),
        ("<a>\0</a>", "not well-formed"),
        ("<a>&nbsp;</a>", "undefined entity"),
        ('<?xml version="1.0" encoding="nonsense"?><a/>', "names an encoding that is unknown"),
        ('<?xml version="1.0" encoding="base64"?><a/>', "unknown"),
    ],
)
def test_refused_in_one_line(source: str, said: str) -> None:
    with pytest.raises(InputError) as problem:
        read(source.encode(), DEFAULTS)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_bytes_that_are_not_in_the_encoding_are_refused() -> None:
    with pytest.raises(InputError, match="line 2 of the document is not UTF-8"):
        read(b"<a>\n\xff</a>", DEFAULTS)


@pytest.mark.parametrize(
    "source",
    [
        "<a>" * 1000 + "x" + "</a>" * 1000,
        "<a>x" * 1000 + "</a>" * 1000,
        f"<a>{'word' * 100_000}</a>",
        f"<a>x{'<b>y</b>' * 5_000}</a>",
        "<a>\u202eabc\u200f</a>",
    ],
    ids=["nested", "nested in text", "one word", "marks", "right to left"],
)
def test_large_and_deep_documents(source: str) -> None:
    assert translate_document(source.encode(), "xml", copy).data == source.encode()
    assert translate_document(source.encode(), "xml", reverse).data
