"""Plain dataclasses as configuration: filled from TOML tables or command-line arguments, checked, compared.

A section of a recipe is a frozen dataclass that stands beside what it configures and declares its keys with `key()`.
Defaults are in those dataclasses; no section is named here.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import sys
import tomllib
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from regard.errors import InputError, RecipeError

T = TypeVar("T")
UNIONS = (Union, types.UnionType)
MAX_DOTS = 10_000  # in a TOML file
MAX_SHOWN = 80  # characters of a wrong value in an error message
TRUE_WORDS, FALSE_WORDS = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def parse_toml(text: str) -> dict[str, Any]:
    """Parses a TOML file of a user; raises ValueError if it is not TOML, or nested too deeply."""
    try:
        if text.count(".") > MAX_DOTS:  # the parser takes quadratic time for a.a.a.a… = 1
            raise ValueError(f"it has more than {MAX_DOTS:,} dots")
        tables = tomllib.loads(text)
        repr(tables)  # what can be parsed but not shown raises here
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return tables


def key(
    default: Any, help: str, minimum: float | None = None, maximum: float | None = None, *, otherwise: str = ""
) -> Any:
    """Declares a dataclass field with its default, the sentence that help pages print for it, and the bounds of a
    number, which `check_bounds` enforces. `otherwise` describes in words what a default of None stands for."""
    described = {"help": help, "minimum": minimum, "maximum": maximum, "otherwise": otherwise}
    return dataclasses.field(default=default, metadata=described)


class OptionSpec(NamedTuple):
    """The declaration of a field by `key`, for command-line flags and request fields."""

    name: str
    kind: type  # int, float, bool or str; str for a choice
    default: Any
    help: str
    minimum: float | None
    maximum: float | None
    otherwise: str
    choices: tuple[str, ...]


@cache
def options_of(section: type) -> dict[str, OptionSpec]:
    """Returns the fields of a dataclass that are declared with `key`, by name."""
    found = {}
    for name, f in ((f.name, f) for f in dataclasses.fields(section) if f.metadata):
        kind = eval(str(f.type), vars(sys.modules[section.__module__]))  # annotations are strings
        kinds = [one for one in (get_args(kind) if get_origin(kind) in UNIONS else (kind,)) if one is not type(None)]
        choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
        found[name] = OptionSpec(name, str if choices else kinds[0], f.default, **f.metadata, choices=choices)
    return found


def check_bounds(config: Any) -> None:
    """Raises InputError if a field has the wrong type, is out of its bounds, or is not one of its choices."""
    for name, option in options_of(type(config)).items():  # type: ignore[arg-type]
        value = getattr(config, name)
        if value is None and option.default is None:
            continue
        if option.choices and value not in option.choices:
            raise InputError(f"{name} must be {_quoted(option.choices)}, but is {value!r}")
        if option.minimum is None:
            continue
        number = isinstance(value, int if option.kind is int else int | float) and not isinstance(value, bool)
        maximum = math.inf if option.maximum is None else option.maximum
        if not number or not option.minimum <= value <= maximum or value == math.inf:
            least = f"{option.minimum:g}"
            bounds = f"from {least} to {maximum:,.10g}" if maximum < math.inf else f"of at least {least}"
            raise InputError(f"{name} must be {describe(option.kind)} {bounds}, but is {value!r}")


def _quoted(words: Sequence[str]) -> str:
    """
    >>> _quoted(["auto", "float32", "bfloat16"])
    '"auto", "float32" or "bfloat16"'
    """
    *first, last = (f'"{word}"' for word in words)
    return f"{', '.join(first)} or {last}" if first else last


def nearest_keys(word: str, known: Iterable[str]) -> list[str]:
    """Returns known keys that a word may stand for: ours for another toolkit's name, else the closest spelling.

    >>> nearest_keys("lr", ["learning_rate", "steps"]), nearest_keys("widht", ["width", "heads"])
    (['learning_rate'], ['width'])
    """
    known = sorted(known)
    name = word.lower().replace("-", "_")
    table = tomllib.loads(Path(__file__).with_name("other_names.toml").read_text(encoding="utf-8"))
    ours = [key for key, others in table.items() if key in known and name in others]
    return ours or difflib.get_close_matches(word, known, n=1, cutoff=0.6)


def nearest(word: str, known: Iterable[str]) -> str:
    """
    >>> nearest("widht", ["width", "heads"]), nearest("lr", ["learning_rate", "steps"])
    ('did you mean "width"?', 'did you mean "learning_rate"?')
    """
    known = sorted(known)
    close = " or ".join(f'"{key}"' for key in nearest_keys(word, known))
    return f"did you mean {close}?" if close else f"known: {', '.join(known)}"


def describe(kind: Any) -> str:
    """Describes a type in words: `int | None` is "a whole number or none"."""
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text", type(None): "none"}
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(a) for a in get_args(kind))
    if get_origin(kind) in UNIONS:
        return " or ".join(describe(a) for a in get_args(kind))
    if get_origin(kind) in (list, tuple):
        return f"a list of {describe(get_args(kind)[0])}"
    if get_origin(kind) is Mapping:
        return "a table"
    if dataclasses.is_dataclass(kind):
        return f"tables of a recipe with the keys {', '.join(f.name for f in dataclasses.fields(kind))}"
    return names.get(kind, str(kind))


def accept(value: Any, kind: Any) -> Any:
    """Returns `value` as an instance of `kind`, or raises ValueError. An int is accepted as a float."""
    origin = get_origin(kind)
    if origin in UNIONS:
        return _first_accepted(accept, value, get_args(kind))
    if origin in (list, tuple) and isinstance(value, (list, tuple)):
        return tuple(accept(v, get_args(kind)[0]) for v in value)
    if (origin is Literal and value in get_args(kind)) or (origin is Mapping and isinstance(value, Mapping)):
        return value
    if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        return build(kind, value, kind.__name__.removesuffix("Config").lower())  # type: ignore[arg-type, union-attr]
    if origin is None and _is(value, kind):
        return float(value) if kind is float else value
    raise ValueError(value)


def _is(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63  # as in TOML
    return isinstance(value, kind)


def parse(word: str, kind: Any) -> Any:
    """Converts a command-line word to an instance of `kind`, or raises ValueError.

    >>> parse("3e-4", float), parse("yes", bool), parse("none", int | None), parse("a,b", tuple[str, ...])
    (0.0003, True, None, ('a', 'b'))
    """
    origin = get_origin(kind)
    if origin in UNIONS:
        return _first_accepted(parse, word, sorted(get_args(kind), key=lambda k: k is not type(None)))
    if origin in (list, tuple):
        return tuple(parse(part, get_args(kind)[0]) for part in word.split(",") if part)
    if origin is Literal:
        return accept(word, kind)
    if kind is bool and word.lower() in TRUE_WORDS + FALSE_WORDS:
        return word.lower() in TRUE_WORDS
    if kind is type(None) and word.lower() == "none":
        return None
    if kind in (int, float, str):
        return accept(kind(word.replace("_", "") if kind is int else word), kind)
    raise ValueError(word)


def _first_accepted(convert: Callable[[Any, Any], Any], value: Any, kinds: Iterable[Any]) -> Any:
    for kind in kinds:
        try:
            return convert(value, kind)
        except ValueError:
            continue
    raise ValueError(value)


_hints = cache(get_type_hints)  # takes milliseconds, and is called for every command-line argument


def keys_of(section: type) -> dict[str, Any]:
    """Returns name → type of every key of a section, annotations resolved."""
    hints = _hints(section)
    return {f.name: hints[f.name] for f in dataclasses.fields(section)}


def build(section: type[T], table: Mapping[str, Any], where: str) -> T:
    """Builds a section from a mapping. Errors for unknown and missing keys and wrong types say what is allowed."""
    known = keys_of(section)
    values = {}
    for name, value in table.items():
        if name not in known:
            raise RecipeError(f'unknown key "{name}" in {where}; {nearest(name, known)}')
        try:
            values[name] = accept(value, known[name])
        except ValueError:
            given = repr(value) if len(repr(value)) <= MAX_SHOWN else repr(value)[: MAX_SHOWN - 1] + "…"
            raise RecipeError(f"{where}.{name} must be {describe(known[name])}, but is {given}") from None
    for f in dataclasses.fields(section):  # type: ignore[arg-type]
        if f.name not in values and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise RecipeError(f"{where} needs {f.name}")
    return section(**values)


def differences(old: Any, new: Any, prefix: str = "") -> list[tuple[str, Any, Any]]:
    """Returns (key, old value, new value) for each difference of two dataclasses of one type; nested keys have dots."""
    found = []
    for f in dataclasses.fields(old):
        a, b = getattr(old, f.name), getattr(new, f.name)
        if dataclasses.is_dataclass(a) and dataclasses.is_dataclass(b) and type(a) is type(b):
            found += differences(a, b, f"{prefix}{f.name}.")
        elif a != b:
            found.append((prefix + f.name, a, b))
    return found


def require(condition: bool, message: str, parameter: str | tuple[str, ...] = ()) -> None:
    """Raises RecipeError unless the condition holds; for use in `__post_init__`."""
    if not condition:
        raise RecipeError(message, parameter=parameter)


def require_each(section: str, config: Any, names: Iterable[str], holds: Callable[[Any], bool], rule: str) -> None:
    """Applies `require` to several keys of a section: "SECTION.NAME RULE, but is VALUE"."""
    for name in names:
        value = getattr(config, name)
        require(holds(value), f"{section}.{name} {rule}, but is {value}")
