"""A map in the terminal, with rich: one line per row, or a heat map.

    chat ← cat   0.93 ███████▌                black cat
    noir ← black 0.88 ███████            chat   ·    9      (colours where the terminal has them)

Under every map is its caption: what it shows and how reliable it is. A row with a problem is not drawn; its line says
why. Widths are in terminal cells, so wide scripts and emoji line up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.color import Color
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.style import Style
from rich.text import Text

from regard.explain.grid import Grid
from regard.report.cells import cell_len, pad, shorten
from regard.report.colour import on_scale
from regard.report.text import letters_of

BAR_CELLS = 8
LABEL_CELLS = 16  # longer words are cut


def render(grid: Grid, *, heat: bool = True) -> RenderableType:
    """Renders a heat map or arrows, with the caption. A heat map too wide for the terminal becomes arrows."""
    title = [Text(grid.title)] if grid.title else []
    return Group(*title, HeatMap(grid) if heat else Arrows(grid), Text(grid.caption, style="dim"))


# ------------------------------------------------------------------------------------------------ arrows


@dataclass(frozen=True)
class Arrows:
    """A list of rows, each with the column of its largest weight and that weight."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fixed = len(" ← ") + len(" 0.00")
        most = max(3, min(LABEL_CELLS, (options.max_width - fixed) // 2))
        targets = [_label(word, most) for word in self.grid.rows]
        sources = [_label(word, most) for word in self.grid.columns]
        left, right = (max((text.cell_len for text in side), default=0) for side in (targets, sources))
        bars = left + fixed + right + 1 + BAR_CELLS <= options.max_width
        rows = zip(targets, self.grid.values, self.grid.hidden, self.grid.problems, strict=True)
        for target, row, hidden, wrong in rows:
            line = _line(target, left)
            problem = wrong or ("no source words" if row.size == 0 else None)
            if problem:
                yield line.append(f" {problem}", style="yellow")
                continue
            best = int(row.argmax())
            line.append(" ← ").append_text(_line(sources[best], right)).append(f" {row[best]:.2f}")
            if bars:
                line.append(" " + _bar(float(row[best])), style="cyan")
            if hidden > row[best]:  # the largest weight is on hidden positions, such as EOS
                line.append(f" ({self.grid.hidden_name} {hidden:.2f})", style="yellow")
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
    """A heat map, laid out when printed, for the width and colours of the terminal."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sources = [_label(word) for word in self.grid.columns]
        targets = [_label(word) for word in self.grid.rows]
        letters = [letters_of(text.plain) for text in sources]
        label = max((text.cell_len for text in targets), default=0) + 1
        flat = [max(text.cell_len, 1) + 1 for text in sources]
        upright = [max(map(cell_len, word), default=0) + 1 for word in letters]
        if not sources or not targets or label + sum(upright) > options.max_width:
            yield Arrows(self.grid)
        elif label + sum(flat) <= options.max_width:
            header = "".join(pad(text.plain, size) for text, size in zip(sources, flat, strict=True))
            yield Text(" " * label + header, no_wrap=True, overflow="crop")
            yield from self._body(targets, label, flat, _has_colours(console))
        else:
            yield from _stacked(letters, label, upright)
            yield from self._body(targets, label, upright, _has_colours(console))

    def _body(self, targets: list[Text], label: int, cells: list[int], colours: bool) -> Iterator[Text]:
        for target, row, problem in zip(targets, self.grid.values, self.grid.problems, strict=True):
            line = _line(target, label)
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
    """Whether the terminal has enough colours for a scale."""
    return console.is_terminal and not console.no_color and console.color_system in ("256", "truecolor")


def _stacked(letters: list[list[str]], label: int, cells: list[int]) -> Iterator[Text]:
    """Column headings with one letter per line, aligned at the bottom."""
    height = max(map(len, letters))
    for level in range(height):
        line = " " * label
        for word, size in zip(letters, cells, strict=True):
            at = level - (height - len(word))
            line += pad(word[at] if at >= 0 else "", size)
        yield Text(line, no_wrap=True, overflow="crop")


def _label(word: str, most: int = LABEL_CELLS) -> Text:
    return Text(shorten(word, most))


def _cell(weight: float, size: int, colours: bool) -> Text:
    if colours:
        return Text(" " * size, style=Style(bgcolor=Color.from_rgb(*on_scale(weight, dark=True))))
    return Text(_digit(weight).center(size))


def _digit(weight: float) -> str:
    tenths = min(9, int(weight * 10 + 1e-9))
    return str(tenths) if tenths > 0 else "·"
