"""One HTML file that needs nothing else: no network, no library. A content security policy in it forbids both.

A map is a real table (`role="grid"`): headers are headers, arrow keys go from cell to cell, numbers can be copied into
a spreadsheet, the browser shapes every script. Pictures are inline SVG. Text from outside is escaped, never markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from regard.explain.grid import Grid
from regard.report.colour import DARK, FAINT, INK, PAPER, WARNING, dark_rules, ink_on, on_scale
from regard.report.drawing import Drawing
from regard.report.svg import svg
from regard.report.text import cut, letters_of, printable, runs_left, width

FLAT = 3.0  # em; wider column labels stand upright
LONGEST = 14.0  # em of a column label; a longer one is cut, and said in full on hovering
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

NAMES = {"paper": PAPER, "ink": INK, "faint": FAINT, "warning": WARNING}
LIGHT_NAMES, DARK_NAMES = (
    "; ".join(f"--{name}: {twin.get(colour, colour)}" for name, colour in NAMES.items()) for twin in ({}, DARK)
)
COLOURS = f"""
:root {{ color-scheme: light dark; {LIGHT_NAMES} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK_NAMES} }} {dark_rules()} }}
"""
STYLE = """
body { background: var(--paper); color: var(--ink); font: 15px/1.4 system-ui, "Noto Sans", sans-serif; margin: 1.5rem }
h1 { font-size: 1.2rem } h2 { font-size: 1rem; margin: 1.5rem 0 .4rem }
.wide { overflow-x: auto; padding: 3px } .pictures { display: flex; flex-wrap: wrap }
table { border-collapse: separate; border-spacing: 1px; font-size: 13px }
th { font-weight: normal; color: var(--ink); text-align: end; padding: 0 .4em; white-space: nowrap; max-width: 14em;
  overflow: hidden; text-overflow: ellipsis }
thead th { text-align: center; vertical-align: bottom }
thead.up bdi { writing-mode: vertical-rl; display: inline-block; padding: .3em 0 }
thead.up bdi.turned { transform: rotate(180deg) }
td { min-width: 2.6em; height: 1.6em; text-align: center; color: transparent; font-variant-numeric: tabular-nums }
td:hover, td:focus, .numbers:checked ~ .wide td { color: #fff }
td.l:hover, td.l:focus, .numbers:checked ~ .wide td.l { color: #000 }
td:focus { outline: 3px solid #d55e00; outline-offset: -1px }
td.h, .numbers:checked ~ .wide td.h { color: var(--faint) }
td.p, .numbers:checked ~ .wide td.p { color: var(--warning); text-align: start }
.caption { color: var(--faint); margin: .4rem 0 } label { color: var(--faint) }
svg { max-width: 100%; height: auto } svg .paper { fill: none } svg .ink { fill: currentColor }
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


def page(title: str, grids: Sequence[Grid] = (), drawings: Sequence[Drawing] = ()) -> str:
    pictures = [f'<div class="wide">{svg(drawing, inline=True)}</div>' for drawing in drawings]
    if pictures:
        pictures = ['<div class="pictures">', *pictures, "</div>"]
    body = "\n".join([*pictures, *(table(grid, number) for number, grid in enumerate(grids))])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_said(title)}</title>\n<style>{COLOURS}{STYLE}</style>\n</head>\n<body>\n"
        f'<main>\n<h1 dir="auto">{_said(title)}</h1>\n{body}\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )


def table(grid: Grid, number: int = 0) -> str:
    """One map. The first cell can be reached with the tab key, the others from it with the arrow keys."""
    labels = [printable(word) for word in grid.columns]
    looks = ' class="up"' if any(width(word) > FLAT for word in labels) else ""
    way = ' dir="rtl"' if runs_left(" ".join(labels)) else ""
    head = "".join(_heading(word) for word in labels)
    if grid.hidden_name:
        head += _heading(f"{grid.hidden_name}, not shown")
    rows = "\n".join(_row(grid, i) for i in range(len(grid.rows)))
    name = _said(grid.title or "attention")
    return (
        f'<section><h2>{name}</h2>\n<input type="checkbox" class="numbers" id="numbers{number}">'
        f'<label for="numbers{number}"> numbers in all cells</label>\n'
        f'<div class="wide"{way}><table role="grid" aria-readonly="true" aria-label="{name}">\n'
        f"<thead{looks}><tr><td></td>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
        f'<p class="caption">{_said(grid.caption)}</p></section>'
    )


def _row(grid: Grid, i: int) -> str:
    label, first = printable(grid.rows[i]), 0 if i == 0 else -1
    start = f'<tr><th scope="row" title="{_said(label)}"><bdi>{_said(label)}</bdi></th>'
    problem = grid.problems[i]
    if problem:
        return f'{start}<td class="p" tabindex="{first}" colspan="{len(grid.columns) + 1}">{_said(problem)}</td></tr>'
    cells = []
    for j, weight in enumerate(grid.values[i].tolist()):
        note = _said(f"{label} ← {printable(grid.columns[j])} {weight:.3f}")
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
    said, full = _said(cut(word, LONGEST)), _said(word)
    return f'<th scope="col" title="{full}" aria-label="{full}"><bdi{turned}>{said}</bdi></th>'


def _said(text: str) -> str:
    return escape(printable(text))
