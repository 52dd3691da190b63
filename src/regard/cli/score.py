"""`regard bleu`: the number sacreBLEU gives, with its signature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def bleu(
    hypothesis: Annotated[Path, typer.Argument(metavar="HYP", help="Translations, one a line (.gz and .xz too).")],
    ref: Annotated[list[Path], typer.Option(help="References, one a line; repeat the flag for several.")],
    tokenize: Annotated[str, typer.Option(help="sacreBLEU's tokenisers: 13a, intl, char, zh, none, …")] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    smooth: Annotated[str, typer.Option(help="exp, floor, add-k or none.")] = "exp",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Corpus BLEU of a file of translations against one or more references."""
    from regard.data.corpus import read_lines
    from regard.metrics.bleu import bleu as score

    found = score(
        list(read_lines(hypothesis)),
        [list(read_lines(path)) for path in ref],
        tokenize=tokenize,
        lowercase=lowercase,
        smooth=smooth,
    )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        typer.echo(f"{found}\n{found.signature}")
