"""Maps on an HTML page: tables whose cells can be reached with the arrow keys.

A map is a real table (`role="grid"`): headers are headers, numbers can be copied into a spreadsheet, the browser shapes
every script. Drawings are inline SVG. The page itself is `report/page.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.explain.grid import Grid
from regard.report.colour import INK_TURNS
from regard.report.drawing import Drawing
from regard.report.page import escaped, page, picture
from regard.report.text import cut, letters_of, printable, runs_left, width

FLAT = 3.0  # em; wider column labels are vertical
LONGEST = 14.0  # maximum em of a column label; longer ones are cut, and shown in full on hover


def maps_page(title: str, grids: Sequence[Grid] = (), drawings: Sequence[Drawing] = ()) -> str:
    pictures = ['<div class="pictures">', *map(picture, drawings), "</div>"] if drawings else []
    body = "\n".join([*pictures, *(map_table(grid, number) for number, grid in enumerate(grids))])
    style, script = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("map.css", "map.js"))
    return page(title, body, f"\n{style}", f"\n{script}" if grids else "")


def map_table(grid: Grid, number: int = 0) -> str:
    """Renders one map. The tab key reaches the first cell, and the arrow keys the others from there."""
    labels = [printable(word) for word in grid.columns]
    upright = ' class="up"' if any(width(word) > FLAT for word in labels) else ""
    way = ' dir="rtl"' if runs_left(" ".join(labels)) else ""
    head = "".join(_heading(word) for word in labels)
    if grid.hidden_name:
        head += _heading(f"{grid.hidden_name}, not shown")
    rows = "\n".join(_row(grid, i) for i in range(len(grid.rows)))
    name = escaped(grid.title or "attention")
    return (
        f'<section class="map"><h2>{name}</h2>\n<input type="checkbox" class="numbers" id="numbers{number}">'
        f'<label for="numbers{number}"> numbers in all cells</label>\n'
        f'<div class="wide"{way}><table role="grid" aria-readonly="true" aria-label="{name}">\n'
        f"<thead{upright}><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
        f'<p class="caption">{escaped(grid.caption)}</p></section>'
    )


def _row(grid: Grid, i: int) -> str:
    label, first = printable(grid.rows[i]), 0 if i == 0 else -1
    start = f'<tr><th scope="row" title="{escaped(label)}"><bdi>{escaped(label)}</bdi></th>'
    problem = grid.problems[i]
    if problem:
        return f'{start}<td class="p" tabindex="{first}" colspan="{len(grid.columns) + 1}">{escaped(problem)}</td></tr>'
    cells = []
    for j, weight in enumerate(grid.values[i].tolist()):
        note = escaped(f"{label} ← {printable(grid.columns[j])} {weight:.3f}")
        strong = ' class="on-heat"' if round(weight, 2) >= INK_TURNS else ""
        reach = first if j == 0 else -1
        cells.append(
            f'<td{strong} tabindex="{reach}" style="--w:{round(100 * weight)}%" title="{note}" '
            f'aria-label="{note}">{weight:.2f}</td>'
        )
    if grid.hidden_name:
        reach = first if not grid.columns else -1
        cells.append(f'<td class="h" tabindex="{reach}">{float(grid.hidden[i]):.2f}</td>')
    return start + "".join(cells) + "</tr>"


def _heading(word: str) -> str:
    """A column heading. Vertical headings are rotated to be read upwards, except in scripts that can be written
    vertically, such as Chinese, Japanese and emoji."""
    letters = letters_of(word)
    stands = sum(width(letter) > 1 for letter in letters) * 2 > len(letters)
    turned = "" if stands else ' class="turned"'
    short, full = escaped(cut(word, LONGEST)), escaped(word)
    return f'<th scope="col" title="{full}" aria-label="{full}"><bdi{turned}>{short}</bdi></th>'
