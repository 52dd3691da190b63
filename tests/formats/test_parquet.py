"""Parquet: chosen columns change, all else stays; nulls, types, compression, and what is refused."""

from __future__ import annotations

import functools
import io
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bulk.fakes import Shouting
from formats.fakes import copy
from regard.bulk.translate_file import FileJob, translate_file
from regard.errors import InputError
from regard.formats import parquet
from regard.formats.document import FormatOptions
from regard.formats.translate_document import translate_document

TEXTS = ["one", None, "", "42", "deux é", "three"] * 5


@functools.cache  # pyarrow imports pandas for its first array
def table() -> pa.Table:
    return pa.table(
        {
            "id": pa.array(range(30)),
            "text": pa.array(TEXTS),
            "large": pa.array(TEXTS, pa.large_string()),
            "kind": pa.array(TEXTS).dictionary_encode(),
            "list": pa.array([["a"], None] * 15),
        },
        metadata={"made": "here"},
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("regard.bulk.translate_file.MAX_CHUNK_LINES", 4)
    pq.write_table(table(), tmp_path / "a.parquet", row_group_size=7, compression="zstd")
    return tmp_path / "a.parquet"


def shouted(column: str) -> list[str | None]:
    return [text and text.upper() for text in table().column(column).to_pylist()]


def test_chosen_columns_alone_change(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 10)
    out = tmp_path / "out.parquet"
    tally = translate_file(Shouting(), FileJob(file, "parquet", ("text", "large", "kind")), out)  # type: ignore[arg-type]
    new = pq.read_table(out)
    assert new.schema.equals(pq.read_schema(file), check_metadata=True)
    for column in ("text", "large", "kind"):
        assert new.column(column).to_pylist() == shouted(column)
    for column in ("id", "list"):
        assert new.column(column).to_pylist() == table().column(column).to_pylist()
    about = pq.ParquetFile(out).metadata
    assert about.row_group(0).column(1).compression == "ZSTD"
    assert about.num_row_groups == 3  # of 12, 12 and 6 rows
    assert (tally.texts, tally.kept) == (30, 15)


@given(st.lists(st.none() | st.text(max_size=5), max_size=20))
def test_any_column_comes_back(texts: list[str | None]) -> None:
    sink = io.BytesIO()
    table = pa.table({"text": pa.array(texts, pa.string())})
    pq.write_table(table, sink)
    found = translate_document(sink.getvalue(), "parquet", copy, FormatOptions(columns=("text",)))
    assert pq.read_table(io.BytesIO(found.data)).equals(table)


def test_no_rows(file: Path, tmp_path: Path) -> None:
    pq.write_table(table().slice(0, 0), file)
    translate_file(Shouting(), FileJob(file, "parquet", ("text",)), tmp_path / "out")  # type: ignore[arg-type]
    assert pq.read_table(tmp_path / "out").num_rows == 0


@pytest.mark.parametrize(
    ("columns", "said"),
    [((), "none was chosen; there are: text, large, kind"), (("id",), "'id' is none"), (("x",), "'x' is none")],
)
def test_a_table_needs_columns_of_text(file: Path, columns: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        translate_file(Shouting(), FileJob(file, "parquet", columns), file.with_name("out"))  # type: ignore[arg-type]
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_without_its_package(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'needs the package pyarrow; install it: pip install "regard\[parquet\]"'):
        parquet.survey(file, ("text",))
