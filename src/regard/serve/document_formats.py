"""The formats of files that may be uploaded, by their suffixes."""

from __future__ import annotations

from regard.formats.table import FORMATS
from regard.serve.problems import ServeError

# Parquet is read by a large C++ library that was not made for files of strangers.
UPLOADED = {name: format for name, format in FORMATS.items() if name != "parquet"}
SUFFIXES = tuple(suffix for format in UPLOADED.values() for suffix in format.suffixes)


def suffix_of(name: str) -> str:
    """
    >>> suffix_of("../a.b/Notes.DOCX"), suffix_of("README"), suffix_of("page.html.gz")
    ('.docx', '', '.gz')
    """
    _stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and "/" not in suffix and "\\" not in suffix else ""


def uploaded_format(name: str) -> str:
    """The format of a file by the name that the client gave it."""
    suffix = suffix_of(name)
    for format, known in UPLOADED.items():
        if suffix in known.suffixes:
            return format
    raise ServeError(400, f"Invalid request: file format not supported; there are {' '.join(SUFFIXES)}", field="file")
