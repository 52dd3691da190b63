"""`regard demo`: the whole way in a few minutes, on the embedded corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.lines import number
from regard.errors import InputError


def demo(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where corpus and run go.  [default: runs/demo, runs/demo-2, …]"),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(parser=number("--steps", int), metavar="N", help="Training steps; fewer for a quick look."),
    ] = None,
) -> None:
    """Train, measure and look inside a small translator.

    English–French, on the embedded corpus, in a few minutes on a CPU. Nothing is downloaded.
    """
    if steps is not None and steps < 1:
        raise InputError(f"--steps must be at least 1, but is {steps}")
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder that does not exist yet")
    from regard.course.demo import run_demo

    run_demo(out, steps)
