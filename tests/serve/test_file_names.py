"""Names of files: nothing of them reaches a path or a header that was not meant."""

from __future__ import annotations

from email.message import Message
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.serve.documents import MAX_NAME, attachment, plain_name


@settings(max_examples=50)
@given(st.text(max_size=300) | st.text('./\\"\r\n;%a é', max_size=20))
def test_no_name_breaks_out(name: str) -> None:
    plain = plain_name(name)
    assert 1 <= len(plain) <= MAX_NAME
    assert plain not in (".", "..")
    assert not set(plain) & set('/\\"\r\n\0<>|:*?')
    header = attachment(name)
    assert header.isascii()
    assert header.isprintable()
    parsed = Message()
    parsed["Content-Disposition"] = header
    assert parsed.get_content_disposition() == "attachment"
    in_ascii = parsed.get_filename()  # as another reader of such headers sees it
    assert in_ascii is not None
    assert len(in_ascii) == len(plain)
    assert unquote(header.rpartition("UTF-8''")[2]) == plain


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("report.docx", "report.docx"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("....//", "document"),
        ("a\u202etxt.exe", "a_txt.exe"),
        ("x" * 300 + ".docx", "x" * 100 + ".docx"),
    ],
)
def test_some_names(name: str, plain: str) -> None:
    assert plain_name(name) == plain
