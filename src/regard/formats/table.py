"""The table of formats (`rules.toml`): their names, their suffixes and the modules that read them."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from regard.data.compressed import COMPRESSED
from regard.errors import InputError
from regard.formats.document import Document, FormatOptions

Reader = Callable[[bytes, FormatOptions], Document]


class DocumentFormat(NamedTuple):
    """A format. `read` names a function `(data, options) -> Document`, whose module is imported on first use."""

    suffixes: tuple[str, ...]
    read: str
    binary: bool = False  # cannot be shown in a terminal


@cache
def format_rules() -> dict[str, Any]:
    """The tables of `rules.toml`, by format."""
    return tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))


FORMATS: dict[str, DocumentFormat] = {
    name: DocumentFormat(tuple(row["suffixes"].split()), row["read"], row.get("binary", False))
    for name, row in format_rules()["formats"].items()
}


def format_of(path: Path) -> str | None:
    """The name of a file's format by its suffix, or None for an unknown suffix.

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
