"""Gettext catalogues (PO, POT): entries without a translation are filled; all else stays unchanged, byte for byte.

Entries that are translated, fuzzy or obsolete stay unchanged. An entry that lost a placeholder or is marked, or whose
language has more than two plural forms (the source has two), is marked `fuzzy`, so that gettext does not use it before
someone has checked it. A template's header gets the target's language and plural forms.

The grammar is that of the gettext manual: comments, `msgctxt`, `msgid`, `msgid_plural`, `msgstr`, `msgstr[n]`, each
with one or more quoted C strings; entries that begin with `#~` are obsolete.
"""

from __future__ import annotations

import codecs
import email
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message as Header
from functools import cached_property

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.messages import without_placeholders
from regard.formats.table import format_rules

KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,2})\])?)[ \t]*+(?=")')
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"[ \t\r\f]*+$')
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
ESCAPED = str.maketrans({character: "\\" + letter for letter, character in PLAIN.items()})
LINE_WIDTH = 79
# Positions where gettext may break a line: after spaces, after - / . inside words, and beside ideographs.
IDEOGRAPH = r"[\u2E80-\u9FFF\uAC00-\uD7AF]"
BREAKS = re.compile(rf"(?<=\s)(?=\S)|(?<=[\w/][-/.])(?=[^\W\d_])|(?<={IDEOGRAPH})(?=\w)|(?<=\w)(?={IDEOGRAPH})")


@dataclass
class PoString:
    """One string of an entry: lines `first` to `last` (excluded)."""

    first: int
    last: int
    parts: list[str] = field(default_factory=list)

    @cached_property
    def value(self) -> str:
        return "".join(self.parts)


@dataclass
class PoEntry:
    """The strings of an entry by keyword, and its line of flags."""

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
    """Reads the entries that are not obsolete; lines may end with CR."""
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
    """Collects lines into entries."""

    def __init__(self) -> None:
        self.entries: list[PoEntry] = []
        self.entry, self.keyword = PoEntry(), ""

    def finish(self) -> None:
        """Ends the open entry, which is complete if it has a translation, even an empty one."""
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
    return InputError(f"this is not a PO catalogue: {problem} (line {number + 1})")


def quoted_lines(keyword: str, text: str, wrap: bool = True) -> list[str]:
    r"""The lines of a string, broken as gettext does: after each line break, and at spaces before column 80.

    >>> quoted_lines("msgstr", "a\n")
    ['msgstr "a\\n"']
    >>> quoted_lines("msgstr", "a\nb")
    ['msgstr ""', '"a\\n"', '"b"']
    """
    pieces = text.split("\n")
    parts = [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
    made = [line for part in parts for line in (wrapped(part) if wrap else [part.translate(ESCAPED)])]
    if len(made) <= 1 and (not wrap or width(f'{keyword} ""') + sum(map(width, made)) <= LINE_WIDTH):
        return [f'{keyword} "{made[0] if made else ""}"']
    return [f'{keyword} ""', *(f'"{line}"' for line in made)]


def wrapped(part: str) -> list[str]:
    """Splits a line of a string into pieces that fit between quotation marks; spaces stay at their ends."""
    made, line, room = list[str](), list[str](), LINE_WIDTH - 2
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
    """The width in terminal columns."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


TWO_FORMS = "nplurals=2; plural=(n != 1);"  # for languages that `rules.toml` does not list
PLURAL_FORMS = {code: form for codes, form in format_rules()["plural_forms"].items() for code in codes.split()}
COUNT = re.compile(r"nplurals\s*+=\s*+(\d{1,2})")

Edits = dict[int, tuple[int, list[str]]]  # first line → the line after the last one, and the new lines


@dataclass
class Filling:
    """An entry to fill: for each keyword the text, or the index of the segment whose translation is the text."""

    entry: PoEntry
    texts: dict[str, int | str]


@dataclass
class Catalogue:
    source: Encoded
    lines: list[str]  # without "\n"
    fillings: list[Filling]
    segments: list[Segment]
    warnings: tuple[str, ...]
    header: Edits

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        edits = dict(self.header)
        wrap = all(len(line) <= LINE_WIDTH + 2 for line in self.lines if line.startswith('"') and " " in line)
        for filling in self.fillings:
            forms = filling.entry.forms
            texts = {
                keyword: text if isinstance(text, str) else translated[text].text
                for keyword, text in filling.texts.items()
            }
            new = [line for keyword, text in texts.items() for line in quoted_lines(keyword, text, wrap)]
            edits[forms[0].first] = (forms[-1].last, new)
            used = {number for number in filling.texts.values() if isinstance(number, int)}
            if len(texts) > 2 or any(translated[number].doubtful for number in used):
                edits |= self.marked_fuzzy(filling.entry)
        return self.source.encode("\n".join(self.edited(edits)))

    def edited(self, edits: Edits) -> list[str]:
        ending = "\r" if self.lines[0].endswith("\r") else ""
        written: list[str] = []
        number = 0
        while number < len(self.lines):
            if number in edits:
                number, new = edits[number]
                written += [line.removesuffix("\r") + ending for line in new]
            else:
                written.append(self.lines[number])
                number += 1
        return written

    def marked_fuzzy(self, entry: PoEntry) -> Edits:
        if entry.flags_line is not None:
            return {entry.flags_line: (entry.flags_line + 1, [", ".join(["#, fuzzy", *entry.flags])])}
        return {entry.first: (entry.first + 1, ["#, fuzzy", self.lines[entry.first]])}


def read(data: bytes, options: FormatOptions) -> Catalogue:
    # The header names the encoding and is itself encoded in it; its words are ASCII.
    readable = data.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    charset = header_of(read_entries(readable.split("\n"))).get_content_charset()
    source = decode(data, None if charset in (None, "charset") else charset)
    lines = source.text.split("\n")
    entries = read_entries(lines)
    plurals = PLURAL_FORMS.get(options.target, PLURAL_FORMS.get(re.split("[-_]", options.target)[0], TWO_FORMS))
    stated = COUNT.search(header_of(entries).get("Plural-Forms", "")) or COUNT.search(plurals)
    assert stated is not None
    segments: list[Segment] = []
    fillings: list[Filling] = []
    skipped = 0
    for entry in entries:
        filled = [bool(form.value) for form in entry.forms]
        if entry.strings["msgid"].value == "" or all(filled):
            continue
        if "fuzzy" in entry.flags or any(filled):
            skipped += 1
        else:
            fillings.append(Filling(entry, texts_of(entry, int(stated[1]), segments)))
    warnings = (f"fuzzy or half-translated entries left as they are: {skipped}",) if skipped else ()
    return Catalogue(source, lines, fillings, segments, warnings, header_edits(entries, lines, options.target, plurals))


def texts_of(entry: PoEntry, forms: int, segments: list[Segment]) -> dict[str, int | str]:
    """The content of each form, with the segments added to `segments`. A text without words is its own translation."""

    def filled(keyword: str) -> int | str:
        string = entry.strings[keyword]
        if not has_letter(without_placeholders(string.value)):
            return string.value
        segments.append(Segment(string.value, place=f"line {string.first + 1}"))
        return len(segments) - 1

    if "msgid_plural" not in entry.strings:
        return {next(keyword for keyword in entry.strings if keyword.startswith("msgstr")): filled("msgid")}
    one = [filled("msgid")] if forms > 1 else []
    many = filled("msgid_plural")
    return {f"msgstr[{form}]": text for form, text in enumerate([*one, *[many] * (max(forms, 1) - len(one))])}


def header_of(entries: Sequence[PoEntry]) -> Header:
    """The fields of the catalogue's header, which is the translation of the empty string."""
    first = entries[0] if entries and entries[0].strings["msgid"].value == "" else None
    return email.message_from_string(first.forms[0].value if first else "")


def header_edits(entries: Sequence[PoEntry], lines: Sequence[str], target: str, plurals: str) -> Edits:
    """Edits that fill in the empty fields of a template's header: the language and its plural forms."""
    if not target or not entries or entries[0].strings["msgid"].value != "":
        return {}
    edits: Edits = {}
    form = entries[0].forms[0]
    for number in range(form.first, form.last):
        line = lines[number].strip()
        if line.rstrip('\\n" ') == '"Language:':
            edits[number] = (number + 1, [f'"Language: {target}\\n"'])
        elif line.startswith('"Plural-Forms:') and "INTEGER" in line:
            edits[number] = (number + 1, [f'"Plural-Forms: {plurals}\\n"'])
    return edits
