"""Stores a dataclass as one file: numpy's .npz with its arrays, and a JSON text with everything else.

A nested field is named by its path: `table.source.words`. The types of fields are only in the dataclass. The file has
no code: an untrusted one can have wrong contents, but cannot run anything.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_origin, get_type_hints

import numpy as np

from regard.errors import InputError
from regard.files import write_atomically

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Stored = TypeVar("Stored", bound="DataclassInstance")
_REST = "rest"  # the name of the text in JSON


def save(made: DataclassInstance, path: Path) -> None:
    """Writes a dataclass whose fields are dataclasses, arrays, or JSON values; a set is stored sorted."""
    found = dict(_fields(made))
    arrays: dict[str, Any] = {place: value for place, value in found.items() if isinstance(value, np.ndarray)}
    rest = {place: value for place, value in found.items() if place not in arrays}
    text = json.dumps({"format": _format(type(made)), **rest}, ensure_ascii=False, default=sorted)
    arrays[_REST] = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(path, write)


def load(kind: type[Stored], path: Path) -> Stored:
    """Reads a dataclass written by `save`; raises InputError if the file is missing or of another kind."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found: dict[str, Any] = dict(stored.items())
        found |= json.loads(found[_REST].tobytes())
        if found["format"] != _format(kind):
            raise ValueError(found["format"])
        return _made(kind, found, "")
    except FileNotFoundError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError, zipfile.BadZipFile):
        raise InputError(f"{path} is not a saved {kind.__name__}; write one with {kind.__name__}.save") from None


def _format(kind: type[DataclassInstance]) -> str:
    return f"regard {kind.__name__}, 2"


def _fields(made: DataclassInstance, place: str = "") -> Iterator[tuple[str, Any]]:
    for one in fields(made):
        value = getattr(made, one.name)
        if is_dataclass(value) and not isinstance(value, type):
            yield from _fields(value, f"{place}{one.name}.")
        else:
            yield place + one.name, value


def _made(kind: type[Stored], found: dict[str, Any], place: str) -> Stored:
    hints = get_type_hints(kind)
    values = {}
    for one in fields(kind):
        hint, name = hints[one.name], place + one.name
        part = isinstance(hint, type) and is_dataclass(hint)
        values[one.name] = _made(hint, found, f"{name}.") if part else _of_type(hint, found[name])
    return kind(**values)


def _of_type(hint: Any, value: Any) -> Any:
    """Converts JSON lists back to the original tuple or set."""
    kind = get_origin(hint) or hint
    if kind in (tuple, frozenset):
        return kind(value)
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} expected, but {type(value).__name__} found")
    return value
