"""The lines of a text file, plain or compressed, read as a stream.

A line ends only at "\\n": U+2028, NUL and similar characters are text. Every fault of a file is an InputError that
says where it is and what to do. Glossaries and lists of words to keep are read here too.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO

from regard.data.compressed import COMPRESSED, DAMAGED, damaged
from regard.errors import InputError
from regard.text.glossary import Glossary

BINARY = "looks like a binary file; it must be UTF-8 text, one sentence a line"
MAGIC = {  # first bytes of a file → its kind, what to do about it
    b"\x1f\x8b": ("gzip", 'rename it to end in ".gz"'),
    b"\xfd7zXZ\0": ("xz", 'rename it to end in ".xz"'),
    b"PK\x03\x04": ("a zip archive", "unzip it, or give an office document its own suffix, such as .docx"),
    b"%PDF-": ("a PDF file", "save it as DOCX, or extract its text with pdftotext"),
    b"\xd0\xcf\x11\xe0": ("an old office document", "save it as DOCX, or a spreadsheet as CSV"),
    b"\x89PNG": ("a picture", "extract its text first"),
    b"\xff\xd8\xff": ("a picture", "extract its text first"),
    b"GIF8": ("a picture", "extract its text first"),
    b"BZh": ("bzip2", 'rename it to end in ".bz2"'),
    b"\x28\xb5\x2f\xfd": ("zstd", 'rename it to end in ".zst"'),
    b"\xff\xfe": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
    b"\xfe\xff": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
}


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """Yields the lines of a text file, decompressed by suffix, without "\\n" or "\\r\\n" and a leading BOM."""
    return decode_lines(read_raw_lines(path), str(path), keep_bom)


def read_raw_lines(path: Path) -> Iterator[bytes]:
    """Yields the lines as bytes, with their line ends."""
    empty = True
    with open_text(path, raw=path.suffix in COMPRESSED) as stored:
        try:
            for line in COMPRESSED[path.suffix](stored) if path.suffix in COMPRESSED else stored:
                empty = False
                yield line
        except (OSError, *DAMAGED) as error:
            raise unreadable(path, error) from None
    if empty:
        raise InputError(f"{path} is empty; it must hold one sentence a line")


def unreadable(path: Path, error: Exception) -> InputError:
    if damaged(error):
        return InputError(f"{path} is damaged or not {path.suffix[1:]} ({error}); fetch or compress it again")
    return InputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})")


def decode_lines(stream: Iterable[bytes], name: str, keep_bom: bool = False, first: int = 1) -> Iterator[str]:
    """Decodes the lines of an open stream; `name` names it in errors, and `first` is the number of the first line."""
    for number, raw in enumerate(stream, start=first):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 and not keep_bom else raw
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            if b"\0" in line:
                raise InputError(f"{name} {BINARY}") from None
            raise InputError(
                f"{name}, line {number} is not UTF-8 (byte 0x{error.object[error.start]:02X}); "
                "convert it: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW"
            ) from None


def open_text(path: Path, raw: bool = False) -> IO[bytes]:
    """Opens a file for reading bytes, after checking that it exists and, unless `raw`, that it is text."""
    if not path.exists():
        raise InputError(f"{path} does not exist; {_suggestion(path)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        file = path.open("rb")
        head = b"" if raw else file.peek(4096)[:4096]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    if not_text := foreign_kind(head) or (BINARY if head.count(0) * 10 > len(head) else ""):
        file.close()
        raise InputError(f"{path} {not_text}")
    return file


def foreign_kind(head: bytes) -> str:
    """What a file is, if its first bytes are not those of a text in UTF-8, and what to do about it; else empty.

    >>> foreign_kind(b"%PDF-1.7")
    'is a PDF file, not plain text; save it as DOCX, or extract its text with pdftotext'
    """
    return next(
        (f"is {kind}, not plain text; {remedy}" for m, (kind, remedy) in MAGIC.items() if head.startswith(m)), ""
    )


def _suggestion(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(p.name for p in path.parent.iterdir())
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if close:
        return f'did you mean "{path.parent / close[0]}"?'
    return f"{path.parent}/ holds {', '.join(names[:5])}{' …' * (len(names) > 5)}" if names else "its folder is empty"


def read_glossary(path: str | PathLike[str]) -> Glossary:
    """Reads lines of source, a tab or "=", target; # begins a comment. Duplicates are in its `warnings`."""
    return _read(path, Glossary.parse, 'a term, a tab or "=", and its translation on each line')


def read_keep(path: str | PathLike[str]) -> Glossary:
    """Reads terms that are not translated, one per line."""
    return _read(path, Glossary.parse_keep, "one term a line")


def _read(path: str | PathLike[str], parse: Callable[[Iterable[str], str], Glossary], wanted: str) -> Glossary:
    found = parse(read_lines(Path(path)), str(path))
    if not found:
        raise InputError(f"{path} lists no term; it must have {wanted}")
    return found
