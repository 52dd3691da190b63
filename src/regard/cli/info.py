"""`regard info`: what a model folder holds and where it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder, or a run's.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known, as JSON.")] = False,
) -> None:
    """Say what a model is and where it comes from.

    Architecture, sizes, training, and scores with their signatures.
    """
    from regard.bundle import Bundle, find_bundle

    bundle = Bundle.load(model)
    card = bundle.card
    if as_json:
        typer.echo(json.dumps({"architecture": bundle.architecture, **card}, indent=2, ensure_ascii=False))
        return
    config = card.get("recipe", {}).get("model", {})
    rows = {
        "folder": str(find_bundle(model)),
        "architecture": bundle.architecture,
        "sizes": ", ".join(f"{k} {v}" for k, v in config.items() if isinstance(v, int)),
        "parameters": f"{bundle.model.parameter_count():,}",
        "vocabulary": f"{bundle.tokenizer.source_size:,} source, {bundle.tokenizer.target_size:,} target pieces",
        "trained": f"{card.get('step', 0):,} steps, {card.get('target_tokens', 0):,} target tokens, "
        f"{card.get('training_seconds', 0):,.0f} s on {card.get('device', '?')}",
        "cost": f"{card['training_flops']:.3g} FLOPs" if "training_flops" in card else "not counted",
        "pairs": f"{card.get('pairs', {}).get('kept', '?')} to learn from",
        "made with": f"regard {card.get('regard', '?')}, torch {card.get('torch', '?')}",
    }
    for name in ("dev_bleu", "test_bleu"):
        if name in card:
            rows[name.replace("_", " ").replace("bleu", "BLEU")] = (
                f"{card[name]['score']:.2f}  {card[name]['signature']}"
            )
    for name, value in rows.items():
        typer.echo(f"{name:<14}{value}")
