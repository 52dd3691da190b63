"""Maps on an HTML page: each is a table whose cells the arrow keys reach.

A map is a real table (`role="grid"`): headers are headers, numbers can be copied into a spreadsheet, the browser shapes
every script. Pictures are inline SVG. The page itself is `report/page.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.grid import Grid
from regard.report.colour import ink_on, on_scale
from regard.report.drawing import Drawing
from regard.report.page import page, picture, said
from regard.report.text import cut, letters_of, printable, runs_left, width

FLAT = 3.0  # em; wider column labels stand upright
LONGEST = 14.0  # em of a column label; a longer one is cut, and shown in full on hovering

STYLE = """
main { max-width: none } body { max-width: none; margin: 1.5rem }
.map table { border-collapse: separate; border-spacing: 1px; font-size: 13px; display: table }
.map th { font-weight: normal; color: var(--ink); text-align: end; padding: 0 .4em; white-space: nowrap;
  max-width: 14em; overflow: hidden; text-overflow: ellipsis; border: 0 }
.map thead th { text-align: center; vertical-align: bottom }
.map thead.up bdi { writing-mode: vertical-rl; display: inline-block; padding: .3em 0 }
.map thead.up bdi.turned { transform: rotate(180deg) }
.map td { min-width: 2.6em; height: 1.6em; padding: 0; border: 0; text-align: center; color: transparent;
  font-variant-numeric: tabular-nums }
.map td:hover, .map td:focus, .numbers:checked ~ .wide td { color: #fff }
.map td.l:hover, .map td.l:focus, .numbers:checked ~ .wide td.l { color: #000 }
.map td:focus { outline: 3px solid #d55e00; outline-offset: -1px }
.map td.h, .numbers:checked ~ .wide td.h { color: var(--faint) }
.map td.p, .numbers:checked ~ .wide td.p { color: var(--warning); text-align: start }
.caption { color: var(--faint); margin: .4rem 0 } label { color: var(--faint) }
"""

SCRIPT = """
for (const grid of document.querySelectorAll('[role=grid]')) {
  const rows = [...grid.tBodies[0].rows].map(row => [...row.querySelectorAll('td')]);
  const right = getComputedStyle(grid).direction === 'rtl' ? -1 : 1;
  grid.addEventListener('keydown', event => {
    const y = rows.findIndex(row => row.includes(event.target));
    if (y < 0) return;
    const x = rows[y].indexOf(event.target), last = rows[y].length - 1;
    const to = { ArrowRight: [y, x + right], ArrowLeft: [y, x - right], ArrowDown: [y + 1, x], ArrowUp: [y - 1, x],
      Home: [y, 0], End: [y, last] }[event.key];
    if (!to) return;
    event.preventDefault();
    const row = rows[to[0]], cell = row && row[Math.min(to[1], to[0] === y ? to[1] : row.length - 1)];
    if (!cell) return;
    event.target.tabIndex = -1; cell.tabIndex = 0; cell.focus();
  });
}
"""


def maps_page(title: str, grids: Sequence[Grid] = (), drawings: Sequence[Drawing] = ()) -> str:
    pictures = ['<div class="pictures">', *map(picture, drawings), "</div>"] if drawings else []
    body = "\n".join([*pictures, *(map_table(grid, number) for number, grid in enumerate(grids))])
    return page(title, body, STYLE, SCRIPT if grids else "")


def map_table(grid: Grid, number: int = 0) -> str:
    """One map. The first cell can be reached with the tab key, the others from it with the arrow keys."""
    labels = [printable(word) for word in grid.columns]
    upright = ' class="up"' if any(width(word) > FLAT for word in labels) else ""
    way = ' dir="rtl"' if runs_left(" ".join(labels)) else ""
    head = "".join(_heading(word) for word in labels)
    if grid.hidden_name:
        head += _heading(f"{grid.hidden_name}, not shown")
    rows = "\n".join(_row(grid, i) for i in range(len(grid.rows)))
    name = said(grid.title or "attention")
    return (
        f'<section class="map"><h2>{name}</h2>\n<input type="checkbox" class="numbers" id="numbers{number}">'
        f'<label for="numbers{number}"> numbers in all cells</label>\n'
        f'<div class="wide"{way}><table role="grid" aria-readonly="true" aria-label="{name}">\n'
        f"<thead{upright}><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
        f'<p class="caption">{said(grid.caption)}</p></section>'
    )


def _row(grid: Grid, i: int) -> str:
    label, first = printable(grid.rows[i]), 0 if i == 0 else -1
    start = f'<tr><th scope="row" title="{said(label)}"><bdi>{said(label)}</bdi></th>'
    problem = grid.problems[i]
    if problem:
        return f'{start}<td class="p" tabindex="{first}" colspan="{len(grid.columns) + 1}">{said(problem)}</td></tr>'
    cells = []
    for j, weight in enumerate(grid.values[i].tolist()):
        note = said(f"{label} ← {printable(grid.columns[j])} {weight:.3f}")
        light = ' class="l"' if ink_on(weight) == "#000000" else ""
        reach = first if j == 0 else -1
        cells.append(
            f'<td{light} tabindex="{reach}" style="background:{on_scale(weight).hex}" title="{note}" '
            f'aria-label="{note}">{weight:.2f}</td>'
        )
    if grid.hidden_name:
        reach = first if not grid.columns else -1
        cells.append(f'<td class="h" tabindex="{reach}">{float(grid.hidden[i]):.2f}</td>')
    return start + "".join(cells) + "</tr>"


def _heading(word: str) -> str:
    """A column's name; upright it is turned, so that one reads it upwards, unless its script is at home in upright
    lines, as Chinese, Japanese and emoji are."""
    letters = letters_of(word)
    stands = sum(width(letter) > 1 for letter in letters) * 2 > len(letters)
    turned = "" if stands else ' class="turned"'
    short, full = said(cut(word, LONGEST)), said(word)
    return f'<th scope="col" title="{full}" aria-label="{full}"><bdi{turned}>{short}</bdi></th>'
