"""`regard info`: what a model folder holds and where it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def info(
    model: Annotated[Path, typer.Argument(help="A bundle or a run's folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Say what a model is: architecture, sizes, training, scores with their signatures."""
    from rich.console import Console
    from rich.table import Table

    from regard.bundle import Bundle, find_bundle

    bundle = Bundle.load(model)
    card = bundle.card
    if as_json:
        typer.echo(json.dumps({"architecture": bundle.architecture, **card}, indent=2, ensure_ascii=False))
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    config = card.get("recipe", {}).get("model", {})
    rows = {
        "folder": str(find_bundle(model)),
        "architecture": bundle.architecture,
        "sizes": ", ".join(f"{k} {v}" for k, v in config.items() if isinstance(v, int)),
        "parameters": f"{bundle.model.parameter_count():,}",
        "vocabulary": f"{bundle.tokenizer.source_size:,} source, {bundle.tokenizer.target_size:,} target pieces",
        "trained": f"{card.get('step', 0):,} steps, {card.get('target_tokens', 0):,} target tokens, "
        f"{card.get('training_seconds', 0):,.0f} s on {card.get('device', '?')}",
        "pairs": str(card.get("pairs", {}).get("kept", "?")),
        "made with": f"regard {card.get('regard', '?')}, torch {card.get('torch', '?')}",
    }
    for name in ("dev_bleu", "test_bleu"):
        if name in card:
            rows[name.replace("_", " ").replace("bleu", "BLEU")] = (
                f"{card[name]['score']:.2f}  {card[name]['signature']}"
            )
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/bold]", value)
    Console(highlight=False).print(table)
