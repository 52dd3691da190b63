"""`regard bleu`: the number sacreBLEU gives, with its signature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.lines import STDIN, read_lines
from regard.errors import InputError


def bleu(
    hypothesis: Annotated[
        Path, typer.Argument(metavar="HYP", help="Translations, one a line (.gz and .xz too); - is standard input.")
    ],
    ref: Annotated[
        list[Path], typer.Option(metavar="FILE", help="References, line by line; repeat the flag for several files.")
    ],
    tokenize: Annotated[
        str, typer.Option(metavar="NAME", help="sacreBLEU's tokenisers: 13a, intl, char, zh, none, …")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    smooth: Annotated[str, typer.Option(metavar="NAME", help="exp, floor, add-k or none.")] = "exp",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Score a file of translations by BLEU.

    Prints corpus BLEU and the signature to quote with it: regard bleu out.fr --ref test.fr
    """
    from regard.metrics.bleu import bleu as score

    if [hypothesis, *ref].count(STDIN) > 1:
        raise InputError('standard input ("-") can be read once; name files for the others')
    lines = list(read_lines(hypothesis))
    streams = [list(read_lines(path)) for path in ref]
    for path, stream in zip(ref, streams, strict=True):
        if lines and len(stream) != len(lines):
            raise InputError(
                f"{hypothesis} has {len(lines):,} lines but {path} has {len(stream):,}; each line needs its reference"
            )
    found = score(lines, streams, tokenize=tokenize, lowercase=lowercase, smooth=smooth)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
    else:
        typer.echo(f"{found}\n{found.signature}")
