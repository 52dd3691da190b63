"""The parameters of a request: declared once, read from JSON, a form or the query alike, and described for OpenAPI.

    FIELDS = (Field("q", "texts", "what to translate"), Field("alternatives", "integer", "how many", 0))
    values = await read_values(request, FIELDS)       # {"q": ["…"], "alternatives": 0}

A number or a truth value may be a string, as forms and some clients send it. What is not declared is ignored, as both
public interfaces do. JSON wins over a form, and a form over the query.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Literal

from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect, Request

from regard.serve.errors import FieldError, ServeError
from regard.serve.http.request_body import read_form, read_json, read_multipart
from regard.translation.options import translate_option

Kind = Literal["text", "texts", "integer", "number", "flag", "choice", "strings", "object", "list", "file"]
REQUIRED = object()
TRUE, FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off", "")
JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "choice": {"type": "string"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "file": {"type": "string", "format": "binary"},
}


# The words of JSON Schema for `least` and `most`.
BOUNDS: dict[str, tuple[str, str]] = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "text": ("minLength", "maxLength"),
    "strings": ("minItems", "maxItems"),
    "list": ("minItems", "maxItems"),
}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """
    >>> or_null({"type": "string", "enum": ["en", "fr"]})
    {'type': ['string', 'null'], 'enum': ['en', 'fr', None]}
    """
    if "type" not in schema:
        return {"oneOf": [*schema["oneOf"], {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]} | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


@dataclass(frozen=True)
class Field:
    """A parameter. `texts` is one text or several; the reader gives a list for `strings` and what was sent for
    `texts`."""

    name: str
    kind: Kind
    help: str
    default: Any = REQUIRED
    least: float | None = None  # of a text: characters; of a list: entries
    most: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False  # null stands for the default
    example: Any = None
    known: str = ""  # what the server has of this kind: its models, its languages; only the document names them
    items: Mapping[str, Any] = dataclass_field(default_factory=dict)  # the JSON schema of an entry of a list

    def schema(self, known: Mapping[str, Sequence[str]], null: bool) -> dict[str, Any]:
        """Described for OpenAPI. `known` has the names that a server knows, by the kind of name; `null` says whether it
        can be sent, which a form and a query cannot."""
        found: dict[str, Any] = {**JSON_TYPES[self.kind], **self._bounds()}
        if names := self.choices or known.get(self.known, ()):
            found["enum"] = list(names)
        if self.items:
            found["items"] = dict(self.items)
        if self.nullable and null:
            found = or_null(found)
        found["description"] = self.help
        if self.default is not REQUIRED and self.default is not None:
            found["default"] = self.default
        return found

    def _bounds(self) -> dict[str, Any]:
        words = BOUNDS.get(self.kind)
        if words is None:
            return {}
        named = zip(words, (self.least, self.most), strict=True)
        whole = self.kind != "number"
        return {word: int(value) if whole else value for word, value in named if value is not None}

    def read(self, given: Any) -> Any:
        """The value of what was sent, or a `FieldError`."""
        value = READERS[self.kind](self, given)
        if self.kind in ("integer", "number"):
            self._check_bounds(value)
        if self.kind == "choice" and value not in self.choices:
            raise self.wrong(f"must be one of {', '.join(self.choices)}, but is {shown(given)}")
        if self.kind == "text" and self.most is not None and len(value) > self.most:
            raise FieldError(self.name, f"{self.name} has more than {int(self.most):,} characters", status=413)
        if self.kind in ("text", "texts", "strings") and self.least and not value:
            raise FieldError(self.name, f"{self.name} is missing", missing=True)
        return value

    def _check_bounds(self, value: float) -> None:
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            bounds = [f"at least {self.least:g}"] if self.least is not None else []
            bounds += [f"at most {self.most:g}"] if self.most is not None else []
            raise self.wrong(f"must be {' and '.join(bounds)}, but is {value:g}")

    def wrong(self, what: str) -> FieldError:
        return FieldError(self.name, f"{self.name} {what}")


FIELD_KINDS: dict[type, Kind] = {int: "integer", float: "number", bool: "flag", str: "text"}


def option_field(name: str, **changes: Any) -> Field:
    """The field of a request for an option of `translate`, with its help, default and bounds."""
    option = translate_option(name)
    kind: Kind = "choice" if option.choices else FIELD_KINDS[option.kind]
    optional = option.default is None
    described = {"least": option.minimum, "most": option.maximum, "choices": option.choices, "nullable": optional}
    return Field(name, kind, option.help, option.default, **described | changes)


def shown(given: Any) -> str:
    """What was sent, short enough for a message."""
    try:
        text = json.dumps(given, ensure_ascii=True, default=str)
    except RecursionError:
        return "nested too deeply"
    return text if len(text) <= 60 else f"{text[:57]}…"


# ── one reader for each kind ─────────────────────────────────────────────────────────────────────────────────────────


def _text(field: Field, given: Any) -> str:
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if not isinstance(given, str):
        raise field.wrong(f"must be a string, but is {shown(given)}")
    return given


def _texts(field: Field, given: Any) -> str | list[str]:
    if isinstance(given, str):
        return given
    return _strings(field, given)


def _strings(field: Field, given: Any) -> list[str]:
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise field.wrong(f"must be a string or a list of strings, but is {shown(given)}")
    return found


def _integer(field: Field, given: Any) -> int:
    number = _number(field, given, "a whole number")
    if number != int(number):
        raise field.wrong(f"must be a whole number, but is {shown(given)}")
    return int(number)


def _number(field: Field, given: Any, what: str = "a number") -> float:
    try:
        number = float("x" if isinstance(given, bool) or not isinstance(given, str | int | float) else given)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise field.wrong(f"must be {what}, but is {shown(given)}")
    return number


def _flag(field: Field, given: Any) -> bool:
    if isinstance(given, bool):
        return given
    word = str(given).strip().lower() if isinstance(given, str | int) else None
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise field.wrong(f"must be true or false, but is {shown(given)}")


def _object(field: Field, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise field.wrong(f"must be an object, but is {shown(given)}")
    return given


def _list(field: Field, given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise field.wrong(f"must be a list, but is {shown(given)}")
    return given


def _file(field: Field, given: Any) -> UploadFile:
    if not isinstance(given, UploadFile):
        raise field.wrong("must be a file, sent as multipart/form-data")
    return given


READERS: dict[str, Callable[[Field, Any], Any]] = {
    "text": _text, "choice": _text, "texts": _texts, "strings": _strings, "integer": _integer, "number": _number,
    "flag": _flag, "object": _object, "list": _list, "file": _file,
}  # fmt: skip


# ── a request ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def read_values(request: Request, fields: Iterable[Field]) -> dict[str, Any]:
    """The value of each field, by its name."""
    given = await read_parameters(request)
    values: dict[str, Any] = {}
    for field in fields:
        sent = given.get(field.name)
        if sent is None and (field.nullable or field.name not in given):
            if field.default is REQUIRED:
                raise FieldError(field.name, f"{field.name} is missing", missing=True)
            values[field.name] = field.default
        else:
            values[field.name] = field.read(sent)
    return values


async def read_parameters(request: Request) -> dict[str, Any]:
    """All that was sent. Names that are given several times in a form or a query become lists."""
    given = _lists(read_form(request.scope["query_string"]))
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/x-www-form-urlencoded":
            body = await request.body()
            json_sent = body.lstrip()[:1] == b"{"  # curl -d '{…}' calls it a form; a real one writes %7B
            given |= parse_object(body) if json_sent else _lists(read_form(body))
        elif kind == "multipart/form-data":
            given |= _lists((await read_multipart(request)).multi_items())
        elif body := await request.body():
            given |= parse_object(body)
    except ClientDisconnect:
        raise ServeError(400, "the request was not sent whole") from None
    return given


def parse_object(body: bytes) -> dict[str, Any]:
    """A JSON object, within bounds.

    >>> parse_object(b'{"q": "Hi"}')
    {'q': 'Hi'}
    """
    found = read_json(body)
    if not isinstance(found, dict):
        raise ServeError(400, "Invalid JSON format: an object is needed")
    return found


def _lists(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """
    >>> _lists([("text", "a"), ("text", "b"), ("target_lang", "FR")])
    {'text': ['a', 'b'], 'target_lang': 'FR'}
    """
    found: dict[str, list[Any]] = {}
    for name, value in items:
        found.setdefault(name.removesuffix("[]"), []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def object_schema(fields: Iterable[Field], known: Mapping[str, Sequence[str]], null: bool) -> dict[str, Any]:
    """The JSON schema of a body."""
    some = list(fields)
    found: dict[str, Any] = {"type": "object", "properties": {field.name: field.schema(known, null) for field in some}}
    if required := [field.name for field in some if field.default is REQUIRED]:
        found["required"] = required
    return found
