"""Colours of figures: a weight in 0 … 1 on one scale, even in lightness, and distinct colours for series.

    on_scale(0.3)          between `sunken` and `heat` of the palette, mixed in Oklab as the page's `color-mix` does

A figure is drawn in the light colours of the palette; `dark_rules` is the CSS that replaces them on dark pages. The
scale is quantised to hundredths: weights printed as the same number have the same colour.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from regard.report.palette import PALETTE

INK, QUIET, SURFACE = (PALETTE[name][0] for name in ("ink", "quiet", "surface"))
ACCENT, GOOD, BAD, LINE_STRONG = (PALETTE[name][0] for name in ("accent", "good", "bad", "line-strong"))
SUNKEN, ACCENT_SOFT = (PALETTE[name][0] for name in ("sunken", "accent-soft"))
SERIES = tuple(light for name, (light, _) in PALETTE.items() if name.startswith("series-"))
INK_TURNS = 0.619  # where text on the scale changes from --on-cold to --on-heat: black and white have equal contrast

# Björn Ottosson, https://bottosson.github.io/posts/oklab: linear sRGB → cone responses; their cube roots → Oklab
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


class RGB(NamedTuple):
    red: int
    green: int
    blue: int

    @property
    def hex(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"


def rgb(hex: str) -> RGB:
    """
    >>> rgb("#06384f")
    RGB(red=6, green=56, blue=79)
    """
    return RGB(*bytes.fromhex(hex[1:]))


def on_scale(weight: float, dark: bool = False) -> RGB:
    """
    >>> on_scale(0.0).hex, on_scale(1.0).hex
    ('#f3f0e8', '#06384f')
    """
    return _mixed(round(min(max(weight, 0.0), 1.0) * 100), int(dark))


@cache
def _mixed(hundredths: int, theme: int) -> RGB:
    low, high = (oklab(rgb(PALETTE[name][theme])) for name in ("sunken", "heat"))
    lab = low + (high - low) * hundredths / 100
    light = np.linalg.solve(TO_CONES, np.linalg.solve(TO_OKLAB, lab) ** 3).clip(0, 1)
    shown = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return RGB(*(round(part * 255) for part in shown.tolist()))


def oklab(colour: RGB) -> np.ndarray:
    """(3,) lightness, green to red, blue to yellow; distances in this space are about even to the eye."""
    oklab: np.ndarray = TO_OKLAB @ np.cbrt(TO_CONES @ linear(colour))
    return oklab


def linear(colour: RGB) -> np.ndarray:
    """(3,) amounts of light, in 0 … 1."""
    shown = np.array(colour) / 255
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def dark_rules(drawn: str) -> str:
    """Returns CSS that replaces the colours that a picture uses on dark pages.

    >>> dark_rules('<text fill="#1b1e22">')
    '[fill="#1b1e22"]{fill:#eceae4}'
    """
    rules = {f'{way}="{light}"': f"{way}:{dark}" for light, dark in _dark().items() for way in ("fill", "stroke")}
    return "".join(f"[{of}]{{{rule}}}" for of, rule in rules.items() if of in drawn)


@cache
def _dark() -> dict[str, str]:
    """The dark counterpart of each light colour that figures use."""
    scale = {on_scale(n / 100).hex: on_scale(n / 100, dark=True).hex for n in range(101)}
    return scale | {light: dark for name, (light, dark) in PALETTE.items() if not name.startswith("on-")}


def apart(number: int) -> str:
    """Returns the colour of the n-th series; colours repeat after eight."""
    return SERIES[number % len(SERIES)]


def luminance(colour: RGB) -> float:
    """Returns the relative luminance of WCAG 2: 0 is black, 1 is white."""
    return float(np.dot([0.2126, 0.7152, 0.0722], linear(colour)))
