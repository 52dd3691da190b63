"""The layout of a plain text: lines, paragraphs, and the marks before them, which are not read and not translated.

    - Bread        * Milk        • Tea        3. Salt        (iv) Oil        ## Drinks        > as you wrote

Line breaks are those of `str.splitlines`: \\n, \\r\\n, \\r, vertical tab, form feed, U+2028, U+2029 and the like.
This is for plain text: Markdown and HTML are read by their own parsers (`formats/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import regex

from regard.text.full_stops import full_stop_rules

MAX_MARKS = 3  # at the beginning of a line: "• 1. a)"

_QUOTE_AND_HEADING = regex.compile(r"(?P<quotes>(?:>\s*+)*+)(?:#{1,6}\s++(?=\S))?")
_LIST_MARK = regex.compile(
    r"""(?:
      [-*+•◦‣▪▫●○■□◆◇►▸➤➢✓✔–—―∙⁃·](?:\s++\[[\ xX]\])?   # a bullet, and the box of a task
    | \(?(?P<number>\d{1,3})(?:\.\d{1,3}){0,3}(?:\)|(?P<stop>\.)(?!\s*+\d{1,2}\.\s?\d{2}))   # 3.  3)  (3)  2.1.
    | \[\d{1,3}\]
    | \((?:\p{Lu}|[a-z]|[ivxlc]{1,6}|[IVXLC]{1,6})\)       # (a)  (B)  (iv)
    | (?:\p{Lu}|[a-z]|[ivxlc]{1,6})\)                      # a)  B)  iv)
    | (?:[ivx]{2,5}|[IVX]{2,5})\.                          # ii.  IV.
    | [a-h]\.(?!\s*+(?:\p{L}{1,2}\.|\d))                   # a.  but not: d. h.  c. 1900
    )[ \t\u00a0\u3000]++(?=\S)
    | ・[ \u3000]*+(?=\S)
    """,
    regex.VERBOSE,
)
_WORD = regex.compile(r"\p{L}++")
_NO_TEXT = regex.compile(r"[\s\-=*_~#+|>–—]*+")  # a rule between paragraphs, an empty quotation


class TextLine(NamedTuple):
    """One line of a text: where it begins, and where its own text begins, after the marks, and ends."""

    start: int
    text: int
    end: int  # without the line break and the white space before it
    quotes: str  # its quote prefix, without spaces: ">>"
    mark: str  # its list mark or heading mark: "-", "##"


def text_lines(text: str, language: str = "en") -> Iterator[TextLine]:
    """Yields the lines with their marks; if a line has no text, its text begins at its end.

    >>> [(line.mark, "> - one\\n> two"[line.text : line.end]) for line in text_lines("> - one\\n> two")]
    [('-', 'one'), ('', 'two')]
    """
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        end = content = start + len(line.rstrip())
        quotes = mark = ""
        if bare:
            before = _QUOTE_AND_HEADING.match(text, end - len(bare), end)
            quotes = "".join(before["quotes"].split())
            content = after_list_marks(text, before.end(), end, language)
            mark = text[before.end("quotes") : content].strip()
        yield TextLine(start, end if _NO_TEXT.fullmatch(bare) else content, end, quotes, mark)
        start += len(line)


def is_list_item(text: str, start: int, language: str = "en") -> bool:
    """Whether only list marks precede this place in its line.

    >>> is_list_item("- two eggs", 2), is_list_item("two eggs", 0), is_list_item("- Well, two eggs", 8)
    (True, False, False)
    """
    line = text[max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1 : start]
    begins = len(line) - len(line.lstrip())
    following = text[start : start + 1]
    return begins < len(line) and after_list_marks(line + following, begins, len(line) + 1, language) == len(line)


def after_list_marks(text: str, start: int, end: int, language: str = "en") -> int:
    """Returns where the text after the list marks begins.

    >>> after_list_marks("(a) Bread", 0, 9), after_list_marks("3. Oktober 1990", 0, 15, "de")
    (4, 0)
    """
    for _ in range(MAX_MARKS):
        found = _LIST_MARK.match(text, start, end)
        if not found:
            break
        if found["stop"] and full_stop_rules(language).ordinals:
            word = _WORD.match(text, found.end(), end)
            if word and word.group().lower() in full_stop_rules(language).months:  # 3. Oktober
                break
        start = found.end()
    return start


def paragraphs(text: str, language: str = "en") -> list[list[TextLine]]:
    """Returns the lines of each paragraph of a wrapped text, split at blank lines, list marks and quote changes.

    A number continues a list, or begins one with 1, a or i: any other number at the beginning of a line is part of its
    sentence ("in the winter of\\n48. Then …").
    """
    found: list[list[TextLine]] = []
    before: TextLine | None = None
    numbered = False  # whether the previous paragraph began with a number
    for line in text_lines(text, language):
        if line.text == line.end:
            before = None
            continue
        is_number = line.mark.strip("()[].").isalnum()
        begins = before is None or line.quotes != before.quotes or before.mark.startswith("#")
        if line.mark and not begins:
            begins = not is_number or numbered or line.mark.strip("().").lower() in ("1", "a", "i")
            if not begins:  # the number is part of the sentence
                line = line._replace(text=text.index(line.mark, line.start), mark="")
        if begins:
            found.append([])
            numbered = is_number
        found[-1].append(line)
        before = line
    return found
