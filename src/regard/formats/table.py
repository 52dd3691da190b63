"""The formats: their names, their suffixes and where their readers are."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from regard.data.compressed import COMPRESSED
from regard.errors import InputError
from regard.formats.document import Document, FormatOptions

Reader = Callable[[bytes, FormatOptions], Document]


class DocumentFormat(NamedTuple):
    """`module` has a function `read(data, options) -> Document`; it is imported when a document is read."""

    suffixes: tuple[str, ...]
    module: str
    binary: bool = False  # not for a terminal


FORMATS: dict[str, DocumentFormat] = {
    "text": DocumentFormat((".txt", ".text"), "regard.formats.text"),
    "markdown": DocumentFormat((".md", ".markdown", ".mdown"), "regard.formats.markdown"),
    "html": DocumentFormat((".html", ".htm", ".xhtml", ".xht"), "regard.formats.html"),
    "xml": DocumentFormat((".xml",), "regard.formats.xml"),
    "docx": DocumentFormat((".docx",), "regard.formats.docx", binary=True),
    "odt": DocumentFormat((".odt",), "regard.formats.odt", binary=True),
    "srt": DocumentFormat((".srt",), "regard.formats.srt"),
    "vtt": DocumentFormat((".vtt",), "regard.formats.vtt"),
    "po": DocumentFormat((".po", ".pot"), "regard.formats.po"),
    "json": DocumentFormat((".json", ".arb"), "regard.formats.json"),
    "yaml": DocumentFormat((".yaml", ".yml"), "regard.formats.yaml"),
    "tsv": DocumentFormat((".tsv",), "regard.formats.tsv"),
    "jsonl": DocumentFormat((".jsonl", ".ndjson"), "regard.formats.jsonl"),
    "parquet": DocumentFormat((".parquet", ".pq"), "regard.formats.parquet", binary=True),
}


def format_of(path: Path) -> str | None:
    """The name of the format by the suffix, or None for a suffix of none.

    >>> format_of(Path("notes.TXT")), format_of(Path("page.html.gz")), format_of(Path("corpus.en"))
    ('text', 'html', None)
    """
    suffix = (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix.lower()
    return next((name for name, format in FORMATS.items() if suffix in format.suffixes), None)


def reader_of(name: str) -> Reader:
    return cast(Reader, import_module(checked_format(name).module).read)


def checked_format(name: str) -> DocumentFormat:
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"format must be one of {', '.join(FORMATS)}, but is {name!r}{hint}")
    return FORMATS[name]
