"""Attention in the terminal, with rich: a line for each target word, or a heat map.

    chat ← cat   0.93 ███████▌                black cat
    noir ← black 0.88 ███████            chat   ·    9      (colours where the terminal has them)

Under every map stands a caption that says what it is and how far to trust it: layer, head, what a row means,
alignment error rate or "not evaluated", and the attention that went to the end of the sentence (EOS). A row
that holds NaN or sums to more than 1 is not drawn; its place says why. Widths are in terminal cells, so wide
scripts and emoji line up.

This file computes no attention and judges none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

from regard.explain.attention import View, WordAttention

TOLERANCE = 1e-3  # how far over 1 a row may sum, for rounding
BAR_CELLS = 8
LABEL_CELLS = 16  # longer words are cut
VIRIDIS = (
    (68, 1, 84),
    (59, 82, 139),
    (33, 145, 140),
    (94, 201, 98),
    (253, 231, 37),
)  # 0 … 1, even in lightness


# ------------------------------------------------------------------------------------------------ what to say


def render(attention: WordAttention, view: View, *, aer: float | None = None, heat: bool = True) -> RenderableType:
    """A heat map or arrows, with the caption. A heat map that is too wide for the terminal becomes arrows."""
    return Group(HeatMap(attention) if heat else Arrows(attention), caption(attention, view, aer))


def caption(attention: WordAttention, view: View, aer: float | None = None) -> Text:
    """Where the map comes from and how far to trust it. `aer` is a fraction, measured on sentences with known
    alignments that this view was not chosen on."""
    masses = attention.eos_mass[np.isfinite(attention.eos_mass)]
    eos = f"EOS mass {masses.mean():.2f}" if len(masses) else "EOS mass unknown"
    error = "AER not evaluated" if aer is None else f"AER {aer:.1%}"
    return Text(f"{view} · {error} · {eos}", style="dim")


def row_problem(row: NDArray[np.float64], eos_mass: float = 0.0) -> str | None:
    """Why a row must not be drawn, or None."""
    if not (np.isfinite(row).all() and np.isfinite(eos_mass)):
        return "not drawn: not numbers"
    if row.size and row.min() < -TOLERANCE:
        return f"not drawn: a weight is {row.min():.3f}"
    total = float(row.sum() + eos_mass)
    if total > 1 + TOLERANCE:
        return f"not drawn: sums to {total:.3f}"
    return None


# ------------------------------------------------------------------------------------------------ arrows


@dataclass(frozen=True)
class Arrows:
    """Each target word, the source word it looked at most, and how much."""

    attention: WordAttention

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fixed = len(" ← ") + len(" 0.00")
        most = max(3, min(LABEL_CELLS, (options.max_width - fixed) // 2))
        targets = [_label(word, most) for word in self.attention.target_words]
        sources = [_label(word, most) for word in self.attention.source_words]
        left, right = (max((text.cell_len for text in side), default=0) for side in (targets, sources))
        bars = left + fixed + right + 1 + BAR_CELLS <= options.max_width
        rows = zip(targets, self.attention.weights, self.attention.eos_mass, strict=True)
        for target, row, eos in rows:
            line = _line(target, left)
            problem = row_problem(row, float(eos)) or ("no source words" if row.size == 0 else None)
            if problem:
                yield line.append(f" {problem}", style="yellow")
                continue
            best = int(row.argmax())
            line.append(" ← ").append_text(_line(sources[best], right)).append(f" {row[best]:.2f}")
            if bars:
                line.append(" " + _bar(float(row[best])), style="cyan")
            if eos > row[best]:  # it looked at no word as much as at the end of the sentence
                line.append(f" (EOS {eos:.2f})", style="yellow")
            yield line


def _line(text: Text, cells: int) -> Text:
    """A line that begins with `text`, padded to `cells`."""
    line = Text(no_wrap=True, overflow="ellipsis").append_text(text)
    return line.append(" " * (cells - text.cell_len))


def _bar(weight: float) -> str:
    """
    >>> _bar(1.0), _bar(0.5)
    ('████████', '████')
    """
    eighths = round(min(max(weight, 0.0), 1.0) * BAR_CELLS * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


# ------------------------------------------------------------------------------------------------ heat map


@dataclass(frozen=True)
class HeatMap:
    """Target words down, source words across; laid out when printed, by the width and colours there are."""

    attention: WordAttention

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sources = [_label(word) for word in self.attention.source_words]
        targets = [_label(word) for word in self.attention.target_words]
        letters = [_letters(text.plain) for text in sources]
        label = max((text.cell_len for text in targets), default=0) + 1
        flat = [max(text.cell_len, 1) + 1 for text in sources]
        upright = [max(map(cell_len, word), default=0) + 1 for word in letters]
        if not sources or not targets or label + sum(upright) > options.max_width:
            yield Arrows(self.attention)
        elif label + sum(flat) <= options.max_width:
            header = "".join(set_cell_size(text.plain, size) for text, size in zip(sources, flat, strict=True))
            yield Text(" " * label + header, no_wrap=True, overflow="crop")
            yield from self._body(targets, label, flat, _has_colours(console))
        else:
            yield from _stacked(letters, label, upright)
            yield from self._body(targets, label, upright, _has_colours(console))

    def _body(self, targets: list[Text], label: int, cells: list[int], colours: bool) -> Iterator[Text]:
        for target, row, eos in zip(targets, self.attention.weights, self.attention.eos_mass, strict=True):
            line = _line(target, label)
            problem = row_problem(row, float(eos))
            if problem:
                line.append(problem, style="yellow")
            else:
                for weight, size in zip(row, cells, strict=True):
                    line.append_text(_cell(float(weight), size, colours))
            yield line
        if colours:
            scale = (_cell(tenth / 10, 1, True) for tenth in range(11))
            yield Text("0 ", style="dim").append_text(Text().join(scale)).append(" 1")
        else:
            yield Text("digits are tenths: 9 is 0.9 or more, · is under 0.1", style="dim")


def _has_colours(console: Console) -> bool:
    """Enough of them for a scale, and somebody to see them."""
    return console.is_terminal and not console.no_color and console.color_system in ("256", "truecolor")


def _stacked(letters: list[list[str]], label: int, cells: list[int]) -> Iterator[Text]:
    """Column headings with their letters one under another, standing on the map."""
    height = max(map(len, letters))
    for level in range(height):
        line = " " * label
        for word, size in zip(letters, cells, strict=True):
            at = level - (height - len(word))
            line += set_cell_size(word[at] if at >= 0 else "", size)
        yield Text(line, no_wrap=True, overflow="crop")


def _letters(word: str) -> list[str]:
    """
    >>> _letters("e\u0301te\u0301") == ["e\u0301", "t", "e\u0301"]
    True
    """
    letters: list[str] = []
    for character in word:
        if letters and unicodedata.category(character).startswith("M"):  # an accent stays with its letter
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _label(word: str, most: int = LABEL_CELLS) -> Text:
    """A word as it may be printed: control characters made visible, cut to `most` cells."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in word)
    if cell_len(shown) > most:
        shown = set_cell_size(shown, most - 1).rstrip() + "…"
    return Text(shown)


def _cell(weight: float, size: int, colours: bool) -> Text:
    if colours:
        return Text(" " * size, style=Style(bgcolor=_colour(weight)))
    return Text(_digit(weight).center(size))


def _digit(weight: float) -> str:
    tenths = min(9, int(weight * 10 + 1e-9))
    return str(tenths) if tenths > 0 else "·"


def _colour(weight: float) -> Color:
    at = min(max(weight, 0.0), 1.0) * (len(VIRIDIS) - 1)
    low = min(int(at), len(VIRIDIS) - 2)
    red, green, blue = (a + (b - a) * (at - low) for a, b in zip(VIRIDIS[low], VIRIDIS[low + 1], strict=True))
    return Color.from_rgb(red, green, blue)
