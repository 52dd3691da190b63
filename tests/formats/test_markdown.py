"""Markdown: what is a segment, what stays, how it is written; input that is meant to break it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from formats.fakes import copy, reverse
from regard.formats.document import ATOM, DEFAULTS
from regard.formats.markdown import read
from regard.formats.translate_document import translate_document
from regard.translation.translation import Translation, copied


def texts(source: str) -> list[str]:
    return [segment.text for segment in read(source.encode(), DEFAULTS).segments]


def reversed_markdown(source: str) -> str:
    return translate_document(source.encode(), "markdown", reverse).data.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One *two*\n\ntext\n", ["One two", "text"]),
        ("one\ntwo  \nthree", ["one two\nthree"]),
        ("- one\n- two\n  - three", ["one", "two", "three"]),
        ("> one\n> two", ["one two"]),
        ("| a | b |\n|---|---|\n| c `x` | 5 |", ["a", "b", f"c {ATOM}"]),
        ("```\ncode\n```\n\n    code\n\nx", ["x"]),
        ("---\ntitle: no\n---\nyes", ["yes"]),
        ("a `b` $c$ <http://d.e> [^1]\n\n[^1]: note", [f"a {ATOM} {ATOM} {ATOM}", "note"]),
        ("see ![the cat](c.png) here", [f"see {ATOM} here", "the cat"]),
        ('[a](b "the title")', ["a", "the title"]),
        ("[a]\n\n[a]: /b 'the title'", ["a", "the title"]),
        (r"5 \* 6 &amp; x", ["5 * 6 & x"]),
        ("<div title='a b'>\nhtml <b>text</b>\n</div>", ["a b", "html text"]),
        ("press <kbd>Ctrl</kbd> <b>now</b><br>then", [f"press {ATOM} now\nthen"]),
        ("- [ ] do it", ["do it"]),
        ("[Home](/) · [About](/a)", ["Home", "About"]),
    ],
)
def test_segments(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("the **black cat** sleeps", "SLEEPS **CAT BLACK** THE"),
        ("see [the page](x.md) now", "NOW [PAGE THE](x.md) SEE"),
        ("see [page] now\n\n[page]: x.md", "NOW [PAGE][page] SEE\n\n[page]: x.md"),
        ("[Page][]\n\n[page]: x.md", "[PAGE][Page]\n\n[page]: x.md"),
        ("> one two\n> three", "> THREE TWO\n> ONE"),
        ("use `a*b` now", "NOW `a*b` USE"),
        ("one ![two three](x.png) four", "FOUR ![THREE TWO](x.png) ONE"),
        (r"a \* b", r"B \* A"),
        ("a * b", "B * A"),
        ("one\n2 three", "THREE 2 ONE"),
        ("| a b | c |\n|---|---|\n| d \\| e | f |", "| B A | C |\n|---|---|\n| E \\| D | F |"),
        ("one\r\ntwo three\r\n", "THREE\r\nTWO ONE\r\n"),
        ("[a](b 'two words')", "[A](b 'WORDS TWO')"),
    ],
)
def test_written(source: str, expected: str) -> None:
    assert reversed_markdown(source) == expected


def says(words: str) -> object:
    def translate(texts: Sequence[str], wrapped: bool) -> list[Translation]:
        return [copied(words) for _ in texts]

    return translate


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("plain words", "a *b* c", r"a \*b\* c"),
        ("plain words", "[x](y) <b>", r"\[x\](y) \<b\>"),
        ("two * 3 * x", "2 *3* x", r"2 \*3\* x"),
        ("plain words", "# title", r"\# title"),
        ("plain words", "- item", "plain words"),
        ("plain words", "1. item", "plain words"),
        ("# heading", "1. title", "# 1. title"),
        ("| a |\n|---|\n| b |", "x | y", "| x \\| y |\n|---|\n| x \\| y |"),
    ],
)
def test_words_never_become_markdown(source: str, translation: str, expected: str) -> None:
    found = translate_document(source.encode(), "markdown", says(translation))  # type: ignore[arg-type]
    assert found.data.decode() == expected
    assert bool(found.warnings) == (expected == source)


HOSTILE = {
    "stars": "*" * 500_000,
    "brackets": "[" * 20_000,
    "ticks": "`" * 500_000,
    "quotations": ">" * 2_000 + "x",
    "emphasis": "*a _b " * 3_000,
    "links": "[a](" * 5_000,
    "images in images": "![a" * 500 + "](b)" * 500,
    "one word": "a" * 1_000_000,
    "less": "<" * 20_000,
    "lists": "\n".join(" " * 2 * depth + "- x" for depth in range(300)),
    "html": "<div>\nx\n</div>\n\n" * 500,
    "nul": "a\0b **c**",
    "right to left": "\u202e**abc**\u200f",
    "objects": f"{ATOM} a {ATOM}",
    "cut": "a **b [c](d",
    "cut fence": "a\n\n```\ncode",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_come_back(source: str) -> None:
    assert translate_document(source.encode(), "markdown", copy).data == source.encode()
    assert translate_document(source.encode(), "markdown", reverse).data
