"""The table of formats (`rules.toml`): their names, their suffixes and the modules that read them.

A file without a suffix, or with that of a language (`news.en`) or a corpus (`dev.src`), has lines of text. A file of
any other suffix is refused, because what is not text would be destroyed; the message says what to do instead.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from regard.data.compressed import COMPRESSED, DAMAGED
from regard.errors import InputError
from regard.formats.document import Document, FormatOptions
from regard.text.language import language_code

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


LINES = "lines"  # the name of the format of lines of text, which is not a document
SUFFIX = re.compile(r"\.(?=.*[a-z])[a-z0-9_-]{1,12}")  # other ends of names are no suffixes: "part.001", "Mr. Smith"
LANGUAGE = re.compile(r"[a-z]{2,3}[-_](?:[a-z]{2}|[a-z]{4})")  # with a country or a script: pt_BR, ceb_Latn
MAX_HEAD = 100  # bytes of a file that are compared


class Refusal(NamedTuple):
    """Why a file is not read and what to do instead, and the format that it may have, if any."""

    reason: str
    format: str = ""


def format_of(path: Path, head: bytes = b"") -> str:
    """The format of a file by its suffix; "lines" for lines of text. Raises InputError for a file that is not read,
    by its suffix or its first bytes.

    >>> [format_of(Path(name)) for name in ("notes.TXT", "page.html.gz", "corpus.en", "dev.ceb_Latn", "README")]
    ['text', 'html', 'lines', 'lines', 'lines']
    """
    found = find_format(path, head, FORMATS)
    if isinstance(found, str):
        return found
    other = f', or set format to "{found.format}"' if found.format else ""
    raise InputError(found.reason + other, parameter="format" if other else ())


def format_of_file(path: Path) -> str:
    """The format of a file by its suffix and its first bytes. A pipe is not read."""
    head = b""
    if path.is_file():
        with suppress(OSError, InputError, *DAMAGED), COMPRESSED.get(path.suffix, open)(path, "rb") as file:
            head = file.read(MAX_HEAD)
    return format_of(path, head)


def find_format(path: Path, head: bytes, formats: Mapping[str, DocumentFormat]) -> str | Refusal:
    """The format of a file among these, or "lines", or why it is not read.

    >>> print(find_format(Path("a.rtf"), b"", FORMATS).reason)
    a.rtf cannot be read: it is a Word or RTF file; open it in Word or LibreOffice and save it as DOCX
    """
    suffix, text = suffix_of(path), head.removeprefix(BOM_UTF8).lstrip().lower()
    of_lines = LINES if is_of_lines(suffix) else ""
    found = next((name for name, format in formats.items() if suffix in format.suffixes), of_lines)
    for row in format_rules()["refused"]:
        begins = found in (LINES, "text") and "begins" in row and text.startswith(row["begins"].encode())
        if begins or suffix in row["suffixes"].split():
            return Refusal(f"{path.name} cannot be read: it is {row['kind']}; {row['advice']}", row.get("format", ""))
    if found:
        return found
    known = " ".join(format.suffixes[0] for format in formats.values())
    advice = "save it in one of these formats; if it is plain text, rename it to .txt"
    return Refusal(f"{path.name} cannot be read: its suffix is none of {known}; {advice}", "text")


def is_of_lines(suffix: str) -> bool:
    """Whether files of this suffix, or without one, have lines of text."""
    rules, code = format_rules()["lines"], suffix[1:]
    known = not code or suffix in rules["suffixes"].split() or code in rules["languages"].split()
    return known or language_code(code) is not None or LANGUAGE.fullmatch(code) is not None


def suffix_of(path: Path) -> str:
    """The suffix in lower case, before that of a compression; an empty text if there is none.

    >>> [suffix_of(Path(name)) for name in ("a.TXT.gz", "part.001", "Mr. Smith", "README")]
    ['.txt', '', '', '']
    """
    suffix = (path.with_suffix("") if path.suffix in COMPRESSED else path).suffix.lower()
    return suffix if SUFFIX.fullmatch(suffix) else ""


def reader_of(name: str) -> Reader:
    module, _, function = checked_format(name).read.partition(".")
    return cast(Reader, getattr(import_module(f"regard.formats.{module}"), function))


def checked_format(name: str) -> DocumentFormat:
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"format must be one of {', '.join(FORMATS)}, but is {name!r}{hint}")
    return FORMATS[name]
