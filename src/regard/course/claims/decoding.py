"""Compares beam search with greedy search, and all positions in parallel with step-by-step decoding."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.course.claims import experiment
from regard.course.claims.experiment import BASE, ClaimResult, ExperimentSetup, judge, over_seeds
from regard.metrics.bleu import bleu
from regard.models.base import Model
from regard.translation.options import AS_LINES
from regard.translator import Translator

BEAM = 4
LENGTHS = (8, 16, 32, 64)


def test_beam(setup: ExperimentSetup) -> ClaimResult:
    examples = setup.test()
    references = [example.tgt for example in examples]

    def search(bundle: Bundle) -> list[dict[str, Any]]:
        found = []
        for beam in (1, BEAM):
            translator, began = Translator(bundle, DecodeConfig(beam), experiment.LONGEST), time.process_time()
            translations = translator.translate([example.src for example in examples], **AS_LINES)
            found.append(
                {
                    "bleu": bleu([one.text for one in translations], references).score,
                    "log_prob": sum(one.log_prob for one in translations) / len(translations),
                    "seconds": time.process_time() - began,
                    "log_probs": [one.log_prob for one in translations],
                }
            )
        return found

    rows, gains, worse = [], [], []
    for seed in setup.seeds:
        greedy, wide = setup.measured(BASE, seed, "beam", search)
        for name, one in (("greedy", greedy), (f"beam {BEAM}", wide)):
            rows.append([name, str(seed), f"{one['bleu']:.2f}", f"{one['log_prob']:.3f}", f"{one['seconds']:.1f}"])
        gains.append((wide["bleu"] - greedy["bleu"], wide["log_prob"] - greedy["log_prob"]))
        worse.append(sum(b < a - 1e-4 for a, b in zip(greedy["log_probs"], wide["log_probs"], strict=True)))
    passed = all(score >= 0.3 and log_prob > 0 for score, log_prob in gains)
    scores, log_probs = zip(*gains, strict=True)
    figure = f"BLEU {over_seeds(scores, '{:+.2f}')}, log p {over_seeds(log_probs, '{:+.3f}')} a sentence"
    remark = (
        f"In {', '.join(map(str, worse))} of {len(examples)} sentences the beam's output is less probable than the "
        "greedy one: it ranks by log p divided by a power of the length."
    )
    return ClaimResult(
        judge(passed), figure, ["search", "seed", "BLEU", "log p a sentence", "CPU seconds"], rows, remark
    )


@torch.inference_mode()
def seconds(model: Model, length: int, rows: int = 16) -> tuple[float, float]:
    """Times all positions in parallel, and step by step over the same tokens; each the minimum of a few tries."""
    torch.manual_seed(length)
    tokens = torch.randint(3, model.target_size, (rows, length)).tolist()
    batch = flat_batch(tokens, tokens).pad()

    def stepwise() -> None:
        state = model.start(model.encode(batch.src, batch.src_mask))
        for token in batch.tgt_in.unbind(1):
            state = model.step(token, state).state

    return _least(lambda: model(batch)), _least(stepwise)


def _least(work: Callable[[], Any], tries: int = 5) -> float:
    work()
    taken = []
    for _ in range(tries):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def test_parallel(setup: ExperimentSetup) -> ClaimResult:
    rows, at = [], {}
    for name in ("transformer", "rnn-attention"):
        model = experiment.untrained_model(name, 2400, seed=1).eval()
        for length in LENGTHS:
            together, apart = seconds(model, length)
            at[name, length] = apart / together
            rows.append([name, str(length), f"{together * 1000:.1f}", f"{apart * 1000:.1f}", f"{apart / together:.1f}"])
    ratios = [at["transformer", length] for length in LENGTHS]
    passed = ratios[-1] >= 2 and ratios[-1] > ratios[0]
    figure = "; ".join(f"{length} tokens: {at['transformer', length]:.1f} times as long" for length in LENGTHS)
    header = ["model", "tokens", "at once, ms", "step by step, ms", "factor"]
    return ClaimResult(judge(passed), f"step by step takes, for {figure}", header, rows)
