"""Bodies: what is JSON or a form is read as everybody reads it, and all else is refused in one line."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.serve.errors import ServeError
from regard.serve.http.request_body import DEEPEST, depth, read_form, read_json

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)


@settings(max_examples=25)
@given(values, st.booleans())
def test_json_is_read_as_the_standard_library_writes_it(value: Any, escaped: bool) -> None:
    data = json.dumps(value, ensure_ascii=escaped).encode()
    assert read_json(data) == value
    assert depth(data) == deep(value)


def deep(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(deep, inner), default=0)


@settings(max_examples=50)
@given(st.binary(max_size=40) | st.text('[]{}",:\\ud8a1n', max_size=20).map(lambda t: t.encode()))
def test_anything_else_is_refused(data: bytes) -> None:
    with suppress(ServeError):  # no other error
        read_json(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "it is not UTF-8 (byte 0)"),
        (b'"\xed\xa0\x80"', "it is not UTF-8"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "more than 32 lists"),
        (b'{"a":' * 100_000, "more than 32 lists"),
        (b"[" * 200_000, "more than 32 lists"),
        (b'{"q": 1, "q": 2}', "the same key twice"),
        (b"[" + b"1," * 100_000 + b"1]", "more than 100,000 values"),
        (b"[" + b'"",' * 100_000 + b'""]', "more than 100,000 values"),
        (b"[]" * 100_001, "more than 100,000 values"),
        (b"[NaN]", "NaN is no number"),
        (b"-Infinity", "-Infinity is no number"),
        (b"1e999", "a number is too large"),
        (b"9" * 5000, "more than 400 digits"),
        (b'["\\ud800"]', "half of a surrogate pair"),
        (b'{"\\udc00": 1}', "half of a surrogate pair"),
        (b"", "Expecting value"),
        (b"{} {}", "Extra data"),
        (b'"a\nb"', "control character"),
    ],
)
def test_what_is_refused_and_why(data: bytes, said: str) -> None:
    with pytest.raises(ServeError) as caught:
        read_json(data)
    assert caught.value.message.startswith("Invalid JSON format: ")
    assert said in caught.value.message


def test_brackets_in_strings_do_not_count() -> None:
    value = ["[" * 100, '\\"' + "{" * 100, "\\"]
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(b'"\\ud83d\\ude00"') == "😀"  # a whole pair


@pytest.mark.parametrize("data", [b'"' + b'\\"' * 300_000 + b"\\", b'"' * 600_001, b"[]" * 300_000, b'"\\' * 300_000])
def test_the_time_is_linear(data: bytes) -> None:
    """A quadratic reading of these would take longer than any test may."""
    with pytest.raises(ServeError):
        read_json(data)


@settings(max_examples=25)
@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_a_form_is_read_as_the_standard_library_writes_it(fields: list[tuple[str, str]]) -> None:
    assert read_form(urlencode(fields).encode()) == fields


@pytest.mark.parametrize("data", [b"q=%ff", b"q=\xff", b"%c3%28=1", b"a=1&" * 1001])
def test_forms_that_are_refused(data: bytes) -> None:
    with pytest.raises(ServeError) as caught:
        read_form(data)
    assert caught.value.status == 400
