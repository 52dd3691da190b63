"""Colours: a weight in 0 … 1 on one scale (viridis, even in lightness), and distinct colours for series.

The scale is quantised to hundredths: weights printed as the same number have the same colour. The scale and the series
colours are visible on light and on dark pages; text colours are not, so each has a counterpart for dark pages (`DARK`).
"""

from __future__ import annotations

from typing import NamedTuple

VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # 0 … 1
# Adapted from Okabe and Ito: each with a contrast of 3 or more on both backgrounds
APART = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#1698ba", "#7a4fbf", "#777777")
INK, FAINT, PAPER, WARNING, FINE = "#1b1b1b", "#6b6b6b", "#ffffff", "#a33c00", "#00674a"
BEST, KEPT, GONE = ("#e3f0fa", "#00507f"), ("#f6f6f6", "#141414"), ("#efefef", "#666666")  # label: background, text
FRAME = "#4a4a4a"
DARK = {
    PAPER: "#0d1117",
    INK: "#e6edf3",
    FAINT: "#9aa4ae",
    WARNING: "#ffb38a",
    FINE: "#5fd0a5",
    **dict(zip(BEST, ("#0c2d48", "#9fd3ff"), strict=True)),
    **dict(zip(KEPT, ("#2a3038", "#f0f3f6"), strict=True)),
    **dict(zip(GONE, ("#161b22", "#8b949e"), strict=True)),
    FRAME: "#9aa4ae",
    APART[0]: "#4aa8e8",
}


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
    """Returns the text colour on the scale's colour, with a contrast of 4.5 or more: white on dark, black on light.

    >>> ink_on(0.1), ink_on(0.9)
    ('#ffffff', '#000000')
    """
    return "#000000" if luminance(on_scale(weight)) > 0.179 else "#ffffff"  # where both have equal contrast


def dark_rules(drawn: str | None = None) -> str:
    """Returns CSS that replaces colours on dark pages: all of them, or those that a picture uses.

    >>> dark_rules('<text fill="#1b1b1b">')
    '[fill="#1b1b1b"]{fill:#e6edf3}'
    """
    rules = {f'{way}="{light}"': f"{way}:{dark}" for light, dark in DARK.items() for way in ("fill", "stroke")}
    return "".join(f"[{of}]{{{rule}}}" for of, rule in rules.items() if drawn is None or of in drawn)


def apart(number: int) -> str:
    """Returns the colour of the n-th series; colours repeat after eight."""
    return APART[number % len(APART)]


def luminance(colour: RGB) -> float:
    """Returns the relative luminance of WCAG 2: 0 is black, 1 is white."""
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
