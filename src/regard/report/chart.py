"""Two plots as SVG inside a page: lines over ordered labels, points over powers of ten. No library, no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = (
    *("#3b6fb6", "#c2572b", "#3f8f5f", "#8a5aa8", "#a8842c", "#2f8f93", "#b03a5b", "#6b6b6b", "#5a7d2a", "#7a4b2a"),
    *("#7fa6dd", "#e39a76", "#86c79f", "#c39fd8", "#d9bd74", "#7cc4c7"),
)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 360, 56, 190, 20, 48

Points = Sequence[tuple[float | None, float, str]]  # x, y, what stands beside it; without x, a level line


def line_chart(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]], y_name: str) -> str:
    """One line a series; a gap where there is None."""
    top = _round_up(max((v for some in series.values() for v in some if v is not None), default=1.0))
    xs = [LEFT + (i + 0.5) * (WIDTH - LEFT - RIGHT) / max(1, len(labels)) for i in range(len(labels))]
    parts = _frame(title, y_name, top)
    parts += [_text(x, HEIGHT - BOTTOM + 18, label, "middle") for x, label in zip(xs, labels, strict=True)]
    for n, (name, values) in enumerate(series.items()):
        colour = COLOURS[n % len(COLOURS)]
        places = [(x, _y(v, top)) for x, v in zip(xs, values, strict=True) if v is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        parts.append(_legend(n, name, colour))
    return _svg(parts, title)


def log_scatter(title: str, groups: Mapping[str, Points], x_name: str, y_name: str) -> str:
    """Points over powers of ten, one colour a group, each with its name; one that has no x is a level line."""
    points = [point for some in groups.values() for point in some]
    known = [x for x, _, _ in points if x is not None]
    if not known:
        return ""
    low = math.floor(math.log10(min(known)))
    high = max(low + 1, math.ceil(math.log10(max(known))))
    top = _round_up(max(y for _, y, _ in points))

    def place(x: float) -> float:
        return LEFT + (math.log10(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = _frame(title, y_name, top)
    parts += [_text(place(10.0**e), HEIGHT - BOTTOM + 18, f"1e{e}", "middle") for e in range(low, high + 1)]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_name, "middle"))
    for n, (name, some) in enumerate(groups.items()):
        colour = COLOURS[n % len(COLOURS)]
        for x, y, label in some:
            if x is None:
                parts.append(_level(_y(y, top), f'stroke="{colour}" stroke-width="2" stroke-dasharray="6 4"'))
                continue
            parts.append(f'<circle cx="{place(x):.1f}" cy="{_y(y, top):.1f}" r="4" fill="{colour}"/>')
            parts.append(_text(place(x) + 7, _y(y, top) + 4, label, "start"))
        parts.append(_legend(n, name, colour))
    return _svg(parts, title)


def _frame(title: str, y_name: str, top: float) -> list[str]:
    parts = [_text(LEFT, 14, title, "start")]
    for i in range(5):
        value = top * i / 4
        y = _y(value, top)
        parts.append(_level(y, 'stroke="currentColor" opacity=".2"'))
        parts.append(_text(LEFT - 6, y + 4, f"{value:g}", "end"))
    parts.append(_text(LEFT - 6, HEIGHT - BOTTOM + 34, y_name, "end"))
    return parts


def _level(y: float, stroke: str) -> str:
    return f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" {stroke}/>'


def _legend(n: int, name: str, colour: str) -> str:
    y = TOP + 14 + 18 * n
    mark = f'<rect x="{WIDTH - RIGHT + 16}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
    return mark + _text(WIDTH - RIGHT + 32, y, name, "start")


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="12" fill="currentColor">{escape(words)}</text>'


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP)


def _round_up(value: float) -> float:
    """
    >>> _round_up(37.2), _round_up(96.0), _round_up(0.0)
    (40.0, 100.0, 1.0)
    """
    if value <= 0:
        return 1.0
    step = 10.0 ** math.floor(math.log10(value))
    return next(step * m for m in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if step * m >= value)


def _svg(parts: Sequence[str], title: str) -> str:
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:100%;font-family:system-ui,sans-serif">\n{body}\n</svg>'
    )
