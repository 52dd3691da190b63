"""`regard corpus`: the embedded English–French corpus as text files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def corpus(
    out: Annotated[Path, typer.Option(help="A folder that does not exist yet, or is empty.")],
    size: Annotated[int | None, typer.Option(help="Training pairs.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed, another corpus.")] = 1,
) -> None:
    """Write the embedded English–French corpus: text, word alignments, tags, minimal pairs."""
    from regard.data.grammar import DEFAULT_SIZE, generate, write_corpus

    splits = generate(DEFAULT_SIZE if size is None else size, seed)
    write_corpus(out, splits)
    for name, split in splits.items():
        pairs = f", {len(split.pairs)} minimal pairs" if split.pairs else ""
        typer.echo(f"{out / name}.en .fr .align .tags: {len(split.examples):,} lines{pairs}")
