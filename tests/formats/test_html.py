"""HTML: what is a segment, what stays, how it is written; input that is broken or meant to break."""

from __future__ import annotations

import pytest

from formats.fakes import copy, reverse
from regard.errors import InputError
from regard.formats.document import ATOM, DEFAULTS
from regard.formats.html import read
from regard.formats.translate_document import translate_document


def texts(source: str) -> list[str]:
    return [segment.text for segment in read(source.encode(), DEFAULTS).segments]


def reversed_html(source: str) -> str:
    return translate_document(source.encode(), "html", reverse).data.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>one<p>two", ["one", "two"]),
        ("<ul><li>one<li>two</ul>three", ["one", "two", "three"]),
        ("<h1>A <b>bold</b> title</h1><div>text</div>", ["A bold title", "text"]),
        ("<p>  spaces\n\n  and  lines </p>", ["spaces and lines"]),
        ("<p>5 &lt; 6 &amp;&nbsp;x</p>", ["5 < 6 &\xa0x"]),
        ("<p>one<br>two</p>", ["one\ntwo"]),
        ("<p>use <code>f(x)</code> or <kbd>Ctrl</kbd></p>", [f"use {ATOM} or {ATOM}"]),
        ("<p><img src=x> text <!-- note --></p>", ["text"]),
        ("<p>with <span class=icon></span> icon</p>", [f"with {ATOM} icon"]),
        ("<script>var a = '<p>no</p>'</script><style>p {}</style>yes", ["yes"]),
        ("<pre>no <b>no</b></pre>yes", ["yes"]),
        ("<svg><text>no</text></svg><math><mi>x</mi></math>yes", [f"{ATOM}yes"]),
        ("<textarea>no</textarea><title>yes</title>", ["yes"]),
        ("<p translate=no>no</p><p class='a notranslate'>no<p>yes", ["yes"]),
        ("<p>a <span translate=no>no</span> yes", [f"a {ATOM} yes"]),
        ("<noscript><p>Turn on <b>scripts</b></p></noscript>", ["Turn on scripts"]),
        ("<a href=1>Home</a> | <a href=2>About us</a>", ["Home", "About us"]),
        ("<p><a href=1>Home</a> is <a href=2>here</a></p>", ["Home is here"]),
        ("<p><b>all of it</b></p>", ["all of it"]),
        ("<p>1,250 · 3:45</p>", []),
        (f"<p>an {ATOM} object</p>", [f"an {ATOM} object"]),
        ("<p>open <code>x</p><p>next", [f"open {ATOM}", "next"]),
        ("<p>a</p><![endif]--><p>b", ["a", "b"]),
        ("<x-card>custom <x-y>tags</x-y> here</x-card>", ["custom tags here"]),
    ],
)
def test_segments(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<img alt='A cat' src=x>", ["A cat"]),
        ("<a title=Home href=/>x1</a><td abbr=Price>", ["Home", "x", "Price"]),
        ("<input placeholder='Your name' value='kept'><input type=submit value=Send>", ["Your name", "Send"]),
        ("<meta name=description content='A page'><meta name=viewport content=width>", ["A page"]),
        ("<meta property='og:title' content='The page'>", ["The page"]),
        ("<button aria-label='Close it' data-title=no>×</button>", ["Close it"]),
        ("<img alt='' title=12>", []),
        ("<p translate=no title='no'>no", []),
    ],
)
def test_attributes_that_people_read(source: str, expected: list[str]) -> None:
    assert [text for text in texts(source) if text != "x1"] == [text for text in expected if text != "x"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>the <b>black cat</b> sleeps</p>", "<p>SLEEPS <b>CAT BLACK</b> THE</p>"),
        ("<p>one <i>two <b>three</b></i> four", "<p>FOUR <i><b>THREE</b> TWO</i> ONE"),
        ("<p>run <code>a&lt;b</code> now</p>", "<p>NOW <code>a&lt;b</code> RUN</p>"),
        ("<p>one two<br>three four</p>", "<p>TWO ONE<br>FOUR THREE</p>"),
        ("<p>one\n   two three</p>", "<p>THREE\n   TWO ONE</p>"),
        ("<p>a &amp; b &lt; c</p>", "<p>C &lt; B &amp; A</p>"),
        ("<p>AT&T or x < y</p>", "<p>Y &lt; X OR T &amp; AT</p>"),
        ("<p>it&#39;s &quot;so&quot;</p>", "<p>&quot; SO &quot; IT&#39;S</p>"),
        ('<a title="say &quot;hi&quot; now">x</a>', '<a title="NOW &quot; HI &quot; SAY">X</a>'),
        ("<a title='two words'>x</a>", "<a title='WORDS TWO'>X</a>"),
        ("<img alt=word title=Other>", '<img alt="WORD" title="OTHER">'),
        ("<p>see <a href=x title='a b'>the page</a></p>", "<p><a href=x title='B A'>PAGE THE</a> SEE</p>"),
        ("<p>x<b>one <i>two</b></i> y</p>", None),
        ("<p>one <b>two <i>three</b> four</i> five</p>", "<p>one <b>two <i>three</b> four</i> five</p>"),
    ],
)
def test_written(source: str, expected: str | None) -> None:
    if expected is None:  # overlapping only in the order of the end tags: they stay together
        assert "</b></i>" in reversed_html(source)
    else:
        assert reversed_html(source) == expected


