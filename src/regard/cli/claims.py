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
        typer.Option(metavar="NAME", help="Only this claim; can be given several times. --list shows the names."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where models, figures and the report go.")] = OUT,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Hardly any training: shows that everything runs, and proves nothing."),
    ] = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="Show the names and what each claims, and run nothing.")
    ] = False,
) -> None:
    """Test what the course notes claim, by small experiments on the embedded corpus.

    Each claim has an experiment, a figure and a verdict: shown, not shown, or that the notes are wrong. What counts as
    shown is fixed before anything is measured. Experiments train small models, a few minutes of one core each; what is
    done is kept, and what was interrupted goes on when the same command is given again. The report is printed and
    written as report.md and report.html.

      regard claims

      regard claims --only positions --only mask --out runs/two
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
