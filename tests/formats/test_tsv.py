"""Tables: chosen columns change, all else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS, shouted
from formats.fakes import copy
from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment
from regard.formats.translate_document import translate_document
from regard.formats.tsv import read

FILES = {"reviews.tsv": ("text", "4"), "dialogue.tsv": ("1",), "windows.tsv": ("English",)}


@pytest.mark.parametrize("name", FILES)
def test_chosen_columns_alone_change(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    options = FormatOptions(columns=FILES[name])
    assert translate_document(data, "tsv", copy, options).data == data
    document = read(data, options)
    new = document.write(shouted(document.segments))
    before, after = ([row.split(b"\t") for row in version.split(b"\n")] for version in (data, new))
    header = data.splitlines()[0].split(b"\t")
    chosen = {header.index(c.encode()) if c.encode() in header else int(c) - 1 for c in options.columns}
    first = 0 if options.columns == ("1",) else 1
    for number, (old, fresh) in enumerate(zip(before, after, strict=True)):
        assert fresh == [
            cell.upper() if column in chosen and number >= first else cell for column, cell in enumerate(old)
        ]


def test_a_table_needs_a_column() -> None:
    data = (DOCUMENTS / "reviews.tsv").read_bytes()
    for columns, said in (
        ((), r"none was chosen; there are: 1 \(id\), 2 \(text\)"),
        (("5",), "'5' is none"),
        (("x",), "'x'"),
    ):
        with pytest.raises(InputError, match=said):
            read(data, FormatOptions(columns=columns))


def test_a_translation_cannot_add_cells() -> None:
    document = read(b"One two\t3\n", FormatOptions(columns=("1",)))
    assert document.write([PlacedSegment(("a\tb\nc",))]).count(b"\t") == 1
    assert document.write([PlacedSegment(("a\tb\nc",))]).count(b"\n") == 1


@given(st.text('ab\t\n\r\ufeff\ufffc"', max_size=60))
def test_any_table_comes_back(text: str) -> None:
    data = ("x\ty\n" + text).encode()
    assert translate_document(data, "tsv", copy, FormatOptions(columns=("y", "1"))).data == data


def test_hostile_tables() -> None:
    for data in (b"a" * 5_000_000, b"a\t" * 300_000, b"a\n" * 10_000, b"a\0b"):
        assert translate_document(data, "tsv", copy, FormatOptions(columns=("1",))).data == data
    with pytest.raises(InputError, match="UTF-8"):
        read(b"\xff\xff", FormatOptions(columns=("1",)))
