"""A tiny model that learnt a few sentences by heart in both registers, as two bundles: en-fr, with tags for them, and
fr-en, without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import regard
from regard.bundle.bundle import Bundle
from support import TINY

# English, formal, informal, and which of the two the model gives by itself
SENTENCES = [
    ("You sleep.", "Vous dormez.", "Tu dors.", "formal"),
    ("You see the cat.", "Vous voyez le chat.", "Tu vois le chat.", "informal"),
    ("Your dog eats.", "Votre chien mange.", "Ton chien mange.", "formal"),
    ("I see you.", "Je vous vois.", "Je te vois.", "informal"),
    ("The cat sleeps.", "Le chat dort.", "Le chat dort.", "formal"),
    ("The dog eats.", "Le chien mange.", "Le chien mange.", "formal"),
]
TAGS = ("<fr>", "<fr-formal>", "<fr-informal>", "<en>")


def train_registers(home: Path) -> Path:
    """Returns the folder of both bundles."""
    formal = [(english, formal) for english, formal, _, _ in SENTENCES]
    informal = [(english, informal) for english, _, informal, _ in SENTENCES]
    own = [(english, one if usual == "formal" else other) for english, one, other, usual in SENTENCES]
    back = [(target, english) for english, target in (*formal, *informal)]
    corpora = []
    for tag, pairs in zip(TAGS, (own, formal, informal, back), strict=True):
        paths = [home / f"{tag.strip('<>')}.{side}" for side in ("source", "target")]
        for side, path in enumerate(paths):
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs) * 4, encoding="utf-8")
        corpora.append({"src": str(paths[0]), "tgt": str(paths[1]), "tag": tag})
    recipe: dict[str, Any] = {
        "data": {"dev_size": 0, "max_length": 100, "corpus": corpora},
        "text": {"vocab_size": 360, "tags": list(TAGS)},
        "model": TINY,
        "train": {
            "steps": 150,
            "batch_tokens": 1200,
            "learning_rate": 1e-2,
            "schedule": "cosine",
            "warmup": 10,
            "save_every": 150,
            "device": "cpu",
        },
    }
    bundle = Bundle.load(regard.train(recipe, home / "run").run / "last")
    for name, tag, languages in (("en-fr", "<fr>", ["English", "French"]), ("fr-en", "<en>", ["French", "English"])):
        about = {"about": {"title": name, "languages": languages, "training": "", "limits": [], "data": []}}
        marked = replace(bundle, tokenizer=bundle.tokenizer.marked(tag), card=bundle.card | about)
        marked.save(home / "models" / name)
    return home / "models"
