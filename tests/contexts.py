"""A tiny model that learnt a few sentences by heart, alone and joined, in which *it* is a car, a boat or neither."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import regard
from regard.bundle.bundle import Bundle
from support import TINY

THINGS = {"I see the car.": "Je vois la voiture.", "I see the boat.": "Je vois le bateau."}
PRONOUNS = {  # alone, of a car, of a boat
    "It is old.": ("C'est vieux.", "Elle est vieille.", "Il est vieux."),
    "It is here.": ("C'est ici.", "Elle est ici.", "Il est ici."),
}
OTHERS = {"The dog eats.": "Le chien mange.", "Dogs": "Chiens"}


def train_contexts(home: Path) -> Path:
    """Returns the folder of the bundle."""
    pairs = [*THINGS.items(), *OTHERS.items(), *((english, one[0]) for english, one in PRONOUNS.items())]
    for gender, (english, french) in enumerate(THINGS.items(), start=1):
        for first, second in ((a, b) for a in PRONOUNS for b in (*PRONOUNS, "")):
            after = " ".join(PRONOUNS[one][gender] for one in (first, second) if one)
            pairs.append((f"{english} {first} {second}".strip(), f"{french} {after}"))
    paths = [home / f"pairs.{side}" for side in ("en", "fr")]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs) * 4, encoding="utf-8")
    recipe: dict[str, Any] = {
        "data": {"src": str(paths[0]), "tgt": str(paths[1]), "dev_size": 0, "max_length": 100},
        "text": {"vocab_size": 340},
        "model": TINY,
        "decode": {"in_context": True},
        "train": {
            "steps": 120,
            "batch_tokens": 1200,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": 10,
            "save_every": 120,
            "device": "cpu",
        },
    }
    bundle = Bundle.load(regard.train(recipe, home / "run").run / "last")
    about = {"title": "", "languages": ["English", "French"], "training": "", "limits": [], "data": []}
    replace(bundle, card=bundle.card | {"about": about}).save(home / "en-fr")
    return home / "en-fr"
