"""Flags that several commands have, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.bundle import box
from regard.cli.lines import number

Sentence = Annotated[str, typer.Argument(metavar="TEXT", help='A sentence. Write -- before one that starts with "-".')]
Model = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help=f"A model's folder, or a run's.  [default: {box.DEFAULT}, in the box]"),
]
Target = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="A translation to force, instead of the one that the model finds."),
]
Beam = Annotated[
    int | None,
    typer.Option(parser=number("--beam", int), metavar="N", help="Of the search; 1 is greedy.  [default: the model's]"),
]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where to write: .svg, .html, .json, .png or .txt.  [default: the terminal]"),
]
Numbers = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where to write: .json or .txt.  [default: the terminal]")
]
Font = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A .ttf or .otf for a .png of letters that are not Latin; others need none."),
]
Device = Annotated[str, typer.Option(metavar="NAME", help="auto, cuda, cuda:1, …, mps or cpu.")]
