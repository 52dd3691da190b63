"""`regard complexity`: its flags. What they ask for is measured in `compare/complexity.py`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.lines import number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.course.complexity.measure import ComplexityReport

QUIET_SECONDS = 3  # whoever waits longer is told what for
LEAST_SIZES = 3
LONGEST, WIDEST = 16384, 8192  # 2 GB of weights in self-attention; 1 GB of matrices in its projections


def complexity(
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, a few seconds; times are then too short for their exponents.")
    ] = False,
    device: Annotated[str, typer.Option(metavar="NAME", help="Where to time: cpu, cuda, cuda:1, …, mps.")] = "cpu",
    threads: Annotated[
        int,
        typer.Option(
            parser=number("--threads", int),
            metavar="N",
            help="Processor threads. One is timed by its own clock; several by the clock on the wall.",
        ),
    ] = 1,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Sequence lengths n.  [default: from 256 as far as a call is short]"),
    ] = None,
    widths: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Widths d.  [default: from 128 as far as a call is short]")
    ] = None,
    kernel: Annotated[
        int, typer.Option(parser=number("--kernel", int), metavar="K", help="Positions a convolution covers.")
    ] = 3,
    window: Annotated[
        int,
        typer.Option(
            parser=number("--window", int), metavar="R", help="Positions restricted self-attention sees; odd."
        ),
    ] = 17,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every point measured.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with plots.")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the tables as Markdown.")] = None,
) -> None:
    """Measure what layers cost beside what is said of them.

    The first table of the lecture notes (Vaswani et al. 2017, table 1): self-attention takes n²·d operations, a
    recurrent layer n·d², and so on. This times each layer while the length n grows, then while the width d grows, and
    fits the exponents; it also counts FLOPs and memory, and finds by gradients how many steps must wait for each
    other and how many layers a signal needs from one end of the sequence to the other. Half a minute on one core.

    A first look:  regard complexity --quick

    With plots:  regard complexity --html complexity.html
    """
    given_lengths = sizes("--lengths", lengths, LONGEST)
    given_widths = sizes("--widths", widths, WIDEST)
    if threads < 1:
        raise InputError(f"--threads must be 1 or more, but is {threads}")
    if not 2 <= kernel <= 64:
        raise InputError(f"--kernel must be 2 to 64, but is {kernel}")
    if not 3 <= window <= 1025 or window % 2 == 0:
        raise InputError(f"--window must be an odd number from 3 to 1025, but is {window}")
    for flag, path in (("--html", html), ("--markdown", markdown)):
        if path is not None and not path.parent.is_dir():
            raise InputError(f"{flag} {path} cannot be written: there is no folder {path.parent}")

    from regard.course.complexity.measure import MeasurementPlan, measure
    from regard.course.complexity.report import as_json as to_json
    from regard.course.complexity.report import as_markdown, as_page, as_text
    from regard.device import pick_device
    from regard.files import write_atomically

    chosen = pick_device(device)
    plan = MeasurementPlan(lengths=given_lengths, widths=given_widths, kernel=kernel, window=window).on(chosen)
    report = with_threads(threads, lambda: measure(plan.quick() if quick else plan, chosen, progress()))
    for path, form in ((html, as_page), (markdown, as_markdown)):
        if path is not None:
            write_atomically(path, partial(Path.write_text, data=form(report), encoding="utf-8"))
            print(f"regard: wrote {path}", file=sys.stderr)
    typer.echo(to_json(report) if as_json else as_text(report))


def sizes(flag: str, words: str | None, most: int) -> tuple[int, ...] | None:
    """ "64,128,256" → (64, 128, 256)"""
    if words is None:
        return None
    found = tuple(number(flag, int)(word.strip()) for word in words.split(","))
    if len(found) < LEAST_SIZES:
        raise InputError(f'{flag} needs {LEAST_SIZES} sizes or more for a line through them, but is "{words}"')
    if any(later <= earlier for earlier, later in pairwise(found)):
        raise InputError(f'{flag} must rise from one size to the next, but is "{words}"')
    if found[0] < 2 or found[-1] > most:
        raise InputError(f'{flag} must be from 2 to {most}, but is "{words}"')
    return found


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
