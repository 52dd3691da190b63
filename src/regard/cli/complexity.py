"""`regard complexity`: what a layer costs as sentences grow."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Json, NumberList, number, numbers
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.course.complexity.measure import ComplexityReport

QUIET_SECONDS = 3  # after which progress is shown
LEAST_SIZES = 3
LONGEST, WIDEST = 16384, 8192  # 2 GB of weights in self-attention; 1 GB of matrices in its projections


def sizes(flag: str, most: int) -> Callable[[Any], Any]:
    """A reader of sizes for a fit: "64,128,256" → (64, 128, 256)."""

    def read(words: Any) -> Any:
        found = numbers(flag, int, 2, most)(words)
        if len(found) < LEAST_SIZES:
            raise InputError(f'{flag} needs {LEAST_SIZES} sizes or more to fit a line, but is "{words}"')
        if any(later <= earlier for earlier, later in pairwise(found)):
            raise InputError(f'{flag} must rise from one size to the next, but is "{words}"')
        return found

    return read


def complexity(
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, a few seconds; times are then too short for their exponents.")
    ] = False,
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", help="Where to compute: auto, cuda, cuda:1, …, mps or cpu.")
    ] = "cpu",
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            parser=number("--threads", int, 1, 1024),
            metavar="N",
            help="Processor threads. One thread is timed by its processor time, several by the wall clock.",
        ),
    ] = 1,
    lengths: Annotated[
        NumberList | None,
        typer.Option(
            "--lengths",
            parser=sizes("--lengths", LONGEST),
            metavar="N,N,…",
            help="Sequence lengths n.  [default: from 256 as far as a call is short]",
        ),
    ] = None,
    widths: Annotated[
        NumberList | None,
        typer.Option(
            "--widths",
            parser=sizes("--widths", WIDEST),
            metavar="N,N,…",
            help="Widths d.  [default: from 128 as far as a call is short]",
        ),
    ] = None,
    kernel: Annotated[
        int,
        typer.Option(
            "--kernel", parser=number("--kernel", int, 2, 64), metavar="N", help="Positions a convolution covers."
        ),
    ] = 3,
    window: Annotated[
        int,
        typer.Option(
            "--window",
            parser=number("--window", int, 3, 1025),
            metavar="N",
            help="Positions that restricted self-attention covers; odd.",
        ),
    ] = 17,
    as_json: Json = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", metavar="FILE", help="A .html (with plots), .md, .json or .txt; can be given several times."
        ),
    ] = None,
) -> None:
    """Measure what layers cost, beside what the paper claims.

    The first table of the lecture notes (Vaswani et al. 2017, table 1): self-attention takes n²·d operations, a
    recurrent layer n·d², and so on. This times each layer while the length n grows, then while the width d grows, and
    fits the exponents; it also counts FLOPs and memory, and finds by gradients how many steps must wait for each
    other and how many layers a signal needs from one end of the sequence to the other. Half a minute on one core.

    \b
      regard complexity --quick
      regard complexity --quick --out complexity.html --out complexity.md
    """
    if window % 2 == 0:
        raise InputError(f"--window must be an odd number, but is {window}")
    from regard.report.deliver import REPORTS, check_out, contents, deliver, show

    for path in out or ():
        check_out(path, REPORTS)
    from regard.course.complexity.measure import MeasurementPlan, measure
    from regard.course.complexity.report import complexity_output
    from regard.device import pick_device

    chosen = pick_device(device)
    plan = MeasurementPlan(lengths=lengths, widths=widths, kernel=kernel, window=window).on(chosen)
    report = with_threads(threads, lambda: measure(plan.quick() if quick else plan, chosen, progress()))
    output = complexity_output(report)
    for path in out or ():
        deliver(output, path)
    show(contents(output, ".json" if as_json else ".txt").decode())


def progress() -> Callable[[str], None]:
    """Says what comes next on standard error, once it has taken a while."""
    began = time.monotonic()

    def say(what: str) -> None:
        if time.monotonic() - began > QUIET_SECONDS:
            print(f"regard: {what}", file=sys.stderr)

    return say


def with_threads(threads: int, work: Callable[[], ComplexityReport]) -> ComplexityReport:
    """Torch's number of threads is one for the whole program: it is set back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return work()
    finally:
        torch.set_num_threads(before)
