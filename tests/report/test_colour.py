"""One scale: even, quantised, readable in both themes, and the counterparts of colours on dark pages."""

from __future__ import annotations

from itertools import pairwise

import pytest

from regard.report.colour import INK_TURNS, RGB, apart, dark_rules, luminance, on_scale
from regard.report.palette import PALETTE


@pytest.mark.parametrize("dark", [False, True])
def test_lightness_changes_evenly_with_the_weight(dark: bool) -> None:
    light = [luminance(on_scale(i / 100, dark)) for i in range(101)]
    assert all((a < b) is dark for a, b in pairwise(light))
    assert on_scale(-3, dark) == on_scale(0, dark) == on_scale(0.004, dark)
    assert on_scale(7, dark) == on_scale(1, dark)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_on_it_can_be_read(theme: int) -> None:
    for hundredth in range(101):
        text = PALETTE["on-heat" if hundredth / 100 >= INK_TURNS else "on-cold"][theme]
        ground = luminance(on_scale(hundredth / 100, dark=theme == 1))
        one, two = sorted((ground, 1.0 if text == "#ffffff" else 0.0))
        assert (two + 0.05) / (one + 0.05) >= 4.5


def test_eight_things_can_be_told_apart() -> None:
    assert len({apart(i) for i in range(8)}) == 8
    assert apart(8) == apart(0)
    assert luminance(RGB(255, 255, 255)) == pytest.approx(1)


def test_every_colour_of_a_figure_has_its_own_counterpart() -> None:
    """A colour that occurs twice in the palette, as in the scale, has one counterpart."""
    pairs = {pair for name, pair in PALETTE.items() if not name.startswith("on-")}
    pairs |= {(on_scale(n / 100).hex, on_scale(n / 100, dark=True).hex) for n in range(101)}
    assert len(pairs) == len({light for light, _ in pairs})
    assert dark_rules(f'<rect fill="{on_scale(0.3).hex}"/>') == (
        f'[fill="{on_scale(0.3).hex}"]{{fill:{on_scale(0.3, dark=True).hex}}}'
    )
