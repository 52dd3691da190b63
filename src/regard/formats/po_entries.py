"""Gettext catalogues (PO) as entries whose lines keep their places, and strings as gettext writes them.

The grammar is the one of the gettext manual: comments, `msgctxt`, `msgid`, `msgid_plural`, `msgstr`, `msgstr[n]`, each
with one or more quoted strings of C; entries that begin with `#~` are obsolete.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from regard.errors import InputError

KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,2})\])?)[ \t]*+(?=")')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"[ \t\r\f]*+$')
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
ESCAPED = str.maketrans({character: "\\" + letter for letter, character in PLAIN.items()})
WIDTH = 79
# Where gettext may break a line: after spaces, after - / . inside words, and beside ideographs.
IDEOGRAPH = r"[\u2E80-\u9FFF\uAC00-\uD7AF]"
BREAKS = re.compile(rf"(?<=\s)(?=\S)|(?<=[\w/][-/.])(?=[^\W\d_])|(?<={IDEOGRAPH})(?=\w)|(?<=\w)(?={IDEOGRAPH})")


@dataclass
class PoString:
    """One of an entry's strings: its lines, `first` to `last` (excluded)."""

    first: int
    last: int
    parts: list[str] = field(default_factory=list)

    @cached_property
    def value(self) -> str:
        return "".join(self.parts)


@dataclass
class PoEntry:
    """The strings of an entry by their keywords, and its line of flags."""

    strings: dict[str, PoString] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    flags_line: int | None = None
    first: int = 0  # the line of its first keyword

    @property
    def forms(self) -> list[PoString]:
        """The translations, in order."""
        return [string for keyword, string in self.strings.items() if keyword.startswith("msgstr")]


def unquoted(text: str) -> str:
    r"""
    >>> unquoted(r"a\tb\"c\"\x41")
    'a\tb"c"A'
    """

    def character(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8) & 255) if code[0] in "01234567" else PLAIN.get(code, code)

    return ESCAPE.sub(character, text) if "\\" in text else text


def read_entries(lines: Sequence[str]) -> list[PoEntry]:
    """The entries that are not obsolete; lines may end with CR."""
    reader = EntryReader()
    for number, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("#") or not stripped:
            reader.comment(number, stripped)
        else:
            reader.string(number, stripped)
    reader.finish()
    if reader.entry.strings:
        raise bad_line(reader.entry.first, "the last entry has no msgstr: the catalogue is cut off")
    for entry in reader.entries:
        if "msgid" not in entry.strings:
            raise bad_line(entry.first, "an entry has no msgid")
    return reader.entries


class EntryReader:
    """Gathers lines as entries."""

    def __init__(self) -> None:
        self.entries: list[PoEntry] = []
        self.entry, self.keyword = PoEntry(), ""

    def finish(self) -> None:
        """The entry that is open is complete if it has a translation, even an empty one."""
        if self.entry.forms:
            self.entries.append(self.entry)
            self.entry = PoEntry()
        self.keyword = ""

    def comment(self, number: int, line: str) -> None:
        self.finish()
        if line.startswith("#,"):
            self.entry.flags_line = number
            self.entry.flags = [flag.strip() for flag in line[2:].split(",")]

    def string(self, number: int, line: str) -> None:
        found = KEYWORD.match(line)
        if found:
            if found[1] in ("msgctxt", "msgid"):
                self.finish()
            if not self.entry.strings:
                self.entry.first = number
            self.keyword = found[1]
            if self.keyword in self.entry.strings:
                raise bad_line(number, f"a second {self.keyword} in one entry")
            self.entry.strings[self.keyword] = PoString(number, number)
        quoted = QUOTED.match(line, found.end() if found else 0)
        if not self.keyword or quoted is None:
            raise bad_line(number, f"{line[:40]!r} is no line of a catalogue")
        string = self.entry.strings[self.keyword]
        string.parts.append(unquoted(quoted[1]))
        string.last = number + 1


def bad_line(number: int, problem: str) -> InputError:
    return InputError(f"this is no PO catalogue: {problem} (line {number + 1})")


def quoted_lines(keyword: str, text: str, wrap: bool = True) -> list[str]:
    r"""The lines of a string, as gettext breaks them: after each line break, and at spaces before column 80.

    >>> quoted_lines("msgstr", "a\n")
    ['msgstr "a\\n"']
    >>> quoted_lines("msgstr", "a\nb")
    ['msgstr ""', '"a\\n"', '"b"']
    """
    pieces = text.split("\n")
    parts = [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
    made = [line for part in parts for line in (wrapped(part) if wrap else [part.translate(ESCAPED)])]
    if len(made) <= 1 and (not wrap or width(f'{keyword} ""') + sum(map(width, made)) <= WIDTH):
        return [f'{keyword} "{made[0] if made else ""}"']
    return [f'{keyword} ""', *(f'"{line}"' for line in made)]


def wrapped(part: str) -> list[str]:
    """A line of a string in pieces that fit between quotation marks, spaces at their ends."""
    made, line, room = list[str](), list[str](), WIDTH - 2
    used = 0
    for word in BREAKS.split(part):
        written = word.translate(ESCAPED)
        size = width(written)
        if line and used + size > room:
            made.append("".join(line))
            line, used = [], 0
        line.append(written)
        used += size
    return [*made, "".join(line)] if line else made


def width(text: str) -> int:
    """Columns in a terminal."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
