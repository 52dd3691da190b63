"""Plain text, and bytes as text."""

from __future__ import annotations

import pytest

from formats.fakes import copy
from regard.errors import InputError
from regard.formats.document import DEFAULTS, FormatOptions
from regard.formats.encoding import decode
from regard.formats.table import checked_format, format_of, reader_of
from regard.formats.text import read
from regard.formats.translate_document import translate_document


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbfa\r\nb\n", b"\n\n  x\t", "é".encode("utf-16"), b"a" * 5_000_000])
def test_a_copy_has_the_same_bytes(data: bytes) -> None:
    assert translate_document(data, "text", copy).data == data


def test_line_breaks_may_be_wrapping() -> None:
    assert not read(b"a\nb", DEFAULTS).segments[0].wrapped
    assert read(b"a\nb", FormatOptions(wrapped=True)).segments[0].wrapped


@pytest.mark.parametrize(
    ("data", "named", "said"),
    [
        (b"a\n\xff", None, "line 2 of the document is not UTF-8; convert it to UTF-8 first"),
        (b"\xed\xa0\x80", None, "line 1 of the document is not UTF-8; convert it to UTF-8 first"),
        (b"a", "rot13", "the document names the encoding 'rot13', which is unknown; convert it to UTF-8"),
        (b"+AGE-", "utf-7", "the document is in utf-7, in a form that cannot be kept; convert it to UTF-8 first"),
    ],
)
def test_refused_in_one_line(data: bytes, named: str | None, said: str) -> None:
    with pytest.raises(InputError) as problem:
        decode(data, named)
    assert str(problem.value) == said


def test_a_character_that_the_encoding_has_not() -> None:
    with pytest.raises(InputError, match="the document is in iso-8859-2, which has no 'œ'; convert it to UTF-8 first"):
        decode(b"a", "iso-8859-2").encode("œuf")


def test_formats_have_their_suffixes_once_and_their_readers() -> None:
    from pathlib import Path

    from regard.formats.table import FORMATS

    suffixes = [suffix for format in FORMATS.values() for suffix in format.suffixes]
    assert len(suffixes) == len(set(suffixes))
    for name, format in FORMATS.items():
        assert callable(reader_of(name))
        assert {format_of(Path(f"x{suffix}")) for suffix in format.suffixes} == {name}
    with pytest.raises(InputError, match=r"format must be one of text, .* but is 'htlm'; did you mean 'html'\?"):
        checked_format("htlm")
