"""Scores as text: a line and its signature for one system, a table for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.metrics.significance import ComparedScore
from regard.report.table import Table


def show_scores(names: Sequence[str], found: Mapping[str, Sequence[ComparedScore]], width: int = 2) -> str:
    """`found` has, for each metric, one entry a system."""
    if len(names) == 1:
        return "\n".join(f"{_line(some[0], width)}\n{some[0].score.signature}" for some in found.values())
    tested = any(one.p_value is not None for some in found.values() for one in some)
    header = ["system", *found]
    rows = [[name, *(_cell(some[i], width, tested) for some in found.values())] for i, name in enumerate(names)]
    text = Table(header, rows).text()
    if tested:
        text += "\n\nEach system is held against the first. * p is below 0.05, not corrected for the number of systems."
    signatures = "\n".join(f"{name}  {some[0].score.signature}" for name, some in found.items())
    return f"{text}\n\n{signatures}"


def _line(one: ComparedScore, width: int) -> str:
    text = one.score.text(width)
    if one.interval is None:
        return text
    found = one.interval
    interval = (
        f"(μ = {found.mean:.{width}f} ± {found.half:.{width}f}; 95%: {found.low:.{width}f}–{found.high:.{width}f})"
    )
    return f"{text}\n{interval}"


def _cell(one: ComparedScore, width: int, tested: bool) -> str:
    """38.01 ± 0.52 (p = 0.003*)"""
    text = f"{one.score.score:.{width}f}"
    if one.interval is not None:
        text += f" ± {one.interval.half:.{width}f}"
    if one.p_value is not None:
        text += f" (p = {one.p_value:.4f}{'*' if one.p_value < 0.05 else ' '})"
    elif tested:  # the baseline, over whose cell the others' scores shall stand
        text += " " * len(" (p = 0.0000 )")
    return text
