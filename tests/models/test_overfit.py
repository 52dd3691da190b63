"""Every architecture learns: fifty pairs of the embedded corpus by heart, trained as a user trains, by beam search.

A model that cannot do this has a mistake in its gradient, its masks or its search, whatever its other tests say. That
it can says nothing about sentences it has not seen. Muon learns them in a fraction of the updates that Adam needs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.metrics.bleu import bleu
from regard.models.table import ARCHITECTURES
from regard.training.run import Outcome
from regard.translator import Translator
from support import grammar

pytestmark = pytest.mark.long

Tables = dict[str, Any]

PAIRS, WORDS = 50, 15
BEAM = 4
TRANSFORMER = {"width": 64, "heads": 4, "inner": 128, "encoder_layers": 2, "decoder_layers": 2}
MODELS: dict[str, Tables] = {
    "rnn": {"width": 96, "embedding": 96},
    "rnn-attention": {"width": 64, "encoder_width": 32, "embedding": 64, "alignment": 64},
    "gnmt": {"width": 64},
    "deep-att": {"width": 48, "embedding": 64, "encoder_layers": 3, "decoder_layers": 2},
    "bytenet": {"width": 48},
    "convs2s": {"width": 64, "embedding": 64, "encoder_layers": 2, "decoder_layers": 2},
    "moe": {"width": 64, "cells": 64, "inner": 64},
    "transformer": TRANSFORMER,
    "transformer with experts": {"architecture": "transformer", "experts": 4, **TRANSFORMER},
}
STEPS = {"gnmt": 110, "deep-att": 140}  # their embeddings begin small, and the first updates only make them larger


@cache
def pairs() -> list[tuple[str, str]]:
    short = [e for e in grammar()["train"].examples if max(len(e.src.split()), len(e.tgt.split())) <= WORDS]
    return [(e.src, e.tgt) for e in short[:PAIRS]]


def learn(name: str, home: Path, seed: int = 1) -> Outcome:
    source, target = home / "a.en", home / "a.fr"
    source.write_text("".join(s + "\n" for s, _ in pairs()), encoding="utf-8")
    target.write_text("".join(t + "\n" for _, t in pairs()), encoding="utf-8")
    train, test = {"src": str(source), "tgt": str(target)}, {"test_src": str(source), "test_tgt": str(target)}
    steps = STEPS.get(name, 70)
    recipe = {
        "data": {**train, **test, "dev_size": 0, "max_length": 100},
        "text": {"vocab_size": 1200},  # most words whole: short sentences, fast steps
        "model": {"architecture": name, "preset": "tiny", "dropout": 0.0, **MODELS[name]},
        "train": {
            "steps": steps,
            "batch_tokens": 2000,  # all fifty at once
            "optimizer": "muon",
            "learning_rate": 0.03,
            "schedule": "cosine",
            "warmup": 20,
            "label_smoothing": 0.0,
            "save_every": steps,
            "seed": seed,
            "device": "cpu",
        },
        "decode": {"beam": BEAM},
    }
    return regard.train(recipe, home / "run")


def test_every_architecture_is_here() -> None:
    assert set(ARCHITECTURES) <= set(MODELS)


def test_the_pairs_are_varied() -> None:
    assert len(set(pairs())) == PAIRS
    assert len({word for source, _ in pairs() for word in source.split()}) > 3 * PAIRS


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """Each model is trained once."""
    return cache(lambda name: learn(name, tmp_path_factory.mktemp(name.replace(" ", "-"))))


@pytest.mark.parametrize("name", MODELS)
def test_it_learns_fifty_pairs_by_heart(learnt: Callable[[str], Outcome], name: str) -> None:
    outcome = learnt(name)
    assert outcome.test_bleu is not None
    assert outcome.test_bleu.score > 95


def test_two_that_have_learnt_speak_as_one(learnt: Callable[[str], Outcome]) -> None:
    """Of different kinds: one has a state and no attention, the other attention and no state."""
    runs = [learnt(name).run for name in ("rnn", "convs2s")]
    found = Translator.load(runs, "cpu").translate([source for source, _ in pairs()], beam=BEAM)
    assert bleu([str(line) for line in found], [target for _, target in pairs()]).score > 95
