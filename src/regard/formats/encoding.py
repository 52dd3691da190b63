"""Decoding and encoding of documents: UTF-8, UTF-16 with a byte-order mark, and encodings that a document names."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.data.text_files import BINARY, foreign_kind
from regard.errors import InputError

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Encoded(NamedTuple):
    """A text and its encoding; a byte-order mark is not part of the text."""

    text: str
    encoding: str
    mark: bytes

    def encode(self, text: str, errors: str = "strict") -> bytes:
        """Encodes a text. `errors` is as for `str.encode`, for characters that the encoding does not have."""
        try:
            return self.mark + text.encode(self.encoding, errors)
        except UnicodeEncodeError as problem:
            lacking = text[problem.start]
            raise InputError(
                f"the document is in {self.encoding}, which has no {lacking!r}; convert it to UTF-8 first"
            ) from None


def decode(data: bytes, named: str | None = None, first_line: int = 1) -> Encoded:
    """Decodes by the byte-order mark, else by the encoding that the document names, else as UTF-8. `first_line` is the
    number of the first line, for a part of a document.

    >>> decode(b"caf\\xc3\\xa9").text
    'café'
    """
    mark, encoding = next(((mark, name) for mark, name in MARKS if data.startswith(mark)), (b"", named or "utf-8"))
    if not mark and first_line == 1 and (kind := foreign_kind(data[:16])):
        raise InputError(f"the document {kind}")
    try:
        codec = codecs.lookup(encoding)
        if not codec._is_text_encoding:
            raise LookupError
        text = data[len(mark) :].decode(encoding)
        if text.encode(encoding) != data[len(mark) :]:
            raise InputError(f"the document is in {encoding}, in a form that cannot be kept; convert it to UTF-8 first")
    except LookupError:
        raise InputError(
            f"the document names the encoding {encoding!r}, which is unknown; convert it to UTF-8"
        ) from None
    except UnicodeDecodeError as problem:
        if b"\0" in data and not mark:
            raise InputError(f"the document {BINARY}") from None
        line = data.count(b"\n", 0, len(mark) + problem.start) + first_line
        raise InputError(f"line {line} of the document is not {encoding.upper()}; convert it to UTF-8 first") from None
    except UnicodeEncodeError:
        raise InputError(f"the document is in {encoding}, in a form that cannot be kept; convert it to UTF-8") from None
    return Encoded(text, encoding, mark)


CONTINUES, MASK = 0x80, 0xC0  # the first two bits of a byte that does not begin a character


def character_places(text: str) -> Sequence[int]:
    """For each byte of the text in UTF-8, and for its end, the number of characters that start before it.

    >>> list(character_places("é!"))
    [0, 1, 1, 2]
    """
    if text.isascii():
        return range(len(text) + 1)
    begins = (np.frombuffer(text.encode(), np.uint8) & MASK) != CONTINUES
    counted: list[int] = np.concatenate(([0], np.cumsum(begins, dtype=np.int32))).tolist()
    return counted
