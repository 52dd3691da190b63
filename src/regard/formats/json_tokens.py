"""The strings of a JSON document with their places, so that it can be edited in place.

Strings are read by the standard library's scanner; the grammar around them is followed with a stack, not by
recursion, so that documents of any depth are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]

from regard.errors import InputError

SPACE = re.compile(r"[ \t\r\n]*+")
SCALAR = re.compile(r"-?+(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][-+]?+\d++)?+|true|false|null|NaN|-?Infinity")


@dataclass(frozen=True)
class JsonString:
    """A string value: `start` and `end` include the quotation marks; `holder` numbers the object or array it stands in,
    `key` is its key there, or its place in an array."""

    start: int
    end: int
    value: str
    holder: int
    key: str | int


@dataclass
class Holder:
    """An object or array; `key` is its own key in its parent."""

    parent: int
    key: str | int
    is_object: bool
    keys: set[str]
    count: int = 0


@dataclass
class JsonText:
    strings: list[JsonString]
    holders: list[Holder]  # a parent stands before its children; number 0 holds the document's value


def read_json(text: str, at: int = 0, end: int | None = None, first_line: int = 1) -> JsonText:
    """The string values of the document in characters `at` to `end` of the text, whose lines count from `first_line`.

    >>> [(s.value, s.key) for s in read_json('{"a": "x", "b": [1, "y"]}').strings]
    [('x', 'a'), ('y', 1)]
    """
    return JsonReader(text, at, len(text) if end is None else end, first_line).read()


class JsonReader:
    """Reads values from left to right."""

    def __init__(self, text: str, at: int, end: int, first_line: int) -> None:
        self.text, self.at, self.end, self.first_line = text, at, end, first_line
        self.found = JsonText([], [Holder(0, "", False, set())])
        self.stack = [0]

    def read(self) -> JsonText:
        self.value("")
        while len(self.stack) > 1:
            holder = self.found.holders[self.stack[-1]]
            closing = "}" if holder.is_object else "]"
            self.space()
            if self.text.startswith(closing, self.at):
                self.at += 1
                self.stack.pop()
                continue
            if holder.count:
                self.expect(",")
            key: str | int = holder.count
            if holder.is_object:
                key = self.string()
                holder.keys.add(key)
                self.expect(":")
            holder.count += 1
            self.value(key)
        self.space()
        if self.at < self.end:
            raise self.error("something follows the document's value")
        return self.found

    def space(self) -> None:
        found = SPACE.match(self.text, self.at, self.end)
        assert found is not None
        self.at = found.end()

    def expect(self, character: str) -> None:
        self.space()
        if self.at >= self.end or self.text[self.at] != character:
            raise self.error(f"a {character!r} is missing")
        self.at += 1

    def string(self) -> str:
        self.expect('"')
        try:
            value, self.at = scanstring(self.text, self.at, True)
        except JSONDecodeError as problem:
            self.at = problem.pos
            raise self.error(problem.msg) from None
        if self.at > self.end:
            raise self.error("a string is not closed")
        return str(value)

    def value(self, key: str | int) -> None:
        self.space()
        opening = self.text[self.at : self.at + 1] if self.at < self.end else ""
        if opening == '"':
            start = self.at
            value = self.string()
            self.found.strings.append(JsonString(start, self.at, value, self.stack[-1], key))
        elif opening and opening in "{[":
            self.found.holders.append(Holder(self.stack[-1], key, opening == "{", set()))
            self.stack.append(len(self.found.holders) - 1)
            self.at += 1
        else:
            found = SCALAR.match(self.text, self.at, self.end)
            if found is None:
                raise self.error("a value is missing")
            self.at = found.end()

    def error(self, problem: str) -> InputError:
        line = self.text.count("\n", 0, self.at) + self.first_line
        column = self.at - self.text.rfind("\n", 0, self.at)
        return InputError(f"the document is no JSON: {problem} in line {line}, column {column}")


def json_string(text: str, raw: str, ascii_only: bool) -> str:
    """A string as JSON in the habits of the one it replaces (`raw`, with its quotation marks).

    >>> print(json_string("é/", '"a\\\\/"', ascii_only=False))
    "é\\/"
    """
    from json import dumps

    written = dumps(text, ensure_ascii=ascii_only)
    return written.replace("/", "\\/") if "\\/" in raw else written
