"""Gettext catalogues (PO, POT): entries without a translation are filled, all else stays byte for byte.

Entries that are translated, fuzzy or obsolete stay as they are. An entry that lost a placeholder or is doubtful, or
whose language has more than two plural forms (the source knows two), is marked `fuzzy`, so that gettext does not use it
before someone has looked at it. A template's header gets the target's language and plural forms.
"""

from __future__ import annotations

import codecs
import email
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message as Header

from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.messages import without_placeholders
from regard.formats.po_entries import WIDTH, PoEntry, quoted_lines, read_entries

# Plural-Forms by language, as gettext's msginit writes them; TWO for all others.
TWO, TWO_WITH_ZERO, ONE = "nplurals=2; plural=(n != 1);", "nplurals=2; plural=(n > 1);", "nplurals=1; plural=0;"
SLAVIC = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
PLURAL_FORMS = {
    **dict.fromkeys(("fr", "pt_BR", "tr", "oc"), TWO_WITH_ZERO),
    **dict.fromkeys(("ja", "ko", "zh", "vi", "th", "id", "ms"), ONE),
    **dict.fromkeys(("ru", "uk", "be", "hr", "sr", "bs"), SLAVIC),
    **dict.fromkeys(("cs", "sk"), "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"),
    "pl": "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
}
COUNT = re.compile(r"nplurals\s*+=\s*+(\d{1,2})")

Edits = dict[int, tuple[int, list[str]]]  # first line → one after the last, the new lines


@dataclass
class Filling:
    """An entry that is to be filled: for each keyword the text, or the number of the segment that gives it."""

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
        wrap = all(len(line) <= WIDTH + 2 for line in self.lines if line.startswith('"') and " " in line)
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
    # The header names the encoding and is itself in it; its words are ASCII.
    readable = data.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    charset = header_of(read_entries(readable.split("\n"))).get_content_charset()
    source = decode(data, None if charset in (None, "charset") else charset)
    lines = source.text.split("\n")
    entries = read_entries(lines)
    plurals = PLURAL_FORMS.get(options.target, PLURAL_FORMS.get(re.split("[-_]", options.target)[0], TWO))
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
    """What each form is filled with; adds the segments. A text without words is its own translation."""

    def filled(keyword: str) -> int | str:
        string = entry.strings[keyword]
        if not has_letter(without_placeholders(string.value)):
            return string.value
        segments.append(Segment(string.value, place=f"line {string.first + 1}"))
        return len(segments) - 1

    if "msgid_plural" not in entry.strings:
        return {entry_keyword(entry): filled("msgid")}
    one = [filled("msgid")] if forms > 1 else []
    many = filled("msgid_plural")
    return {f"msgstr[{form}]": text for form, text in enumerate([*one, *[many] * (max(forms, 1) - len(one))])}


def entry_keyword(entry: PoEntry) -> str:
    return next(keyword for keyword in entry.strings if keyword.startswith("msgstr"))


def header_of(entries: Sequence[PoEntry]) -> Header:
    """The fields of the catalogue's header: the translation of the empty string."""
    first = entries[0] if entries and entries[0].strings["msgid"].value == "" else None
    return email.message_from_string(first.forms[0].value if first else "")


def header_edits(entries: Sequence[PoEntry], lines: Sequence[str], target: str, plurals: str) -> Edits:
    """The lines of a template's header that say nothing yet: the language and its plural forms."""
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
