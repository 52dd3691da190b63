"""`regard demo`: the whole way in a few minutes, on the embedded corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[
        Path | None, typer.Option(help="Where corpus and run go (default: runs/demo, runs/demo-2, …).")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Fewer for a quick look.")] = None,
) -> None:
    """Train, measure and look inside a small English–French translator, in a few minutes on a CPU."""
    from regard.demo import run_demo

    run_demo(out, steps)
