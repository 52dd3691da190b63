"""`regard demo`: the whole way in a few minutes, on the embedded corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import number
from regard.errors import InputError


def demo(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where corpus and run go.  [default: runs/demo, runs/demo-2, …]"),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            parser=number("--steps", int, 1),
            metavar="N",
            help="Training steps; fewer give a worse translator sooner.",
        ),
    ] = None,
) -> None:
    """Train, measure and explain a small translator.

    English–French, on the embedded corpus, in a few minutes on a CPU. Nothing is downloaded.

    \b
      regard demo
      regard demo --steps 50 --out runs/first
    """
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder that does not exist yet")
    from regard.course.demo import run_demo

    run_demo(out, steps)
