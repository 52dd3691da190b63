"""Colours: a weight in 0 … 1 on one scale (viridis, even in lightness), and names for what is told apart.

The scale is quantised to hundredths: what is printed as the same number has the same colour.
"""

from __future__ import annotations

from typing import NamedTuple

VIRIDIS = (
    (68, 1, 84),
    (59, 82, 139),
    (33, 145, 140),
    (94, 201, 98),
    (253, 231, 37),
)  # 0 … 1
APART = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#b8860b",
    "#56b4e9",
    "#7a4fbf",
    "#555555",
)  # Okabe and Ito's, nearly
INK, FAINT, PAPER, WARNING = "#1b1b1b", "#6b6b6b", "#ffffff", "#a33c00"


class RGB(NamedTuple):
    red: int
    green: int
    blue: int

    @property
    def hex(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


def on_scale(weight: float) -> RGB:
    """
    >>> on_scale(0.0).hex, on_scale(1.0).hex
    ('#440154', '#fde725')
    """
    at = round(min(max(weight, 0.0), 1.0), 2) * (len(VIRIDIS) - 1)
    low = min(int(at), len(VIRIDIS) - 2)
    red, green, blue = (round(a + (b - a) * (at - low)) for a, b in zip(VIRIDIS[low], VIRIDIS[low + 1], strict=True))
    return RGB(red, green, blue)


def ink_on(weight: float) -> str:
    """Letters that can be read on the scale's colour, with a contrast of 4.5 or more: white below, black above.

    >>> ink_on(0.1), ink_on(0.9)
    ('#ffffff', '#000000')
    """
    return "#000000" if _luminance(on_scale(weight)) > 0.179 else "#ffffff"  # where both have the same contrast


def apart(number: int) -> str:
    """A colour for the n-th thing; after eight they come again."""
    return APART[number % len(APART)]


def _luminance(colour: RGB) -> float:
    """As in WCAG 2: 0 is black, 1 is white."""
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
