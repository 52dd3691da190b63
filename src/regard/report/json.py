"""Strictly valid JSON: NaN and infinities become null, arrays become lists, text is valid Unicode.

dumps(report.to_dict())               indented by two; a list of plain values is one line
dumps(rounded(report.to_dict()))      every float to six decimals: smaller, and the same on every machine
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

DECIMALS = 6


def dumps(data: Any) -> str:
    """
    >>> print(dumps({"name": "é", "weights": np.array([[0.5, np.nan], [1.0, 0.0]])}), end="")
    {
      "name": "é",
      "weights": [
        [0.5, null],
        [1.0, 0.0]
      ]
    }
    """
    return _written(_plain(data), "\n") + "\n"


def rounded(data: Any, decimals: int = DECIMALS) -> Any:
    """
    >>> rounded({"a": [1 / 3, 2]})
    {'a': [0.333333, 2]}
    """
    return _plain(data, lambda value: round(value, decimals) + 0.0)  # + 0.0 makes −0.0 plain 0.0


def _plain(data: Any, number: Callable[[float], float] = float) -> Any:
    """Converts to JSON values; `number` is applied to finite floats."""
    if isinstance(data, np.ndarray | np.generic):
        return _plain(data.tolist(), number)
    if isinstance(data, dict):
        return {key: _plain(value, number) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value, number) for value in data]
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode("utf-8")  # replaces lone surrogates
    if isinstance(data, float):
        return number(data) if math.isfinite(data) else None
    return data


def _written(data: Any, line: str) -> str:
    """Serializes `data`; `line` is a newline and its indentation."""
    inner = line + "  "
    if isinstance(data, dict) and data:
        entries = (f"{json.dumps(str(key), ensure_ascii=False)}: {_written(data[key], inner)}" for key in data)
        return "{" + inner + f",{inner}".join(entries) + line + "}"
    if isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        return "[" + inner + f",{inner}".join(_written(value, inner) for value in data) + line + "]"
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
