"""One scale: even, quantised, readable."""

from __future__ import annotations

from itertools import pairwise

import pytest

from regard.report.colour import (
    APART,
    BEST,
    DARK,
    FAINT,
    FINE,
    FRAME,
    GONE,
    INK,
    KEPT,
    PAPER,
    RGB,
    WARNING,
    apart,
    ink_on,
    luminance,
    on_scale,
)


def test_lightness_grows_with_the_weight() -> None:
    light = [luminance(on_scale(i / 100)) for i in range(101)]
    assert all(a < b + 1e-3 for a, b in pairwise(light))
    assert on_scale(-3) == on_scale(0) == on_scale(0.004)
    assert on_scale(7) == on_scale(1)


@pytest.mark.parametrize("weight", [i / 20 for i in range(21)])
def test_letters_on_it_can_be_read(weight: float) -> None:
    ink = 0.0 if ink_on(weight) == "#000000" else 1.0
    one, two = sorted((luminance(on_scale(weight)), ink))
    assert (two + 0.05) / (one + 0.05) >= 4.5


def test_eight_things_can_be_told_apart() -> None:
    assert len({apart(i) for i in range(8)}) == 8
    assert apart(8) == apart(0)
    assert luminance(RGB(255, 255, 255)) == pytest.approx(1)


@pytest.mark.parametrize("twin", [{}, DARK], ids=["light", "dark"])
def test_everything_can_be_seen_on_light_and_on_dark_paper(twin: dict[str, str]) -> None:
    def found(one: str, other: str) -> float:
        """The contrast of WCAG 2: 4.5 is enough for letters, 3 for lines and shapes."""
        colors = (twin.get(color, color) for color in (one, other))
        dim, bright = sorted(luminance(RGB(*bytes.fromhex(color[1:]))) for color in colors)
        return (bright + 0.05) / (dim + 0.05)

    assert min(found(letters, PAPER) for letters in (INK, FAINT, WARNING, FINE)) >= 4.5
    assert min(found(letters, ground) for ground, letters in (BEST, KEPT, GONE)) >= 4.5
    assert min(found(line, PAPER) for line in (*APART, FRAME)) >= 3
