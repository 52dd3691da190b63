"""`regard corpus`: the embedded English–French corpus as text files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import number


def corpus(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A folder that is new or empty.")],
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            parser=number("--size", int, 1000, 1_000_000),
            metavar="N",
            help="Training pairs.  [default: 40000]",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", parser=number("--seed", int), metavar="N", help="Of the random choices.")
    ] = 1,
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
