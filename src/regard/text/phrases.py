"""The phrase table: translations of frequent labels, headings, greetings and names of days, countries and units.

    kind    en                fr                  de            es
    ui      log out|sign out  se déconnecter      abmelden      cerrar sesión
    part    page              page                Seite         página

`phrases.tsv` was written for this project. A cell has the written form first, and other forms that are recognized; a
form in parentheses is only written. If a form occurs again, the first row counts. Forms have the case of running text.
Before a number, as in "Page 3", only rows of the kind `part` are used; rows of the kind `formal` address the reader
with vous, Sie or usted; rows of the kind `letter` are used before a full stop, too: "Good morning."

A fragment is translated only if all of it is in the table: as a whole, or each part between separators, as in
"Date / Time" and "Cancel (Esc)". Numbers and addresses between separators are copied: "Phone: 555-0199".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from regard.text.casing import capitalize_first
from regard.text.fragments import spaced
from regard.text.normalize_input import TextEdit
from regard.text.protected_spans import NAME, LabeledSpan

LANGUAGES = ("en", "fr", "de", "es")
PART, FORMAL, LETTER = "part", "formal", "letter"
APART = ("emoji", "symbol", "object")  # protected spans that separate what is beside them
_SEPARATOR = re.compile(r"\s*(?:[/|<>→·•()\[\]:;,+*…=_!?¡¿]|\.{2,}|\.(?=:)|(?<=\s)-(?=\s)|[–—])+\s*")
_SEPARATOR_AT_END = re.compile(_SEPARATOR.pattern + "$")
_NUMBERED = re.compile(r"(.*\S)\s+(?:[IVXLC]+|[A-Z])")  # Chapter IV, Appendix A
_KEY = re.compile(r"[A-Z]|F\d{1,2}")  # Ctrl+S, F5
_SPANISH_MARKS = {"!": "¡", "?": "¿"}
_NO_OPENING_MARKS = str.maketrans("", "", "¡¿")


class PhraseEntry(NamedTuple):
    """An entry of the table: the form in the source language, its translation, and the kind of its row."""

    form: str
    translation: str
    kind: str


class PhraseLookup(NamedTuple):
    """The entries for two languages, by form as it is in the table, or by form in lower case."""

    entries: dict[str, PhraseEntry]
    parts: dict[str, PhraseEntry]  # of the kind `part`

    def translation(self, text: str, informal: bool = False, part: bool = False, ending: str = "") -> str | None:
        """Returns the translation in the case of the text, None if it is not in the table. Before "." only greetings
        and the like are translated, and of single words before "!" or "?" they alone: "Right!" is no label."""
        form, entries = normalized(text), self.parts if part else self.entries
        found = entries.get(form) or entries.get(form.casefold())
        if found is None or (informal and found.kind == FORMAL):
            return None
        if ending == "." and found.kind != LETTER:
            return None
        if ending in ("!", "?") and " " not in form and found.kind not in (FORMAL, LETTER):
            return None
        if text.isupper() and len(form) > 1 and not found.form.isupper():
            return found.translation.upper()
        return capitalize_first(found.translation) if text[0].isupper() else found.translation


def phrase_edits(
    text: str, source: str | None, target: str | None, spans: Sequence[LabeledSpan] = (), informal: bool = False
) -> list[TextEdit] | None:
    """Returns the edits that translate a fragment or a greeting with a full stop, None if a part of it is not in the
    table. The protected `spans` are copied; `informal`: whether rows that address the reader formally are left out.

    >>> phrase_edits("SETTINGS:", "en", "fr"), phrase_edits("Date of my birth", "en", "fr")
    ([(0, 8, 'PARAMÈTRES'), (8, 9, ' :')], None)
    >>> phrase_edits("Good morning.", "en", "fr"), phrase_edits("Read.", "en", "fr")
    ([(0, 12, 'Bonjour')], None)
    """
    if source not in LANGUAGES or target not in LANGUAGES or source == target:
        return None
    table, phrases, marks = phrase_table(source, target), list[TextEdit](), list[TextEdit]()
    is_sentence = text[-1:] == "." != text[-2:-1] and table.translation(text) is None  # no abbreviation of the table
    ending = "." if is_sentence else text.rstrip()[-1:].strip(".")
    for start, end, separates, after_span, before_span in _pieces(text[:-1] if is_sentence else text, spans, table):
        piece = text[start:end]
        if separates:
            marks.append((start, end, spaced(piece.translate(_NO_OPENING_MARKS), target)))
        elif after_span:  # its order may differ: 3 May
            return None
        elif new := table.translation(piece, informal, before_span, ending):
            phrases.append((start, end, new))
        elif (part := _NUMBERED.fullmatch(piece)) and (new := table.translation(part[1], informal, True, ending)):
            phrases.append((start, start + part.end(1), new))
        elif not _KEY.fullmatch(piece):
            return None
    if not phrases:
        return None
    if target == "es" and (closing := re.search(r"[!?](?=\W*$)", text)) and not re.search("[¡¿]", text):
        start, end, new = phrases[0]
        phrases[0] = (start, end, _SPANISH_MARKS[closing[0]] + new)
    return sorted([*phrases, *(edit for edit in marks if edit[2] != text[edit[0] : edit[1]])])


class _Piece(NamedTuple):
    start: int
    end: int
    separates: bool = False  # it has no words
    after_span: bool = False  # only a space is between it and a protected span before it
    before_span: bool = False


def _pieces(text: str, spans: Sequence[LabeledSpan], table: PhraseLookup) -> Iterator[_Piece]:
    """Yields separators and the texts between them and the spans; only one text, if the table has all of it."""
    first = found.end() if (found := _SEPARATOR.match(text)) else 0
    last = found.start() if (found := _SEPARATOR_AT_END.search(text, first)) else len(text)
    if table.translation(text[first:last] or " "):
        yield from (_Piece(0, first, True), _Piece(first, last), _Piece(last, len(text), True))
        return
    at, after_span = 0, False
    parts = [span for span in spans if span.kind != NAME]  # names must be in the table, too
    for span in [*parts, LabeledSpan(len(text), len(text), APART[0])]:
        for separator in [*_SEPARATOR.finditer(text, at, span.start), None]:
            end = separator.start() if separator else span.start
            words = text[at:end].strip(" .") if separator is None else text[at:end].strip()
            if words:
                start = text.index(words, at)
                before_span = separator is None and span.kind not in APART
                yield _Piece(start, start + len(words), False, after_span, before_span)
            if separator:
                yield _Piece(*separator.span(), True)
                at, after_span = separator.end(), False
        at, after_span = span.end, span.kind not in APART


@cache
def phrase_table(source: str, target: str) -> PhraseLookup:
    rows = Path(__file__).with_name("phrases.tsv").read_text(encoding="utf-8").splitlines()
    languages = rows[0].split("\t")
    table = PhraseLookup({}, {})
    for case in (str, str.casefold):  # forms as they are take precedence: de Links, links
        for row in rows[1:]:
            cells = dict(zip(languages, row.split("\t"), strict=True))
            translation = cells[target].split("|")[0].strip("()")
            for form in cells[source].split("|"):
                if not form.startswith("("):
                    entry = PhraseEntry(form, translation, cells["kind"])
                    for entries in (table.entries, table.parts)[: 1 + (entry.kind == PART)]:
                        entries.setdefault(case(normalized(form)), entry)
    return table


def phrase_languages(text: str) -> frozenset[str]:
    """Returns the languages of the table that have the whole text as a form.

    >>> sorted(phrase_languages("Hallo!")), sorted(phrase_languages("Salut")), sorted(phrase_languages("Date:"))
    (['de'], ['fr'], ['en', 'fr'])
    """
    return _languages_by_form().get(normalized(text).strip(" .,:;!?¡¿…").casefold(), frozenset())


@cache
def _languages_by_form() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for source in LANGUAGES:
        for form in phrase_table(source, next(one for one in LANGUAGES if one != source)).entries:
            found[form.casefold()] = found.get(form.casefold(), frozenset()) | {source}
    return found


def normalized(form: str) -> str:
    """
    >>> normalized("Terms\u00a0&  conditions")
    'Terms and conditions'
    """
    return " ".join("and" if word == "&" else word for word in form.replace("’", "'").split())
