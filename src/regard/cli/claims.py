"""`regard claims`: the course notes' claims, each with an experiment, a figure and a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OUT = Path("runs/claims")
FILES = ("report.md", "report.html")


def claims(
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAME", help="Only this claim; can be given several times. --list shows the names."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where models, figures and the report go.")
    ] = OUT,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Very short trainings, to see that everything runs; the verdicts mean nothing."),
    ] = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="Print the names and statements of the claims, and run nothing.")
    ] = False,
) -> None:
    """Test what the course notes claim by small experiments.

    They run on the embedded corpus. Each claim has an experiment, a figure and a verdict: shown, not shown, or, of a
    printed figure, rounded or wrong. What counts as shown is fixed before anything is measured. Experiments train small
    models, a few minutes of one core each. Finished experiments are kept, and interrupted ones continue when the same
    command is given again. The report is printed and written as report.md and report.html.

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

    tested = run_claims(chosen, out, quick, lambda line: typer.echo(line, err=True))
    output = claims_output(tested, quick)
    for name in FILES:
        write(output, out / name)
    deliver(output, None)
    typer.echo(f"\nwritten: {', '.join(str(out / name) for name in FILES)}")
