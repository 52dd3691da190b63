"""Writes a result to the terminal, or to a file in the format of its suffix.

    check_out(out, NUMBERS)                    # first: raises if it cannot be written, before any work is done
    …
    deliver(Output(text=lambda: table.text(), data=report.to_dict), out)     # out=None: the terminal

An `Output` has a function for each of its forms; only the requested form is made. Files are written atomically. "wrote
FILE" goes to standard error: standard output has results only. `contents` returns the bytes without writing them,
`write` writes without a message.

A new form of output is one writer and one line of `FORMATS`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.errors import InputError
from regard.files import write_atomically
from regard.report.cells import plain_text
from regard.report.drawing import Drawing
from regard.report.json import dumps
from regard.report.pdf import pdf
from regard.report.render import png, svg

if TYPE_CHECKING:
    from rich.console import RenderableType

TEXT_WIDTH = 160  # columns of a text file
NUMBERS = (".json", ".txt")
REPORTS = (".html", ".md", ".json", ".txt")
PICTURES = (".svg", ".html", ".json", ".png", ".pdf", ".txt")


@dataclass(frozen=True)
class Output:
    """The forms of a result, each as a function that makes it."""

    text: Callable[[], RenderableType]  # for a terminal: a string or a rich renderable
    data: Callable[[], Any] | None = None
    markdown: Callable[[], str] | None = None
    page: Callable[[], str] | None = None
    drawing: Callable[[], Drawing] | None = None
    dot: Callable[[], str] | None = None  # a graph in Graphviz's language


class Format(NamedTuple):
    form: str  # the field of `Output` that it is made from
    write: Callable[[Any, Path | None], str | bytes]  # (that form, a font) → contents


FORMATS = {
    ".svg": Format("drawing", lambda made, font: svg(made)),
    ".html": Format("page", lambda made, font: made),
    ".json": Format("data", lambda made, font: dumps(made)),
    ".png": Format("drawing", png),
    ".pdf": Format("drawing", pdf),
    ".md": Format("markdown", lambda made, font: made),
    ".txt": Format("text", lambda made, font: as_text(made)),
    ".dot": Format("dot", lambda made, font: made),
}


def check_out(path: Path | None, suffixes: Sequence[str] = tuple(FORMATS)) -> None:
    """Raises InputError if a file of that name could not be written; None is the terminal."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"{path} must end in {', '.join(suffixes)}, which says what is written; try {path.stem}{suffixes[0]}"
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: {path.parent} is not a folder")


def deliver(output: Output, out: Path | None, font: Path | None = None, above: str = "") -> None:
    """Writes a result to `out`, or to the terminal if None. `above` is printed on standard output in both cases."""
    if out is not None:
        write(output, out, font)
    if above:
        print(above)
    if out is None:
        show(output.text())
    else:
        print(f"regard: wrote {out}", file=sys.stderr)


def write(output: Output, path: Path, font: Path | None = None) -> None:
    check_out(path, [suffix for suffix, each in FORMATS.items() if getattr(output, each.form) is not None])
    made = contents(output, path.suffix.lower(), font)
    write_atomically(path.resolve(), lambda place: place.write_bytes(made))


def contents(output: Output, suffix: str, font: Path | None = None) -> bytes:
    """Returns the contents of a file with this suffix; deterministic."""
    form, writer = FORMATS[suffix]
    made = writer(getattr(output, form)(), font)
    return made if isinstance(made, bytes) else made.encode("utf-8", "replace")


def show(made: RenderableType) -> None:
    """Prints to the terminal."""
    if isinstance(made, str):
        print(made.rstrip("\n"))
        return
    from rich.console import Console

    Console(highlight=False).print(made)


def as_text(made: RenderableType) -> str:
    """Renders as plain text, like a terminal without colours."""
    if isinstance(made, str):
        return made if made.endswith("\n") else made + "\n"
    return plain_text(made, TEXT_WIDTH)
