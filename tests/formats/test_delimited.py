"""Tables: prose, or chosen columns, changes; all else stays byte for byte, and other readers find the same cells."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.echo import DOCUMENTS, shouted
from formats.fakes import copy
from regard.errors import InputError
from regard.formats.delimited import TSV, csv_style, joined_rows, read_csv, read_tsv, table_style
from regard.formats.document import DEFAULTS, FormatOptions, PlacedSegment
from regard.formats.translate_document import translate_document

FILES = {"reviews.tsv": ("text", "4"), "dialogue.tsv": ("1",), "windows.tsv": ("English",)}


@pytest.mark.parametrize("name", FILES)
def test_chosen_columns_alone_change(name: str) -> None:
    data = (DOCUMENTS / name).read_bytes()
    options = FormatOptions(columns=FILES[name])
    assert translate_document(data, "tsv", copy, options).data == data
    document = read_tsv(data, options)
    new = document.write(shouted(document.segments))
    before, after = ([row.split(b"\t") for row in version.split(b"\n")] for version in (data, new))
    header = data.splitlines()[0].split(b"\t")
    chosen = {header.index(c.encode()) if c.encode() in header else int(c) - 1 for c in options.columns}
    first = 0 if options.columns == ("1",) else 1
    for number, (old, fresh) in enumerate(zip(before, after, strict=True)):
        assert fresh == [
            cell.upper() if column in chosen and number >= first else cell for column, cell in enumerate(old)
        ]


def test_a_column_must_exist() -> None:
    data = (DOCUMENTS / "reviews.tsv").read_bytes()
    for column, said in (("5", r"'5' is none of them; there are: 1 \(id\), 2 \(text\)"), ("x", "'x'")):
        with pytest.raises(InputError, match=said):
            read_tsv(data, FormatOptions(columns=(column,)))


def test_a_translation_cannot_add_cells() -> None:
    document = read_tsv(b"One two\t3\n", FormatOptions(columns=("1",)))
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
        read_tsv(b"\xff\xff", FormatOptions(columns=("1",)))


# ── CSV ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

SHOP = (
    "\ufeffid;Product name;price;note\r\n"
    'A-1;"Red ""magic"" mat; large";12,50;created_at\r\n'
    'A-2;The cat sleeps.;;"Two\r\nlines, one cell"\r\n'
    '"3";"";https://a.org/x;2024-05-01'
)


def shout(data: bytes, columns: tuple[str, ...] = ()) -> bytes:
    document = read_csv(data, FormatOptions(columns=columns))
    return document.write(shouted(document.segments))


def test_prose_alone_changes() -> None:
    assert shout(SHOP.encode()).decode() == (
        "\ufeffid;PRODUCT NAME;price;note\r\n"
        'A-1;"RED ""MAGIC"" MAT; LARGE";12,50;created_at\r\n'
        'A-2;THE CAT SLEEPS.;;"TWO\r\nLINES, ONE CELL"\r\n'
        '"3";"";https://a.org/x;2024-05-01'
    )
    document = read_csv(SHOP.encode(), DEFAULTS)
    assert document.segments[1].text == 'Red "magic" mat; large'
    assert [segment.place for segment in document.segments[2:]] == ["row 3, column 2", "row 3, column 4"]
    assert document.warnings == ("7 cells are not prose and were left unchanged",)


def test_a_named_column_has_a_header_and_changes_in_full() -> None:
    table = b'id,"the, name",other\n1,cat,The dog.\n2,7,The mouse.\n'
    assert shout(table, ("the, name",)) == b'id,"the, name",other\n1,CAT,The dog.\n2,7,The mouse.\n'
    assert shout(table, ("2",)) == b'id,"THE, NAME",other\n1,CAT,The dog.\n2,7,The mouse.\n'


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("id,text\n1,a; b; c\n", ","),
        ("id;text\n1;One, two, three\n", ";"),
        ("1;Eins, zwei und drei, vier\n2;Kurz\n", ";"),
        ("id\ttext, long\n1\tx\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('"a;b;c",d\n"x",y\n', ","),
        ("text\nOne line\n", ","),
        ("", ","),
        ("sep=;\na;b;c\n", ";"),
    ],
)
def test_the_delimiter_is_found(text: str, delimiter: str) -> None:
    assert csv_style(text).delimiter == delimiter


def test_a_translation_is_quoted_where_it_must_be() -> None:
    document = read_csv(b'The cat,1\nThe dog,2\n"The mat",3\n', DEFAULTS)
    texts = ["Le chat, lui", 'Le "chien"\nnoir', 'Le "tapis"']
    new = document.write([PlacedSegment((text,)) for text in texts])
    assert new == b'"Le chat, lui",1\n"Le ""chien""\nnoir",2\n"Le ""tapis""",3\n'
    assert [row[0] for row in csv.reader(io.StringIO(new.decode(), newline=""))] == texts


