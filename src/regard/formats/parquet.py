"""Parquet files, read by pyarrow: texts of the chosen columns are translated, everything else stays unchanged.

A document is a table of rows, from a whole file or a chunk of one. Nulls and texts without a letter stay unchanged. A
chunk is written as an Arrow stream; `join_chunks` makes a Parquet file of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.flow import has_letter
from regard.formats.text import kept_warning

ROW_GROUP_ROWS = 1 << 16  # maximum rows of a row group that is written
ROW_GROUP_BYTES = 64 << 20  # size in bytes from which a row group takes no further rows


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError('Parquet needs the package pyarrow; install it: pip install "regard[parquet]"') from None
    return pyarrow


class RowsDocument:
    """Rows of a table with some columns of text."""

    def __init__(self, rows: Any, columns: Sequence[str], first_row: int = 1) -> None:
        self.rows, self.columns = rows, columns
        self.warnings: Sequence[str] = ()
        self.segments: list[Segment] = []
        self.kept = 0
        self._places: list[tuple[str, int]] = []  # column and row of each segment
        for column in columns:
            for row, text in enumerate(rows.column(column).to_pylist()):
                if text and has_letter(text):
                    self.segments.append(Segment(text, place=f"row {first_row + row}, column {column}"))
                    self._places.append((column, row))
                else:
                    self.kept += bool(text)

    def translated(self, placed: Sequence[PlacedSegment]) -> Any:
        pyarrow, rows = _pyarrow(), self.rows
        new = {column: rows.column(column).to_pylist() for column in self.columns}
        for (column, row), translation in zip(self._places, placed, strict=True):
            if not translation.unchanged:
                new[column][row] = translation.text
        for column, texts in new.items():
            at = rows.schema.get_field_index(column)
            field = rows.schema.field(at)
            kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
            rows = rows.set_column(at, field, pyarrow.chunked_array([pyarrow.array(texts, kind)]).cast(field.type))
        return rows

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        """Returns the rows as an Arrow stream."""
        pyarrow, rows = _pyarrow(), self.translated(translated)
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return bytes(sink.getvalue())


class ParquetDocument(RowsDocument):
    """A whole file."""

    def __init__(self, rows: Any, columns: Sequence[str], codec: str) -> None:
        super().__init__(rows, columns)
        self.codec = codec
        self.warnings = kept_warning(self.kept, "value")

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        pyarrow = _pyarrow()
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(
            self.translated(translated), sink, compression=self.codec, row_group_size=ROW_GROUP_ROWS
        )
        return bytes(sink.getvalue())


def read(data: bytes, options: FormatOptions) -> ParquetDocument:
    file = _opened(_pyarrow().BufferReader(data), "the document")
    columns = chosen_columns(file.schema_arrow, options.columns)
    return ParquetDocument(file.read(), columns, codec_of(file))


def _opened(source: Any, name: str) -> Any:
    pyarrow = _pyarrow()
    try:
        return pyarrow.parquet.ParquetFile(source)
    except (OSError, pyarrow.ArrowException) as problem:
        raise InputError(f"{name} is no Parquet file that can be read: {str(problem).partition(chr(10))[0]}") from None


def chosen_columns(schema: Any, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the columns; raises if they do not contain text."""
    texts = [field.name for field in schema if _is_text(field.type)]
    for column in columns or ("",):
        if column not in texts:
            given = f"{column!r} is none of them" if column else "none was chosen"
            shown = ", ".join(texts[:20]) or "none"
            raise InputError(f"columns must name columns of text, but {given}; there are: {shown}")
    return columns


def _is_text(kind: Any) -> bool:
    types = _pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def codec_of(file: Any) -> str:
    """The compression of the file, taken from its first column."""
    about = file.metadata
    if not (about.num_row_groups and about.num_columns):
        return "snappy"
    codec = str(about.row_group(0).column(0).compression).lower()
    return "none" if codec == "uncompressed" else codec


def survey(path: Path, columns: tuple[str, ...]) -> int:
    """Checks the columns of a file and returns its number of rows."""
    with _opened(path, str(path)) as file:
        chosen_columns(file.schema_arrow, columns)
        return int(file.metadata.num_rows)


def row_chunks(path: Path, rows: int) -> Iterator[Any]:
    """Yields the rows of a file in tables of at most `rows`."""
    pyarrow = _pyarrow()
    with _opened(path, str(path)) as file:
        try:
            for batch in file.iter_batches(batch_size=rows):
                yield pyarrow.Table.from_batches([batch])
        except (OSError, pyarrow.ArrowException) as problem:
            raise InputError(f"{path} is damaged: {str(problem).partition(chr(10))[0]}") from None


def join_chunks(written: Iterable[bytes], like: Path, out: Path) -> None:
    """Writes a Parquet file from the results of `RowsDocument.write` for each chunk of the file `like`, in order."""
    pyarrow = _pyarrow()
    with _opened(like, str(like)) as file:
        schema, codec = file.schema_arrow, codec_of(file)
    with pyarrow.parquet.ParquetWriter(out, schema, compression=codec) as writer:
        held: list[Any] = []
        for data in written:
            with pyarrow.ipc.open_stream(data) as stream:
                held.append(stream.read_all())
            if sum(map(len, held)) >= ROW_GROUP_ROWS or sum(table.nbytes for table in held) >= ROW_GROUP_BYTES:
                writer.write_table(pyarrow.concat_tables(held))
                held = []
        if held:
            writer.write_table(pyarrow.concat_tables(held))
