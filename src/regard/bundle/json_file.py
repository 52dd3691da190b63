"""JSON files of a bundle. They may come from anybody: whatever is not a plain JSON object is one `BundleError`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from regard.errors import BundleError

DEEPEST = 50  # levels of nesting
LARGEST = 16_000_000  # bytes; a card has a few thousand
MESSAGE = 300  # characters of another error's text


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file. NaN, infinity, numbers beyond 64 bits and text that is not Unicode are refused."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST // 1_000_000} MB")
        text = path.read_text(encoding="utf-8")
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
        _check(value)
    except (OSError, ValueError, RecursionError) as problem:
        raise BundleError(f"{path} cannot be read: {one_line(problem)}") from None
    if not isinstance(value, dict):
        raise BundleError(f"{path} must hold a JSON object, but holds {type(value).__name__}")
    return value


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def one_line(problem: object) -> str:
    """An error's text for the end of a message: one line, not too long.

    >>> one_line(ValueError("first\\nsecond"))
    'first second'
    """
    text = " ".join(str(problem).split())
    return text if len(text) <= MESSAGE else text[:MESSAGE] + " …"


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _finite(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(f"{word[:40]} is too large a number")
    return value


def _whole(word: str) -> int:
    value = int(word)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{word[:40]} is too large a whole number")
    return value


def _check(value: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} deep")
    if isinstance(value, str):
        value.encode()  # half a surrogate pair raises
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check(name, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)
