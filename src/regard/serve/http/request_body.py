"""Strict parsers of request bodies: JSON and forms.

Python's own parsers accept input that others refuse or read differently: NaN, the last of two equal keys, invalid
UTF-8, half of a surrogate pair, nesting until the stack overflows. Here each is a `ServeError` of status 400.
"""

from __future__ import annotations

import json
import math
import re
from binascii import unhexlify
from collections.abc import Callable
from itertools import accumulate
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from regard.serve.errors import ServeError

DEEPEST = 32  # maximum depth of nested lists and objects
MOST_VALUES = 100_000  # maximum values of a JSON text
MAX_TEXT_BYTES = 4_000_000  # of a body, except its files
INLINE_BYTES = 65_536  # of a body that is parsed in the event loop
MOST_FIELDS = 1_000  # maximum fields of a form or a query
LONGEST_NUMBER = 400  # maximum digits
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
T = TypeVar("T")
ESCAPES = re.compile(rb"(?:%[0-9a-fA-F]{2})+")
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


_threads: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("threads that parse bodies")


async def parse_body(parse: Callable[[bytes], T], body: bytes) -> T:
    """Parse a body; a large one in a thread, one at a time, since several would take turns with the event loop."""
    if len(body) <= INLINE_BYTES:
        return parse(body)
    try:
        threads = _threads.get()
    except LookupError:
        _threads.set(threads := anyio.CapacityLimiter(1))
    return await anyio.to_thread.run_sync(parse, body, limiter=threads)


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
    """The maximum depth of nested lists and objects in a JSON text, without parsing it, in linear time. Raises
    `ServeError` for more than `MOST_VALUES` values: parsing them would hold Python's global lock for too long.

    >>> depth(b'[[1, "]["], {"a": []}]')
    3
    """
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if bare.count(b'"') <= 2 * MOST_VALUES:
        outside = b"".join(bare.split(b'"')[::2])
        brackets = outside.translate(None, NO_BRACKETS)
        if len(brackets) <= 2 * MOST_VALUES and outside.count(b",") < MOST_VALUES:
            return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)
    raise invalid(f"it has more than {MOST_VALUES:,} values")


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
    if data.count(b"&") >= MOST_FIELDS:
        raise ServeError(400, f"a form has at most {MOST_FIELDS:,} fields")
    try:
        data.decode("utf-8")
        fields = (field.partition(b"=") for field in data.split(b"&") if field)
        return [(unquoted(name), unquoted(value)) for name, _, value in fields]
    except UnicodeDecodeError:
        raise ServeError(400, "the request is not UTF-8") from None


def unquoted(data: bytes) -> str:
    """Decode the escapes of a form. `urllib.parse` takes a microsecond for each, this for each run of them."""
    spaced = data.replace(b"+", b" ")
    return ESCAPES.sub(lambda run: unhexlify(run[0].replace(b"%", b"")), spaced).decode("utf-8")


# ── forms with files (multipart/form-data) ────────────────────────────────────────────────────────────────────────────


MAX_FILES = 10


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
    limits = {"max_files": MAX_FILES, "max_fields": MOST_FIELDS, "max_part_size": MAX_TEXT_BYTES}
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
