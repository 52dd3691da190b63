"""What `regard compare` uses when no data is given: a recipe for the embedded corpus, minutes a model on two cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def embedded_recipe(corpus: Path) -> dict[str, Any]:
    """Recipe tables for small models on the embedded corpus in the folder `corpus`."""
    files = {
        f"{prefix}{side}": str(corpus / f"{split}.{language}")
        for prefix, split in (("", "train"), ("dev_", "dev"), ("test_", "test"))
        for side, language in (("src", "en"), ("tgt", "fr"))
    }
    train = {"batch_tokens": 1024, "schedule": "cosine", "warmup": 200, "eval_every": 500, "save_every": 500}
    return {
        "data": {**files, "max_length": 128},
        "text": {"vocab_size": 3200},
        "model": {"preset": "tiny", "dropout": 0.0},
        "train": {**train, "steps": 2000},
    }