def test_a_quoted_cell_of_a_tab_separated_table() -> None:
    data = b'"He said ""yes"" twice."\t"Hello," she said.\n"Not closed.\tIt is over."\n'
    document = read_tsv(data, DEFAULTS)
    assert [segment.text for segment in document.segments] == [
        'He said "yes" twice.', '"Hello," she said.', '"Not closed.', 'It is over."',
    ]  # fmt: skip
    assert document.write(shouted(document.segments)) == data.upper()


@pytest.mark.parametrize("data", [b'a,b\n1,"never\nclosed', b'"', b'a,"b""'])
def test_a_quotation_mark_that_is_never_closed(data: bytes) -> None:
    with pytest.raises(InputError, match=r"row \d has a cell that begins with a quotation mark and never ends"):
        read_csv(data, DEFAULTS)


def test_text_after_a_closing_quotation_mark_stays() -> None:
    assert shout(b'"The, cat" and,The dog.\n') == b'"The, cat" and,THE DOG.\n'


TABLES = st.lists(
    st.lists(st.text('aB ,;"\t\n|é1', max_size=8), min_size=3, max_size=3).filter(any), min_size=1, max_size=6
)


@given(TABLES, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_other_readers_find_the_same_cells(rows: list[list[str]], delimiter: str, end: str, quote_all: bool) -> None:
    """A table as Python writes it: a copy has the same bytes, and after a translation Python reads each cell as it was,
    or in capitals."""
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows([["x", "y", "z"], *rows])
    data = out.getvalue().encode()
    assert translate_document(data, "csv", copy).data == data
    new = list(csv.reader(io.StringIO(shout(data, ("y",)).decode(), newline=""), delimiter=delimiter))
    assert new == [["x", "y", "z"], *([x, y.upper(), z] for x, y, z in rows)]


@given(TABLES)
def test_rows_of_several_lines_are_joined(rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([["x", "y", "z"], *rows])
    lines = list(io.BytesIO(out.getvalue().encode()))
    joined = list(joined_rows(lines, table_style("csv", lines)))
    assert b"".join(joined) == out.getvalue().encode()
    assert [next(csv.reader(io.StringIO(row.decode(), newline=""))) for row in joined] == [["x", "y", "z"], *rows]


def test_lines_of_a_tab_separated_table_are_its_rows() -> None:
    assert list(joined_rows([b'"a\n', b'b"\n'], TSV)) == [b'"a\n', b'b"\n']
    with pytest.raises(InputError, match="row 2 "):
        list(joined_rows([b"a,b\n", b'1,"b\n', b"2,c\n"], csv_style("a,b")))


def test_pandas_reads_the_same_table() -> None:
    pandas = pytest.importorskip("pandas")
    data = SHOP.encode()
    new = shout(data, ("Product name", "note"))
    before, after = (
        pandas.read_csv(io.BytesIO(table), sep=";", dtype=str, keep_default_na=False) for table in (data, new)
    )
    assert after.shape == before.shape == (3, 4)
    assert list(after.columns) == list(before.columns)
    assert after[["id", "price"]].equals(before[["id", "price"]])
    assert list(after["Product name"]) == [text.upper() for text in before["Product name"]]
