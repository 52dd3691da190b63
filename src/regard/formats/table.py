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
    """`read` names a function `(data, options) -> Document`, whose module is imported when a document is read."""

    suffixes: tuple[str, ...]
    read: str
    binary: bool = False  # not for a terminal


FORMATS: dict[str, DocumentFormat] = {
    "text": DocumentFormat((".txt", ".text"), "text.read"),
    "markdown": DocumentFormat((".md", ".markdown", ".mdown"), "markdown.read"),
    "html": DocumentFormat((".html", ".htm", ".xhtml", ".xht"), "html.read"),
    "xml": DocumentFormat((".xml",), "xml.read"),
    "docx": DocumentFormat((".docx",), "docx.read", binary=True),
    "odt": DocumentFormat((".odt",), "odt.read", binary=True),
    "srt": DocumentFormat((".srt",), "subtitles.read_srt"),
    "vtt": DocumentFormat((".vtt",), "subtitles.read_vtt"),
    "po": DocumentFormat((".po", ".pot"), "po.read"),
    "json": DocumentFormat((".json", ".arb"), "json.read"),
    "yaml": DocumentFormat((".yaml", ".yml"), "yaml.read"),
    "tsv": DocumentFormat((".tsv",), "tsv.read"),
    "jsonl": DocumentFormat((".jsonl", ".ndjson"), "json.read_json_lines"),
    "parquet": DocumentFormat((".parquet", ".pq"), "parquet.read", binary=True),
}


def format_of(path: Path) -> str | None:
    """The name of the format by the suffix, or None for a suffix of none.

    >>> format_of(Path("notes.TXT")), format_of(Path("page.html.gz")), format_of(Path("corpus.en"))
    ('text', 'html', None)
    """
    suffix = (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix.lower()
    return next((name for name, format in FORMATS.items() if suffix in format.suffixes), None)


def reader_of(name: str) -> Reader:
    module, _, function = checked_format(name).read.partition(".")
    return cast(Reader, getattr(import_module(f"regard.formats.{module}"), function))


def checked_format(name: str) -> DocumentFormat:
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"format must be one of {', '.join(FORMATS)}, but is {name!r}{hint}")
    return FORMATS[name]
