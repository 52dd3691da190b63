"""Strict parsers of request bodies: JSON and forms.

Python's own parsers accept input that others refuse or read differently: NaN, the last of two equal keys, invalid
UTF-8, half of a surrogate pair, nesting until the stack overflows. Here each is a `ServeError` of status 400.
"""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from regard.serve.errors import ServeError

DEEPEST = 32  # maximum depth of nested lists and objects
MOST_FIELDS = 1_000  # maximum fields of a form or a query
LONGEST_NUMBER = 400  # maximum digits
STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+(?:"|\\?\Z)', re.DOTALL)  # matches at every quote: nothing is read twice
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_json(data: bytes) -> Any:
    """Parse a JSON text.

    >>> read_json(b'{"q": ["caf\\\\u00e9", 1.5, null]}')
    {'q': ['café', 1.5, None]}
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise invalid(f"it is not UTF-8 (byte {problem.start:,})") from None
    if depth(data) > DEEPEST:
        raise invalid(f"more than {DEEPEST} lists and objects are within each other")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_float, parse_int=_int
        )
    except json.JSONDecodeError as problem:
        raise invalid(f"{problem.msg} (character {problem.pos:,})") from None
    if SURROGATE.search(data):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise invalid("half of a surrogate pair is no character") from None
    return value


def invalid(why: str) -> ServeError:
    return ServeError(400, f"Invalid JSON format: {why}")


def depth(data: bytes) -> int:
    """The maximum depth of nested lists and objects in a JSON text, without parsing it, in linear time.

    >>> depth(b'[[1, "]["], {"a": []}]')
    3
    """
    brackets = STRING.sub(b"", data).translate(None, NO_BRACKETS)
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise invalid("an object has the same key twice")
    return made


def _no_constant(name: str) -> Any:
    raise invalid(f"{name} is no number")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise invalid("a number is too large")
    return value


def _int(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise invalid(f"a number has more than {LONGEST_NUMBER} digits")
    return int(digits)


def read_form(data: bytes) -> list[tuple[str, str]]:
    """Parse a form (`application/x-www-form-urlencoded`) or a query into its fields, in order.

    >>> read_form(b"q=caf%C3%A9&q=a+b&empty=")
    [('q', 'café'), ('q', 'a b'), ('empty', '')]
    """
    try:
        text = data.decode("utf-8")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise ServeError(400, "the request is not UTF-8") from None
    except ValueError:
        raise ServeError(400, f"a form has at most {MOST_FIELDS:,} fields") from None


# ── forms with files (multipart/form-data) ────────────────────────────────────────────────────────────────────────────


MAX_FILES, MAX_MULTIPART_FIELDS, MAX_FIELD_BYTES = 10, 2000, 20_000_000  # bytes


class StrictFormParser(MultiPartParser):
    def on_part_end(self) -> None:
        part = self._current_part
        if part.file is None:
            try:
                part.data.decode(self._charset)
            except UnicodeDecodeError as problem:
                name = self._charset.upper()
                raise MultiPartException(f"{part.field_name} is not {name} (byte {problem.start:,})") from None
        super().on_part_end()


async def read_multipart(request: Request) -> FormData:
    """Read the fields and files of a form. Close the files with `close_files`."""
    limits = {"max_files": MAX_FILES, "max_fields": MAX_MULTIPART_FIELDS, "max_part_size": MAX_FIELD_BYTES}
    try:
        request.state.form = await StrictFormParser(request.headers, request.stream(), **limits).parse()
    except MultiPartException as problem:
        raise ServeError(400, f"the form cannot be read: {problem.message}") from None
    except (ValueError, KeyError):
        raise ServeError(400, "the form cannot be read: it is damaged") from None
    form: FormData = request.state.form
    return form


async def close_files(request: Request) -> None:
    """Close and remove the uploaded files."""
    form: FormData | None = getattr(request.state, "form", None)
    if form is not None:
        await form.close()
