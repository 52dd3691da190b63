"""Numbers as people type them: "0.65", "0,65", "65%", "2/3", "1e-3", "37,000", "[0.665, 0.245, 0.090]".

A text can have several readings: "1,250" is 1.25 or 1250. All are tried, and an answer is right if one of them is.
"""

from __future__ import annotations

import math
import re
from itertools import islice, product
from typing import Any

MOST_CHARACTERS = 500
MOST_READINGS = 64
MOST_EXPONENT = 100
MOST_FACTORS = 5
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
PLAIN = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d{1,2})?")
POWER = re.compile(r"(?:([-+]?[\d.,]+)×)?10\^([-+]?\d{1,3})")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

Reading = tuple[float, ...]


def read_numbers(given: Any, count: int) -> list[Reading]:
    """All readings of what was given as `count` numbers; none if it is not that.

    >>> read_numbers("0,65", 1), read_numbers("65 %", 1), read_numbers("2/3", 1)
    ([(0.65,)], [(0.65,), (65.0,)], [(0.6666666666666666,)])
    >>> read_numbers("[0,665 0,245; 0,09]", 3), read_numbers("0.1,0.2", 2), read_numbers("about two", 1)
    ([(0.665, 0.245, 0.09)], [(0.1, 0.2)], [])
    """
    if isinstance(given, str):
        return _read_text(given, count)
    numbers = given if isinstance(given, list | tuple) else [given]
    if len(numbers) == count and all(_is_number(one) for one in numbers):
        return [tuple(map(float, numbers))]
    if any(isinstance(one, str) for one in numbers) and all(isinstance(one, str) or _is_number(one) for one in numbers):
        return _read_text("; ".join(map(str, numbers)), count)
    return []


def count_numbers(given: Any) -> int:
    """How many numbers were given; 0 if something is not a number.

    >>> count_numbers("0.3, 0.7"), count_numbers([1, 2, 3]), count_numbers("one")
    (2, 3, 0)
    """
    if not isinstance(given, str):
        return len(given) if isinstance(given, list | tuple) else 1
    for parts in _splits(_cleaned(given)):
        if parts and all(_read_one(part) for part in parts):
            return len(parts)
    return 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _read_text(text: str, count: int) -> list[Reading]:
    if len(text) > MOST_CHARACTERS:
        return []
    cleaned = _cleaned(text)
    found: dict[Reading, None] = {}
    splits = [*_splits(cleaned), *([[cleaned.replace(" ", "")]] if count == 1 else [])]  # "37 000"
    for parts in splits:
        if len(parts) == count:
            found |= dict.fromkeys(islice(product(*map(_read_one, parts)), MOST_READINGS))
    return list(found)


def _cleaned(text: str) -> str:
    text = re.sub(r"[\u00a0\u2009\u202f\s]+", " ", text).replace("−", "-").replace("_", "")
    text = re.sub(r"([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: "^" + found[0].translate(SUPERSCRIPTS), text)
    text = re.sub(r"[^\W\d]\w*(?:\([^)]*\))? ?[=≈:]", " ", text)  # "c =", "p1:"
    text = re.sub(r"[\[\]() ]+(?=,)|[\[\]()]", " ", text).replace(" ,", ",")  # "(3, 5), (3, 32)"
    text = re.sub(r" and |[|&]", "; ", text).replace("percent", "%")
    text = re.sub(r"(?<=\d) ?[x*·] ?(?=\d)", "×", text)
    text = re.sub(r"\s*([/%×^])\s*", r"\1", text)
    text = re.sub(r"(?<=\d)\.(?= |$)", "", text.replace("%", "% "))  # the end of a sentence
    return text.strip(" ≈~=")


def _splits(text: str) -> list[list[str]]:
    """The parts of a text with the comma as the decimal sign, with the comma between numbers, and of shapes (3 × 5)."""
    patterns = (r"[; ]+|, ", r"[;, ]+", r"[; ×]+|, ")
    return [[part for part in re.split(pattern, text) if part] for pattern in patterns]


def _read_one(part: str) -> list[float]:
    """The readings of one number, the likeliest first.

    >>> _read_one("1,250"), _read_one("3×10^-2"), _read_one("9×256"), _read_one("1/0")
    ([1.25, 1250.0], [0.03], [2304.0], [])
    """
    if part.endswith("%"):
        return [value for one in _read_plain(part[:-1]) for value in (one / 100, one)]
    above, sign, below = part.partition("/")
    if sign:
        return [a / b for a in _read_plain(above) for b in _read_plain(below) if b]
    if found := _read_plain(part):
        return found
    factors = part.split("×")[:MOST_FACTORS]
    return list(map(math.prod, islice(product(*map(_read_plain, factors)), MOST_READINGS))) if factors[1:] else []


def _read_plain(part: str) -> list[float]:
    if (found := POWER.fullmatch(part)) and abs(int(found[2])) < MOST_EXPONENT:
        return [factor * 10.0 ** int(found[2]) for factor in (_read_plain(found[1]) if found[1] else [1.0])]
    readings = [float(part.replace(",", "."))] if PLAIN.fullmatch(part) else []
    return readings + ([float(part.replace(",", ""))] if THOUSANDS.fullmatch(part) else [])
