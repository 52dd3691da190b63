"""The text of `regard explain positions`: the notes' five requirements, measured, and where sinusoids meet them."""

from __future__ import annotations

import textwrap

import numpy as np

from regard.course.positions.encodings import bound, rises
from regard.course.positions.requirements import Positions
from regard.layers.positions import frequencies

WIDE = 110
COLUMN, NAME = 20, 23


def positions_text(found: Positions) -> str:
    lines = [f"Positions of sinusoids, width {found.width}, {found.length} positions", ""]
    names = list(found.requirements[0].cells)
    for one in found.requirements:
        lines += [f"{one.number}. {one.words}", f"   measured: {one.measured}"]
        lines.append("   " + "".join(f"{name:<{COLUMN}}" for name in names).rstrip())
        shown = [f"{'yes' if one.cells[name].holds else 'no'}, {one.cells[name].figure}" for name in names]
        lines.append("   " + "".join(f"{figure:<{COLUMN}}" for figure in shown).rstrip())
        lines += textwrap.wrap(f"sinusoid {one.finding}.", WIDE, initial_indent="   ", subsequent_indent="   ")
        lines.append("")
    lines += [*_products(found), "", *_counting(found)]
    return "\n".join(lines) + "\n"


def _products(found: Positions) -> list[str]:
    distances = [k for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if k < found.length]
    lines = ["product of two positions by distance, as a share of that at distance 0 (mean over all pairs)"]
    heads = "".join(f"{k:>7}" for k in distances)
    lines.append(f"   {'distance':<{NAME}}{heads}   differs by    rises first at")
    for one in found.products:
        up = rises(one.mean)
        first = str(up[0]) if len(up) else "nowhere"
        values = "".join(f"{round(float(one.mean[k]), 2) + 0.0:>7.2f}" for k in distances)
        lines.append(f"   {one.name:<{NAME}}{values}   {bound(one.deviation):<11}   {first}")
    lines.append("   differs by: products of pairs at one and the same distance, the largest less the smallest")
    return lines


def _counting(found: Positions) -> list[str]:
    """Bits beside the signs of the sines that change about as often."""
    count = found.bits.shape[1]
    pace = np.pi / frequencies(found.width).double().numpy()  # (D/2,) positions until a sine changes its sign
    pairs = {bit: int(np.abs(np.log(pace / 2.0**bit)).argmin()) for bit in range(count)}
    slow = [bit for bit in reversed(range(count)) if 2**bit >= pace[0]]
    lines = ["binary counting beside the signs of the sines that change about as often, the slowest first"]
    lines.append(f"   {'position':<10}{'bits':<{count + 4}}sine " + " ".join(str(2 * pairs[bit]) for bit in slow))
    for position in range(min(16, found.length)):
        bits = "".join(str(bit) for bit in found.bits[position][::-1])
        signs = [
            ("−" if found.map[position, 2 * pairs[bit]] < 0 else "+").rjust(len(str(2 * pairs[bit]))) for bit in slow
        ]
        lines.append(f"   {position:<10}{bits:<{count + 4}}     {' '.join(signs)}".rstrip())
    paces = ", ".join(
        f"bit {bit} every {2**bit} and sine {2 * pairs[bit]} every {pace[pairs[bit]]:.1f}" for bit in slow
    )
    summary = (
        f"they change: {paces}. The fastest sine changes every {pace[0]:.1f} positions, so bits "
        f"{', '.join(str(bit) for bit in range(count) if bit not in slow)} have no counterpart, and the slowest only "
        f"after {pace[-1]:,.0f}, longer than any sentence"
    )
    return [*lines, *textwrap.wrap(summary, WIDE, initial_indent="   ", subsequent_indent="   ")]
