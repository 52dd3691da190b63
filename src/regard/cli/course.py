"""Commands of the course: `regard demo`, `claims`, `complexity` and `corpus`."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, FlagTable, Json, NumberList, numbers
from regard.cli.process import warn
from regard.errors import InputError

DEMO_FLAGS = FlagTable("""
--out FOLDER     Where corpus and run go.  [default: runs/demo, runs/demo-2, …]
--steps N 1..    Training steps; fewer give a worse translator sooner.
""")
CORPUS_FLAGS = FlagTable("""
--out FOLDER             A folder that is new or empty.
--size N 1000..1000000   Training pairs.  [default: 40000]
--seed N                 Seed of the random choices.
""")
CLAIMS_FLAGS = FlagTable("""
--only NAME    Only this claim; can be given several times. --list shows the names.
--out FOLDER   Where models, figures and the report go.
--quick        Very short trainings, to see that everything runs; the verdicts mean nothing.
--list         Print the names and statements of the claims, and run nothing.
""")
COMPLEXITY_FLAGS = FlagTable("""
--quick              Small sizes, a few seconds; times are then too short for their exponents.
--threads N 1..1024  Processor threads. One thread is timed by its processor time, several by the wall clock.
--lengths N,N,…      Sequence lengths n.  [default: from 256 as far as a call is short]
--widths N,N,…       Widths d.  [default: from 128 as far as a call is short]
--kernel N 2..64     Positions a convolution covers.
--window N 3..1025   Positions that restricted self-attention covers; odd.
--out FILE           A .html (with plots), .md, .json or .txt; can be given several times.
""")
REPORT_FILES = ("report.md", "report.html")
QUIET_SECONDS = 3  # progress is shown only after this
MIN_SIZES = 3
MAX_LENGTH, MAX_WIDTH = 16384, 8192  # 2 GB of weights in self-attention; 1 GB of matrices in its projections


def demo(
    out: Annotated[Path | None, DEMO_FLAGS("--out")] = None, steps: Annotated[int | None, DEMO_FLAGS("--steps")] = None
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


def corpus(
    out: Annotated[Path, CORPUS_FLAGS("--out")],
    size: Annotated[int | None, CORPUS_FLAGS("--size")] = None,
    seed: Annotated[int, CORPUS_FLAGS("--seed")] = 1,
) -> None:
    """Write the embedded English–French corpus as text files.

    Sentence pairs with their word alignments and tags, in four parts: train, dev, test and compositional (known words
    in new combinations). README.txt in the folder says what each file holds.

    \b
      regard corpus --out corpus
      regard corpus --size 5000 --seed 2 --out small-corpus
    """
    from regard.course.grammar import DEFAULT_SIZE, generate, write_corpus
    from regard.files import check_free

    check_free(out)  # before the work
    splits = generate(DEFAULT_SIZE if size is None else size, seed)
    write_corpus(out, splits)
    for name, split in splits.items():
        pairs = f", {len(split.pairs)} minimal pairs" if split.pairs else ""
        typer.echo(f"{out / name}.en .fr .align .tags: {len(split.examples):,} lines{pairs}")


def claims(
    only: Annotated[list[str] | None, CLAIMS_FLAGS("--only")] = None,
    out: Annotated[Path, CLAIMS_FLAGS("--out")] = Path("runs/claims"),
    quick: Annotated[bool, CLAIMS_FLAGS("--quick")] = False,
    show_list: Annotated[bool, CLAIMS_FLAGS("--list")] = False,
) -> None:
    """Test what the course notes claim by small experiments.

    They run on the embedded corpus. Each claim has an experiment, a figure and a verdict: shown or not shown, or, for a
    printed figure, rounded or wrong. What counts as shown was fixed before anything was measured, with two exceptions
    that docs/claims.md names. Experiments train small models, a few minutes of one core each. Finished experiments are
    kept; rerun to resume interrupted ones. The report is printed and written as report.md and report.html.

    \b
      regard claims --list
      regard claims --only notes-softmax --out runs/one
    """
    from regard.course.claims.run import choose, run_claims

    chosen = choose(only or [])
    if show_list:
        for claim in chosen:
            typer.echo(f"{claim.name:24}{claim.statement}")
        return
    from regard.course.claims.report import claims_output
    from regard.report.deliver import deliver, write

    output = claims_output(run_claims(chosen, out, quick, lambda line: typer.echo(line, err=True)), quick)
    for name in REPORT_FILES:
        write(output, out / name)
    deliver(output, None)
    typer.echo(f"\nwritten: {', '.join(str(out / name) for name in REPORT_FILES)}")


def sizes(flag: str, most: int) -> Callable[[Any], Any]:
    """A parser of sizes for a fit: "64,128,256" → (64, 128, 256). It raises InputError if there are too few, or if they
    do not increase."""

    def read(words: Any) -> Any:
        found = numbers(flag, int, 2, most)(words)
        if len(found) < MIN_SIZES:
            raise InputError(f'{flag} needs {MIN_SIZES} sizes or more to fit a line, but is "{words}"')
        if any(later <= earlier for earlier, later in pairwise(found)):
            raise InputError(f'{flag} must rise from one size to the next, but is "{words}"')
        return found

    return read


def complexity(
    quick: Annotated[bool, COMPLEXITY_FLAGS("--quick")] = False,
    device: Device = "cpu",
    threads: Annotated[int, COMPLEXITY_FLAGS("--threads")] = 1,
    lengths: Annotated[NumberList | None, COMPLEXITY_FLAGS("--lengths", sizes("--lengths", MAX_LENGTH))] = None,
    widths: Annotated[NumberList | None, COMPLEXITY_FLAGS("--widths", sizes("--widths", MAX_WIDTH))] = None,
    kernel: Annotated[int, COMPLEXITY_FLAGS("--kernel")] = 3,
    window: Annotated[int, COMPLEXITY_FLAGS("--window")] = 17,
    as_json: Json = False,
    out: Annotated[list[Path] | None, COMPLEXITY_FLAGS("--out")] = None,
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
    import torch

    from regard.course.complexity.measure import MeasurementPlan, measure
    from regard.course.complexity.report import complexity_output
    from regard.device import pick_device

    chosen = pick_device(device)
    plan = MeasurementPlan(lengths=lengths, widths=widths, kernel=kernel, window=window).on(chosen)
    began = time.monotonic()

    def show_step(step: str) -> None:
        if time.monotonic() - began > QUIET_SECONDS:
            warn(step)

    threads_before = torch.get_num_threads()  # a setting of the whole process
    torch.set_num_threads(threads)
    try:
        report = measure(plan.quick() if quick else plan, chosen, show_step)
    finally:
        torch.set_num_threads(threads_before)
    output = complexity_output(report)
    for path in out or ():
        deliver(output, path)
    show(contents(output, ".json" if as_json else ".txt").decode())
