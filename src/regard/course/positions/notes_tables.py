"""The position tables of the notes, with all numbers recomputed: counting, p/50, bits, and sinusoids of width 5.

The notes (file 004) show embeddings of five numbers and add a position to each: first p itself, then p/50 in a sentence
of 50 words, then sines and cosines. Embeddings, positions and the sentence's length are theirs; sums and encodings are
computed. With width 5 the pairs are i = 0, 1, 2, and the last sine has no cosine.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.course.positions.encodings import binary, sinusoid
from regard.report.page import escaped, page
from regard.report.table import Table

WIDE = 110
LENGTH = 50  # words of the notes' sentence
AT = (1, 2, LENGTH)  # positions shown in the notes
WORD = (0.42, 0.31, 0.21, 0.31, 0.45)
WORDS = (WORD, (0.12, 0.11, 0.11, 0.31, 0.85), (0.42, 0.11, 0.91, 0.81, 0.75))  # from the slide with p/50
BEFORE, AFTER = (0.37, 0.99, 0.01, 0.08), (0.42, 0.84, 0.12, 0.81)  # from the slide that adds "a position"


@dataclass(frozen=True)
class NotesTable:
    """A table with its title and a remark."""

    title: str
    table: Table
    remark: str


def notes_tables() -> tuple[NotesTable, ...]:
    """Returns all tables, in the order of the notes."""
    return (counting(), shares(), bits(), pairs(), sinusoids_of_five(), no_sinusoid())


def counting() -> NotesTable:
    rows = [(f"p = {p}", [p] * len(WORD), WORD) for p in AT]
    remark = "The position soon hides the word: at p = 50 each number is nearly the position alone."
    return NotesTable("p in every dimension", _sums(rows), remark)


def shares() -> NotesTable:
    rows = [(f"{p}/{LENGTH}", [p / LENGTH] * len(WORD), word) for p, word in zip(AT, WORDS, strict=True)]
    remark = (
        f"Never over 1, but the step depends on the length: 1/{LENGTH} = {1 / LENGTH:g} here, and 1/10 = 0.1 in a "
        "sentence of 10 words. The notes' second and fourth requirements do not hold."
    )
    return NotesTable(f"p/{LENGTH} in every dimension", _sums(rows), remark)


def bits() -> NotesTable:
    found = binary(np.arange(16), 4)[:, ::-1].astype(int)  # the slowest bit first, as the notes print it
    half = len(found) // 2
    rows = [[str(p), *map(str, found[p]), str(p + half), *map(str, found[p + half])] for p in range(half)]
    names = ["8", "4", "2", "1"]
    remark = (
        "The last bit changes at every number, the one before it at every second, and so on; each takes only 0 or 1."
    )
    return NotesTable("bits", Table(["p", *names, "p", *names], rows, left=()), remark)


def pairs(width: int = len(WORD)) -> NotesTable:
    rows = []
    for dimension in range(width):
        i, name = dimension // 2, "cos" if dimension % 2 else "sin"
        rows.append(
            [str(dimension), str(i), f"{name}(p / 10000^({2 * i}/{width}))", f"{10000 ** (2 * i / width):,.2f}"]
        )
    remark = (
        f"With d = {width}, i = {', '.join(map(str, range((width + 1) // 2)))}: it numbers pairs of dimensions, not "
        "dimensions (the notes write i = 0, 1, 2, 3, 4)."
        + (" The last sine has no cosine beside it." if width % 2 else "")
    )
    table = Table(["dimension", "i", "PE(p, dimension)", "divisor of p"], rows, left=(2,))
    return NotesTable(f"sinusoids of width {width}: which function", table, remark)


def sinusoids_of_five() -> NotesTable:
    at = np.array([0, *AT])
    found = sinusoid(at, len(WORD))
    rows = [(f"p = {p}", vector.tolist(), WORD) for p, vector in zip(at, found, strict=True)]
    remark = "Every number stays within −1 … 1, at any position and in a sentence of any length."
    return NotesTable(f"sinusoids of width {len(WORD)}", _sums(rows), remark)


def no_sinusoid() -> NotesTable:
    added = [after - before for before, after in zip(BEFORE, AFTER, strict=True)]
    own = sinusoid(np.array([1]), len(BEFORE))[0]
    rows = [
        ["the notes'", *map(_short, added), *(_short(x, 3) for x in _squares(added))],
        ["position 1", *map(_short, own), *(_short(x, 3) for x in _squares(own))],
    ]
    header = ["added", *(f"dimension {i}" for i in range(len(BEFORE))), "sin² + cos², i = 0", "i = 1"]
    remark = (
        f"The notes add a position to {_list(BEFORE)} and get {_list(AFTER)}. No sinusoid gives the difference: "
        "sin² + cos² of each pair must be 1."
    )
    return NotesTable("a position that no sinusoid gives", Table(header, rows), remark)


# ------------------------------------------------------------------------------------------------ output


def as_text(tables: Sequence[NotesTable]) -> str:
    return (
        "\n\n".join(f"{one.title}\n\n{one.table.text()}\n\n{textwrap.fill(one.remark, WIDE)}" for one in tables) + "\n"
    )


def as_markdown(tables: Sequence[NotesTable]) -> str:
    return "\n\n".join(f"## {one.title}\n\n{one.table.markdown()}\n\n{one.remark}" for one in tables) + "\n"


def as_page(tables: Sequence[NotesTable]) -> str:
    parts = [f"<h2>{escaped(one.title)}</h2>\n{one.table.html()}\n<p>{escaped(one.remark)}</p>" for one in tables]
    return page("Position tables of the notes", "\n".join(parts))


def as_dict(tables: Sequence[NotesTable]) -> dict[str, Any]:
    return {
        "tables": [
            {"title": one.title, "header": list(one.table.header), "rows": one.table.rows, "remark": one.remark}
            for one in tables
        ]
    }


def _sums(rows: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> Table:
    """Returns a table with three lines for each position: the position's vector, the word's, their sum."""
    lines = []
    for name, added, word in rows:
        summed = [a + w for a, w in zip(added, word, strict=True)]
        lines += [
            [name, "added", *map(_short, added)],
            ["", "word", *map(_short, word)],
            ["", "sum", *map(_short, summed)],
        ]
    return Table(["position", "", *(str(dimension) for dimension in range(len(rows[0][1])))], lines, left=(0, 1))


def _squares(vector: Sequence[float]) -> list[float]:
    return [vector[i] ** 2 + vector[i + 1] ** 2 for i in range(0, len(vector), 2)]


def _short(value: float, digits: int = 2) -> str:
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def _list(values: Sequence[float]) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"
