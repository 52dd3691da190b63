"""The parameters of a request: declared once, read from JSON, a form or the query alike, and described for OpenAPI.

    FIELDS = (Field("q", "texts", "what to translate"), Field("alternatives", "integer", "how many", 0))
    values = await read_values(request, FIELDS)       # {"q": ["…"], "alternatives": 0}

A number or a boolean may be a string, as in forms and from some clients. Undeclared fields are ignored, as in both
public interfaces. JSON has precedence over a form, and a form over the query.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from typing import Any, Literal

from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect, Request

from regard.serve.errors import FieldError, ServeError
from regard.serve.http.request_body import parse_body, read_form, read_json, read_multipart
from regard.translation.options import translate_option

Kind = Literal["text", "texts", "integer", "number", "flag", "choice", "strings", "object", "list", "value", "file"]
REQUIRED = object()
SHORT = ("integer", "number", "flag", "choice", "file")  # the file itself is not counted
MOST_BYTES_OF_CHARACTER = 12  # escaped, in JSON as a pair of surrogates, in a form as four bytes
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
    "value": {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "number"}}]},
    "file": {"type": "string", "format": "binary"},
}


# The keywords of JSON Schema for `least` and `most`.
BOUNDS: dict[str, tuple[str, str]] = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "text": ("minLength", "maxLength"),
    "strings": ("minItems", "maxItems"),
    "list": ("minItems", "maxItems"),
}


def nullable_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """
    >>> nullable_schema({"type": "string", "enum": ["en", "fr"]})
    {'type': ['string', 'null'], 'enum': ['en', 'fr', None]}
    """
    if "type" not in schema:
        return {"oneOf": [*schema["oneOf"], {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]} | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


@dataclass(frozen=True)
class Field:
    """A parameter. `texts` is one text or several; `read` returns a list for `strings`, and for `texts` the value as it
    was sent."""

    name: str
    kind: Kind
    help: str
    default: Any = REQUIRED
    least: float | None = None  # characters of a text, or entries of a list
    most: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False  # null means the default
    example: Any = None
    known: str = ""  # which of the server's names the OpenAPI document lists: its models or its languages
    items: Mapping[str, Any] = dataclass_field(default_factory=dict)  # the JSON schema of a list's entries

    def schema(self, known: Mapping[str, Sequence[str]], null: bool) -> dict[str, Any]:
        """The JSON schema for OpenAPI. `known` has the names of the server's models and languages; `null`: whether null
        can be sent, which is possible only in JSON."""
        found: dict[str, Any] = {**JSON_TYPES[self.kind], **self._bounds()}
        if names := self.choices or known.get(self.known, ()):
            found["enum"] = list(names)
        if self.items:
            found["items"] = dict(self.items)
        if self.nullable and null:
            found = nullable_schema(found)
        found["description"] = self.help
        if self.default is not REQUIRED and self.default is not None:
            found["default"] = self.default
        return found

    def max_bytes(self, characters: int) -> int:
        """The bytes that its name and value have in a body, at most; `characters` where the field has no limit."""
        if self.kind in ("text", "value"):
            characters = characters if self.most is None else int(self.most)
        return 1_000 + (0 if self.kind in SHORT else MOST_BYTES_OF_CHARACTER * characters)

    def _bounds(self) -> dict[str, Any]:
        keywords = BOUNDS.get(self.kind)
        if keywords is None:
            return {}
        named = zip(keywords, (self.least, self.most), strict=True)
        whole = self.kind != "number"
        return {word: int(value) if whole else value for word, value in named if value is not None}

    def read(self, given: Any) -> Any:
        """Return the value of what was sent; raise `FieldError` if it is invalid."""
        reader, expected = READERS[self.kind]
        try:
            value = reader(given)
        except (ValueError, OverflowError):
            but = "" if self.kind == "file" else f", but is {abbreviated(given)}"
            raise self.error(f"must be {expected}{but}") from None
        if self.kind in ("integer", "number"):
            self._check_bounds(value)
        if self.kind == "choice" and value not in self.choices:
            raise self.error(f"must be one of {', '.join(self.choices)}, but is {abbreviated(given)}")
        if isinstance(value, str) and self.most is not None and len(value) > self.most:
            raise FieldError(self.name, f"{self.name} has more than {int(self.most):,} characters", status=413)
        if self.kind in ("text", "texts", "strings") and self.least and not value:
            raise FieldError(self.name, f"{self.name} is missing", missing=True)
        return value

    def _check_bounds(self, value: float) -> None:
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            bounds = [f"at least {self.least:g}"] if self.least is not None else []
            bounds += [f"at most {self.most:g}"] if self.most is not None else []
            raise self.error(f"must be {' and '.join(bounds)}, but is {value:g}")

    def error(self, what: str) -> FieldError:
        return FieldError(self.name, f"{self.name} {what}")


FIELD_KINDS: dict[type, Kind] = {int: "integer", float: "number", bool: "flag", str: "text"}


def option_field(name: str, **changes: Any) -> Field:
    """The field of a request for an option of `translate`, with its help, default and bounds."""
    option = translate_option(name)
    kind: Kind = "choice" if option.choices else FIELD_KINDS[option.kind]
    optional = option.default is None
    described = {"least": option.minimum, "most": option.maximum, "choices": option.choices, "nullable": optional}
    return Field(name, kind, option.help, option.default, **described | changes)


def abbreviated(given: Any) -> str:
    """A value as JSON, shortened for an error message."""
    try:
        text = json.dumps(given, ensure_ascii=True, default=str)
    except RecursionError:
        return "nested too deeply"
    return text if len(text) <= 60 else f"{text[:57]}…"


# ── one reader for each kind: it returns the value of what was sent, or raises ValueError ─────────────────────────────


def _instance(given: Any, kind: type) -> Any:
    if not isinstance(given, kind):
        raise ValueError
    return given


def _text(given: Any) -> Any:
    return _instance(given[0] if isinstance(given, list) and len(given) == 1 else given, str)


def _strings(given: Any) -> Any:
    found = [given] if isinstance(given, str) else given
    return [_instance(one, str) for one in _instance(found, list)]


def _texts(given: Any) -> Any:
    return given if isinstance(given, str) else _strings(given)


def _value(given: Any) -> Any:
    return (
        [_number(one) for one in given]
        if isinstance(given, list)
        else given
        if isinstance(given, str)
        else _number(given)
    )


def _number(given: Any) -> float:
    number = math.nan if isinstance(given, bool) or not isinstance(given, str | int | float) else float(given)
    if not math.isfinite(number):
        raise ValueError
    return number


def _integer(given: Any) -> int:
    number = _number(given)
    if number != int(number):
        raise ValueError
    return int(number)


def _flag(given: Any) -> bool:
    word = str(given).strip().lower() if isinstance(given, str | int) else None
    if word not in TRUE and word not in FALSE:
        raise ValueError
    return word in TRUE


READERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "text": (_text, "a string"),
    "choice": (_text, "a string"),
    "texts": (_texts, "a string or a list of strings"),
    "strings": (_strings, "a string or a list of strings"),
    "integer": (_integer, "a whole number"),
    "number": (_number, "a number"),
    "flag": (_flag, "true or false"),
    "object": (partial(_instance, kind=dict), "an object"),
    "list": (partial(_instance, kind=list), "a list"),
    "value": (_value, "a string, a number or a list of numbers"),
    "file": (partial(_instance, kind=UploadFile), "a file, sent as multipart/form-data"),
}


# ── a request ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def read_values(request: Request, fields: Iterable[Field]) -> dict[str, Any]:
    """Read the value of each field, by name."""
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


def content_type(request: Request) -> str:
    """The media type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_parameters(request: Request) -> dict[str, Any]:
    """Read all parameters. Names that occur several times in a form or a query become lists."""
    given = _form(request.scope["query_string"])
    kind = content_type(request)
    try:
        if kind == "application/x-www-form-urlencoded":
            body = await request.body()
            json_sent = body.lstrip()[:1] == b"{"  # curl -d '{…}' sends it as a form; a real form would contain %7B
            given |= await parse_body(parse_object if json_sent else _form, body)
        elif kind == "multipart/form-data":
            given |= _lists((await read_multipart(request)).multi_items())
        elif body := await request.body():
            given |= await parse_body(parse_object, body)
    except ClientDisconnect:
        raise ServeError(400, "the request was not sent whole") from None
    return given


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object, within limits.

    >>> parse_object(b'{"q": "Hi"}')
    {'q': 'Hi'}
    """
    found = read_json(body)
    if not isinstance(found, dict):
        raise ServeError(400, "Invalid JSON format: an object is needed")
    return found


def _form(body: bytes) -> dict[str, Any]:
    return _lists(read_form(body))


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
    """The JSON schema of a request body."""
    some = list(fields)
    found: dict[str, Any] = {"type": "object", "properties": {field.name: field.schema(known, null) for field in some}}
    if required := [field.name for field in some if field.default is REQUIRED]:
        found["required"] = required
    return found
