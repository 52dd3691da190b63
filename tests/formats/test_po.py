"""Gettext catalogues: what gettext's own msgen writes, and polib as another reader."""

from __future__ import annotations

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS
from formats.fakes import copy
from regard.errors import InputError
from regard.formats.document import DEFAULTS, FormatOptions, PlacedSegment
from regard.formats.po import quoted_lines, read, read_entries
from regard.formats.translate_document import translate_document

FILES = ["game.po", "django-auth.po", "sphinx.pot"]


def filled(data: bytes, doubtful: bool = False, target: str = "") -> str:
    document = read(data, FormatOptions(target=target))
    placed = [PlacedSegment((f"«{segment.text}»",), doubtful=doubtful) for segment in document.segments]
    return document.write(placed).decode()


def test_copier_gives_what_msgen_gives() -> None:
    """`msgen` of GNU gettext fills a catalogue with its own texts, as a translator that copies does."""
    data = (DOCUMENTS / "sphinx.pot").read_bytes()
    assert translate_document(data, "po", copy).data == (DOCUMENTS / "sphinx.msgen.po").read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_only_empty_entries_change(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    before, after = (polib.pofile(text) for text in (data.decode(), filled(data)))
    assert len(before) == len(after)
    assert before.metadata == after.metadata
    for old, new in zip(before, after, strict=True):
        assert (old.msgid, old.msgctxt, old.flags, old.occurrences, old.comment) == (
            (new.msgid, new.msgctxt, new.flags, new.occurrences, new.comment)
        )
        if old.msgstr or old.obsolete or "fuzzy" in old.flags:
            assert old.msgstr == new.msgstr
        elif old.msgid_plural:
            assert new.msgstr_plural == {0: f"«{old.msgid}»", 1: f"«{old.msgid_plural}»"}
        else:
            assert new.msgstr == (old.msgid if old.msgid == "%s: %d" else f"«{old.msgid}»")


@pytest.mark.parametrize("name", FILES)
def test_lines_outside_of_filled_strings_are_the_same_bytes(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    new = filled(data).split("\n")
    for line in data.decode().split("\n"):
        if not line.startswith("msgstr"):
            new.remove(line)
    assert all(line.startswith(("msgstr", '"')) for line in new)


def test_a_full_catalogue_comes_back_byte_for_byte() -> None:
    full = (DOCUMENTS / "sphinx.msgen.po").read_bytes()
    assert read(full, DEFAULTS).segments == []
    assert translate_document(full, "po", copy).data == full
    windows = full.replace(b"\n", b"\r\n")
    assert translate_document(windows, "po", copy).data == windows


def test_windows_line_ends_stay() -> None:
    data = (DOCUMENTS / "game.po").read_bytes().replace(b"\n", b"\r\n")
    new = filled(data)
    assert new.count("\n") == new.count("\r\n")


def test_doubtful_entries_are_fuzzy() -> None:
    new = filled((DOCUMENTS / "game.po").read_bytes(), doubtful=True)
    assert '#, fuzzy, c-format\nmsgid "You have %d point."' in new
    assert '#, fuzzy\nmsgctxt "menu"' in new
    fuzzy = [entry.msgid for entry in polib.pofile(new) if "fuzzy" in entry.flags]
    assert len(fuzzy) == 4
    assert "%s: %d" not in fuzzy  # no words: its own translation


def test_plural_forms_of_the_target() -> None:
    template = (DOCUMENTS / "sphinx.pot").read_bytes()
    japanese = [entry for entry in polib.pofile(filled(template, target="ja")) if entry.msgid_plural]
    assert {len(entry.msgstr_plural) for entry in japanese} == {1}
    polish = [entry for entry in polib.pofile(filled(template, target="pl_PL")) if entry.msgid_plural]
    assert {len(entry.msgstr_plural) for entry in polish} == {3}
    assert all("fuzzy" in entry.flags for entry in polish)  # the source knows two forms


def test_a_template_gets_its_language() -> None:
    header = '"Language: \\n"\n"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n'
    new = filled(f'msgid ""\nmsgstr ""\n{header}\nmsgid "A tree"\nmsgstr ""\n'.encode(), target="fr")
    assert '"Language: fr\\n"\n"Plural-Forms: nplurals=2; plural=(n > 1);\\n"\n' in new


def test_the_header_names_the_encoding() -> None:
    data = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n\nmsgid "café door"\nmsgstr ""\n'
    assert read(data.encode("latin-1"), DEFAULTS).segments[0].text == "café door"
    new = translate_document(data.encode("latin-1"), "po", copy).data
    assert new.decode("latin-1").endswith('msgstr "café door"\n')


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], include_characters="\n\t\r"), max_size=200))
def test_strings_are_written_and_read(text: str) -> None:
    lines = quoted_lines("msgstr", text)
    (entry,) = read_entries(['msgid "x"', *lines])
    assert entry.forms[0].value == text
    assert polib.pofile("\n".join(['msgid "x"', *lines]) + "\n")[0].msgstr == text


@pytest.mark.parametrize(
    "data",
    [
        b'msgid "a"',
        b'msgid "a\nmsgstr ""',
        b"hello",
        b'msgstr "a"\n',
        b'msgid "a"\nmsgid "b"\nmsgstr ""\n',
        b'msgid "a"\nmsgstr ""\n\0',
        b'msgid "\xff\xff"\nmsgstr ""\n',
        b'msgid ""\nmsgstr "Content-Type: text/plain; charset=nonsense\\n"\n',
    ],
)
def test_damaged_catalogues_are_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read(data, DEFAULTS)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_long_strings_take_linear_time() -> None:
    word = b"a" * 5_000_000
    assert translate_document(b'msgid "%b"\nmsgstr ""\n' % word, "po", copy).data.count(word) == 2
    many = b'msgid ""\n' + b'"a word \\n"\n' * 20_000 + b'msgstr ""\n'
    assert translate_document(many, "po", copy).data.count(b"a word") == 40_000
