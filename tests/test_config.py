"""Configuration as plain dataclasses: what is accepted, what is parsed, what is said about the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from regard.config import accept, build, describe, differences, key, keys_of, nearest, parse, require
from regard.errors import RecipeError

Size = Literal["small", "large"]


@dataclass(frozen=True)
class Inner:
    rate: float = key(0.5, "how fast")
    size: Size = key("small", "how large")


@dataclass(frozen=True)
class Needy:
    """Keys without a default, and a table of any keys."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Outer:
    steps: int = key(10, "how many")
    name: str | None = key(None, "what it is called")
    parts: tuple[int, ...] = key((), "which ones")
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        require(self.steps > 0, f"steps must be positive, but is {self.steps}")


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (3, int, 3),
        (-(2**63), int, -(2**63)),
        (3, float, 3.0),
        (0.5, float, 0.5),
        ("a", str, "a"),
        (True, bool, True),
        (None, type(None), None),
        (None, int | None, None),
        (3, int | None, 3),
        (3, float | None, 3.0),
        ("large", Size, "large"),
        ([1, 2], tuple[int, ...], (1, 2)),
        ((), tuple[int, ...], ()),
        (["a"], list[str], ("a",)),
    ],
)
def test_accept(value: Any, kind: Any, wanted: Any) -> None:
    found = accept(value, kind)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3.0, int),
        (True, int),
        ("3", int),
        (2**63, int),  # TOML's whole numbers have 64 bits
        (True, float),
        ("0.5", float),
        (1, bool),
        ("true", bool),
        (5, str),
        (None, str),
        ("", type(None)),
        (1.5, int | None),
        ("medium", Size),
        (["small"], Size),
        ("ab", tuple[str, ...]),
        ([1, "a"], tuple[int, ...]),
    ],
)
def test_accept_bends_nothing_else(value: Any, kind: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (a caller says where)
        accept(value, kind)


@pytest.mark.parametrize(
    ("word", "kind", "wanted"),
    [
        ("3", int, 3),
        ("-3", int, -3),
        ("10_000", int, 10_000),
        ("3e-4", float, 3e-4),
        ("3", float, 3.0),
        ("3", str, "3"),
        ("", str, ""),
        ("Yes", bool, True),
        ("1", bool, True),
        ("off", bool, False),
        ("none", int | None, None),
        ("None", str | None, None),
        ("7", int | None, 7),
        ("7", str | None, "7"),
        ("large", Size, "large"),
        ("1,2,", tuple[int, ...], (1, 2)),
        ("", tuple[int, ...], ()),
    ],
)
def test_parse(word: str, kind: Any, wanted: Any) -> None:
    found = parse(word, kind)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("3.0", int),
        ("1e3", int),
        ("", int),
        ("99999999999999999999", int),
        ("fast", float),
        ("none", float),
        ("maybe", bool),
        ("2", bool),
        ("Large", Size),
        ("x", int | None),
        ("", int | None),
        ("1,x", tuple[int, ...]),
    ],
)
def test_parse_refuses(word: str, kind: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse(word, kind)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (int, "a whole number"),
        (float, "a number"),
        (bool, "true or false"),
        (str, "text"),
        (int | None, "a whole number or none"),
        (Size, "one of small, large"),
        (tuple[int, ...], "a list of a whole number"),
    ],
)
def test_describe(kind: Any, wanted: str) -> None:
    assert describe(kind) == wanted


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("stpes", 'did you mean "steps"?'),
        ("step", 'did you mean "steps"?'),
        ("qqq", "known: name, steps"),
        ("", "known: name, steps"),
    ],
)
def test_nearest(word: str, wanted: str) -> None:
    assert nearest(word, {"steps": 1, "name": 2}) == wanted


def test_keys_of_resolves_annotations() -> None:
    assert keys_of(Inner) == {"rate": float, "size": Size}


def test_build() -> None:
    assert build(Outer, {}, "outer") == Outer()
    assert build(Outer, {"steps": 3, "parts": [1, 2]}, "outer") == Outer(steps=3, parts=(1, 2))
    assert build(Inner, {"rate": 1}, "inner") == Inner(rate=1.0)


def test_keys_without_a_default_are_needed() -> None:
    assert build(Needy, {"name": "a", "options": {"b": 1}}, "needy") == Needy("a", {"b": 1})
    with pytest.raises(RecipeError, match=r"^needy needs options$"):
        build(Needy, {"name": "a"}, "needy")
    with pytest.raises(RecipeError, match=r"^needy\.options must be a table, but is 3$"):
        build(Needy, {"name": "a", "options": 3}, "needy")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"stpes": 3}, r'^unknown key "stpes" in outer; did you mean "steps"\?$'),
        ({"qqq": 3}, r'^unknown key "qqq" in outer; known: inner, name, parts, steps$'),
        ({"steps": "3"}, r"^outer\.steps must be a whole number, but is '3'$"),
        ({"name": 3}, r"^outer\.name must be text or none, but is 3$"),
        ({"parts": ["a"]}, r"^outer\.parts must be a list of a whole number, but is \['a'\]$"),
        ({"steps": 0}, r"^steps must be positive, but is 0$"),
    ],
)
def test_build_says_what_is_wrong(table: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        build(Outer, table, "outer")


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        (Outer(), []),
        (Outer(steps=11), [("steps", 10, 11)]),
        (Outer(name="a", inner=Inner(rate=1.0)), [("name", None, "a"), ("inner.rate", 0.5, 1.0)]),
    ],
)
def test_differences(new: Outer, wanted: list[tuple[str, Any, Any]]) -> None:
    assert differences(Outer(), new) == wanted
    assert differences(Outer(), new, "recipe.") == [(f"recipe.{name}", a, b) for name, a, b in wanted]
