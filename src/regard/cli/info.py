"""`regard info`: the model card as text: what a model is, where it comes from, what it is worth and what it is not."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from regard.bundle import box
from regard.cli.options import Json, Model, subject
from regard.cli.process import for_terminal

LEFT, WIDTH = 14, 110  # columns of the headings, and of a line of prose at most
TOKENS = 10  # of a short sentence, EOS among them
PROSE = ("title", "data", "training", "limits")


def info(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    model_flag: Model = None,
    as_json: Json = False,
) -> None:
    """Show what a model is and where it comes from.

    Architecture, sizes, data with licences, training, cost, scores with their signatures, limits. With --json the whole
    card.

    \b
      regard info
      regard info en-fr --json
    """
    from regard.bundle.bundle import Bundle
    from regard.bundle.card import card_rows
    from regard.bundle.folder import PARTS, UPDATES, beside, find_bundle, part

    folder = find_bundle(subject(model, model_flag) or box.boxed())
    bundle = Bundle.load(folder)
    other = beside(folder)
    if as_json:
        known = {"architecture": bundle.architecture, "beside": other and other.name, "tag": bundle.tag}
        known = {name: value for name, value in known.items() if value} | bundle.card
        typer.echo(json.dumps(known, indent=2, ensure_ascii=False))
        return
    config = bundle.card.get("recipe", {}).get("model", {})
    said = card_rows(bundle.card)
    files = {path for path in folder.iterdir() if path.is_file()} | {part(folder, name) for name in PARTS}
    size = sum(path.stat().st_size for path in files)
    way = [f"as {other.name}"] if other else []
    way += ["with updates of its own"] if (folder / UPDATES).is_file() else []
    way += [f"with the tag {bundle.tag}"] if bundle.tag else []
    rows = {
        **{name: said.pop(name) for name in ("title", "languages") if name in said},
        "folder": [str(folder)],
        **({"translates": [", ".join(way)]} if way else {}),
        "architecture": [bundle.architecture],
        "sizes": [", ".join(f"{k} {v}" for k, v in config.items() if isinstance(v, int))],
        "parameters": [f"{bundle.model.parameter_count():,}, stored as {bundle.weights}, {size / 1e6:.1f} MB in all"],
        "vocabulary": [f"{bundle.tokenizer.source_size:,} source, {bundle.tokenizer.target_size:,} target pieces"],
        "per sentence": [f"{bundle.model.flops(TOKENS, TOKENS):.2g} FLOPs, of {TOKENS} tokens into {TOKENS}, greedily"],
        **said,
    }
    for name, lines in rows.items():
        shown = [part for line in lines for part in (wrapped(line) if name in PROSE else [line])]
        for i, line in enumerate(shown):
            typer.echo(for_terminal(f"{name if i == 0 else '':<{LEFT}}{line}"))


def wrapped(line: str) -> list[str]:
    """Prose in lines; a word such as an address is never cut."""
    return textwrap.wrap(line, WIDTH - LEFT, break_long_words=False, break_on_hyphens=False)
