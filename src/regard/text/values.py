"""What a number that people wrote is worth, whatever the locale of its writing.

1,250 · 1 250 · 1.250 · 1250 are one number, 3.14 and 3,14 another. "1,250" alone can be either 1250 or 1.25: a number
has one or two readings, and two numbers agree where they share one.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from regard.text.numbers import CURRENCY, DIGITS, PERCENT, SPACE

_QUANTITY = regex.compile(
    rf"(?P<sign>(?<![\w)\]])[-−+])?(?P<before>{CURRENCY}{SPACE}?+[-−]?)?(?P<digits>{DIGITS})"
    rf"(?(before)|(?P<after>{PERCENT}|{SPACE}?+(?:°|{CURRENCY}(?!\d)))?)",
    regex.VERSION1,
)
_BETWEEN = regex.compile(r"[-–/:]")  # between numbers that are also numbers alone: 1939–1945
_GROUPING = regex.compile(r"[ \u00A0\u2009\u202F'’]")
_GROUPS = regex.compile(r"\d{1,3}(?:[.,]\d{3})+")


class Quantity(NamedTuple):
    """A number in a text."""

    start: int  # of the digits, sign included
    end: int
    readings: frozenset[str]
    unit: str  # %, a currency sign or nothing
    whole: tuple[int, int]  # its span with the unit


def quantities(text: str) -> list[Quantity]:
    """All numbers of a text; of two that are joined (1939–1945) the pair and each.

    >>> [(sorted(found.readings), found.unit) for found in quantities("1,250 people, 3,14 and 20 %")]
    [(['1.250', '1250'], ''), (['3.14'], ''), (['20'], '%')]
    """
    found = []
    for match in _QUANTITY.finditer(text):
        start, end = match.span("digits")
        unit = ((match["before"] or "") + (match["after"] or "")).strip(" \u00a0\u2009\u202f-−")
        negative = match["sign"] in ("-", "−") or "-" in (match["before"] or "") or "−" in (match["before"] or "")
        sign = "-" if negative else ""
        found.append(
            Quantity(
                match.start("sign") if match["sign"] and not match["before"] else start,
                end,
                frozenset(sign + reading for reading in readings(match["digits"])),
                unit,
                match.span(),
            )
        )
        parts = _BETWEEN.split(match["digits"])
        if len(parts) > 1:
            for part in parts:
                stop = start + len(part)
                found.append(Quantity(start, stop, readings(part), "", (start, stop)))
                start = stop + 1
    return found


def readings(digits: str) -> frozenset[str]:
    """The values that a number without its sign and unit may have, as decimals.

    >>> sorted(readings("1,250")), sorted(readings("1.250,5")), sorted(readings("1 250 000"))
    (['1.250', '1250'], ['1250.5'], ['1250000'])
    """
    plain = _GROUPING.sub("", digits).replace("–", "-")
    commas, points = plain.count(","), plain.count(".")
    if not plain.replace(",", "").replace(".", "").isdecimal() or not commas + points:
        return frozenset([plain])
    if commas and points:
        decimal = "," if plain.rfind(",") > plain.rfind(".") else "."
        if plain.count(decimal) > 1:
            return frozenset([plain])
        return frozenset([plain.replace("." if decimal == "," else ",", "").replace(",", ".")])
    joined = plain.replace(",", "").replace(".", "")
    grouped = _GROUPS.fullmatch(plain) is not None and plain[0] != "0"
    if commas + points > 1:
        return frozenset([joined if grouped else plain])
    return frozenset([plain.replace(",", ".")] + [joined] * grouped)
