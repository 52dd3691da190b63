"""The speed of learning: updates to a given BLEU, and tokens per second by sentence length (the notes' table of RNNs
against Transformers).

    B sentences   S tokens of each; B · S is the same for all lengths
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import torch

from regard.batch import flat_batch
from regard.course.claims.experiment import ClaimResult, ExperimentSetup, ModelSpec, judge, untrained_model
from regard.models.base import Model

ASSESSED = 12  # evaluations per training
MODELS = tuple(ModelSpec(f"{name} assessed", name, updates=3, assessed=ASSESSED) for name in (
    "rnn", "rnn-attention", "transformer",
))  # fmt: skip
GOAL = 40.0  # BLEU
LENGTHS = (8, 16, 32, 64, 128)
TOKENS = 2048


def updates_to(curve: Sequence[tuple[int, float]], goal: float) -> int | None:
    """Returns the first update at which BLEU has reached the goal; None if it never has.

    >>> updates_to([(100, 3.0), (200, 41.5), (300, 39.0)], 40), updates_to([(100, 3.0)], 40)
    (200, None)
    """
    return next((step for step, score in curve if score >= goal), None)


def test_steps(setup: ExperimentSetup) -> ClaimResult:
    seed = setup.seeds[0]
    curves = {spec.architecture: setup.curve(spec, seed) for spec in MODELS}
    reached = {name: updates_to(curve, GOAL) for name, curve in curves.items()}
    last = curves["rnn"][-1][0]
    plain, attention = reached["rnn"] or last, reached["rnn-attention"]
    passed = attention is not None and 2 * attention <= plain
    told = [f"{name} {step:,}" if step else f"{name} not within {last:,}" for name, step in reached.items()]
    steps = [step for step, _ in curves["rnn"]]
    rows = [[name, *(f"{score:.1f}" for _, score in curve)] for name, curve in curves.items()]
    return ClaimResult(judge(passed), f"updates to {GOAL:g} BLEU: {', '.join(told)}", ["model", *map(str, steps)], rows)


def training_speed(model: Model, length: int) -> float:
    """Measures tokens per CPU second of training passes over TOKENS // S sentences of S tokens, the best of three."""
    generator = torch.Generator().manual_seed(length)
    tokens = torch.randint(3, model.target_size, (TOKENS // length, length), generator=generator).tolist()
    batch = flat_batch(tokens, tokens).pad()
    seconds = []
    for _ in range(3):
        began = time.process_time()
        loss = torch.nn.functional.cross_entropy(model(batch).flatten(0, 1), batch.tgt_out.flatten())
        loss.backward()
        seconds.append(time.process_time() - began)
        model.zero_grad()
    return TOKENS / min(seconds)


def table_of_speeds(found: Mapping[str, Sequence[float]]) -> ClaimResult:
    """Returns the verdict on speeds at LENGTHS by model."""
    kept = {name: speeds[-1] / speeds[0] for name, speeds in found.items()}
    passed = kept["transformer"] >= 0.8 and kept["rnn"] <= 0.6 and kept["rnn-attention"] <= 0.6
    shares = ", ".join(f"{name} {share:.0%}" for name, share in kept.items())
    figure = f"tokens a second at {LENGTHS[-1]} tokens, of those at {LENGTHS[0]}: {shares}"
    rows = [[name, *(f"{speed:,.0f}" for speed in speeds)] for name, speeds in found.items()]
    return ClaimResult(judge(passed), figure, ["model", *(f"{s} tokens" for s in LENGTHS)], rows)


def test_speed(setup: ExperimentSetup) -> ClaimResult:
    found = {}
    for name in ("rnn", "rnn-attention", "transformer"):
        model = untrained_model(name, 2400, seed=1).train()
        found[name] = [training_speed(model, length) for length in LENGTHS]
    return table_of_speeds(found)