def test_overlapping_tags_are_reported() -> None:
    found = translate_document(b"<p>one <b>two <i>three</b> four</i> five</p>", "html", reverse)
    assert found.warnings == ("line 1: its tags overlap, so it stays as it was",)


def test_an_element_that_is_never_closed_is_reported() -> None:
    found = translate_document(b"<div>yes</div><code>no <b>no</b>", "html", reverse)
    assert found.data == b"<div>YES</div><code>no <b>no</b>"
    assert found.warnings == ("<code> is never closed; what follows it stays as it was",)


@pytest.mark.parametrize(
    ("data", "written"),
    [
        ("<meta charset=utf-8><p>é".encode(), "<meta charset=utf-8><p>É".encode()),
        ("<meta charset=latin1><p>é €".encode("cp1252"), "<meta charset=latin1><p>€ É".encode("cp1252")),
        (b"\xef\xbb\xbf<p>\xc3\xa9", b"\xef\xbb\xbf<p>\xc3\x89"),
        ("<p>é".encode(), "<p>É".encode()),
        ("\ufeff<p>é</p>".encode("utf-16-le"), "\ufeff<p>É</p>".encode("utf-16-le")),
        (
            b'<?xml version="1.0" encoding="iso-8859-1"?><p>\xe9</p>',
            b'<?xml version="1.0" encoding="iso-8859-1"?><p>\xc9</p>',
        ),
    ],
)
def test_encodings(data: bytes, written: bytes) -> None:
    assert translate_document(data, "html", copy).data == data
    assert translate_document(data, "html", reverse).data == written


def test_a_page_that_names_no_encoding_stays_ascii() -> None:
    def french(words: list[str], wrapped: bool) -> list[object]:
        return [copy([word.replace("e", "é")], False)[0] for word in words]

    assert translate_document(b"<p>the", "html", french).data == b"<p>th&#233;"  # type: ignore[arg-type]
    assert translate_document(b"<meta charset=utf-8><p>the", "html", french).data.endswith(b"th\xc3\xa9")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data", [b"<p>\xff\xfe\xfd", b"<meta charset=nonsense>x", b"<meta charset=base64>x", b"a\rb\fc"]
)
def test_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(InputError) as problem:
        read(data, DEFAULTS)
    assert "\n" not in str(problem.value)


HOSTILE = {
    "less": "<" * 200_000,
    "opened": "<a" * 100_000,
    "a comment": "<!--" * 50_000,
    "one word": "a" * 1_000_000,
    "nested": "<div>" * 1_000 + "x",
    "inline": "<b>x" * 1_000 + "</b>" * 1_000,
    "scripts": "<noscript>" * 2_000,
    "code": "<code>" * 10_000 + "x",
    "misnested": "<b><i>x</b></i>" * 3_000,
    "nul": "<p>a\0b</p>",
    "right to left": "<p>\u202eabc\u202c \u200f</p>",
    "entities": "&amp;" * 20_000 + "x",
    "attributes": "<p " + "a=b " * 20_000 + "title=x>",
    "cut in a tag": '<p>text <a href="x',
    "cut in an entity": "<p>text &am",
    "cut in a comment": "<p>text <!-- x",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_come_back(source: str) -> None:
    assert translate_document(source.encode(), "html", copy).data == source.encode()
    assert translate_document(source.encode(), "html", reverse).data


def test_pages_cut_off_anywhere() -> None:
    page = "<!DOCTYPE html><p class='a'>The <b>cat</b> &amp; <img alt=\"a b\"> <!-- c --><code>x</code></p>"
    for end in range(len(page)):
        part = page[:end].encode()
        assert translate_document(part, "html", copy).data == part
        translate_document(part, "html", reverse)
