"""Sections [train] and [reward] of a recipe: the training loop, and the rewards that it maximizes.

The equations of rewards are in `training/reward.py`.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from regard.config import key, require, require_each


@dataclass(frozen=True)
class TrainConfig:
    start_from: str | None = key(None, "a trained model to start from: its folder or its run's (none: new weights)")
    lora_rank: int = key(0, "train low-rank updates of this rank and freeze all other weights (0: train all weights)")
    lora_alpha: float = key(16.0, "low-rank updates are scaled by alpha / rank")
    steps: int = key(10_000, "updates of the weights")
    minutes: float | None = key(None, "stop after this much training time, even if steps are left; can be resumed")
    flops: float | None = key(None, "stop after this many floating-point operations; can be resumed")
    batch_tokens: int = key(3072, "most tokens of a batch on either side, padding included")
    accumulate: int = key(1, "batches per update")
    optimizer: Literal["adamw", "muon", "adafactor"] = key(
        "adamw", "muon orthogonalises updates of matrices; adafactor saves memory and needs rates of about 0.02"
    )
    learning_rate: float = key(1e-3, "peak of the schedule")
    embedding_rate: float = key(1.0, "factor on the learning rate of embeddings, and of an output tied to them")
    schedule: Literal["inverse-sqrt", "cosine", "wsd", "constant", "linear"] = key(
        "inverse-sqrt", "learning rate over the run"
    )
    schedule_by: Literal["steps", "budget"] = key(
        "steps", "what the schedule ends with: steps, or whichever of steps, minutes and flops is spent first"
    )
    warmup: int = key(1000, "updates of linear warm-up")
    decay: int = key(2000, "updates of the final decay of wsd; by budget, this share of steps")
    weight_decay: float = key(0.0, "AdamW's decay of matrices (not of biases and norms)")
    clip: float = key(1.0, "largest norm of the gradient (0: no clipping)")
    label_smoothing: float = key(0.1, "probability spread over all words of the vocabulary")
    r_drop: float = key(0.0, "weight of the agreement of two passes with dropout, at twice the cost (0: one pass)")
    word_dropout: float = key(0.0, "share of source and target words whose embeddings are set to zero in training")
    sampling_rate: float = key(
        0.0, "scheduled sampling: share of target words replaced by the model's own at the end of a run"
    )
    guided_weight: float = key(0.0, "weight of the loss that trains an attention head on word alignments (0: none)")
    guided_layer: int = key(0, "decoder layer, from 1, whose first head it trains (0: last but one of three or more)")
    average: Literal["none", "ema", "last"] = key(
        "none", "weights evaluated and kept: the latest, a moving mean, or the mean of the last evaluations"
    )
    ema_decay: float = key(0.999, "decay of the moving mean")
    average_last: int = key(5, "evaluations whose weights average = last takes the mean of")
    eval_every: int | None = key(
        None, "updates between evaluations on the development set (none: fits steps, with a first one at update 100)"
    )
    save_every: int = key(500, "updates between checkpoints")
    log_every: int = key(10, "updates between lines of metrics.jsonl")
    patience: int = key(0, "stop after this many evaluations without a better BLEU (0: never)")
    parallel: Literal["ddp", "fsdp"] = key(
        "ddp", "with torchrun, each process holds the whole model (ddp) or a part of its weights and moments (fsdp)"
    )
    seed: int = key(1, "seed of initial weights, batch order and dropout")
    device: Literal["auto", "cuda", "mps", "cpu"] = key("auto", "auto: cuda before mps before cpu")
    precision: Literal["auto", "float32", "bfloat16"] = key(
        "auto", "auto: bfloat16 on cuda, the faster of the two on cpu, float32 elsewhere"
    )
    compile: bool = key(True, "compile shared-row layers on cuda: half a minute at the start, then a third faster")
    share_rows: Literal["auto", "on", "off"] = key(
        "auto", "put several sentences in one row (auto: on cuda, if the architecture can)"
    )

    def __post_init__(self) -> None:
        for names, holds, rule in RANGES:
            require_each("train", self, names.split(), holds, rule)
        rank = f"train.lora_rank is {self.lora_rank}, but"
        require(self.lora_rank == 0 or self.start_from is not None, f"{rank} train.start_from names no trained model")
        require(self.lora_rank == 0 or self.parallel == "ddp", f"{rank} train.parallel is fsdp; it must be ddp")


RANGES = (
    ("steps batch_tokens accumulate warmup decay average_last", lambda value: value >= 1, "must be at least 1"),
    ("save_every log_every eval_every", lambda value: value is None or value >= 1, "must be at least 1"),
    ("patience clip weight_decay r_drop guided_weight", lambda value: value >= 0, "must not be negative"),
    ("guided_layer lora_rank seed", lambda value: value >= 0, "must not be negative"),
    ("lora_alpha learning_rate embedding_rate", lambda value: 0 < value < math.inf, "must be positive"),
    ("minutes flops", lambda value: value is None or value > 0, "must be positive"),
    ("sampling_rate", lambda value: 0 <= value <= 1, "must be from 0 to 1"),
    ("label_smoothing ema_decay word_dropout", lambda value: 0 <= value < 1, "must be at least 0 and below 1"),
)


@dataclass(frozen=True)
class RewardConfig:
    objective: Literal["likelihood", "minimum-risk", "self-critical"] = key(
        "likelihood", "what is maximised: the references' likelihood, or a reward of the model's own translations"
    )
    reward: Literal["gleu", "bleu"] = key("gleu", "score of a sentence that is the reward")
    samples: int = key(15, "translations sampled for each sentence")
    likelihood_weight: float | None = key(
        None, "weight of likelihood beside rewards (none: as published, 0.017 for self-critical, 0 for minimum-risk)"
    )
    baseline: Literal["mean", "greedy"] = key(
        "mean", "self-critical: reward a sample is compared with: the samples' mean, or the greedy translation's"
    )
    sharpness: float = key(0.005, "minimum-risk: α of q ∝ p^α; the gradient grows with it")
    with_reference: bool = key(True, "minimum-risk: the reference is one of the candidates")

    def __post_init__(self) -> None:
        unused = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != f.default]
        what = f"reward.{''.join(unused[:1])} is set, but reward.objective is likelihood, which has no rewards"
        require(self.has_rewards or not unused, f"{what}; set reward.objective to self-critical or minimum-risk")
        fewest = 2 if self.compares_samples else 1
        samples, weight = self.samples, self.likelihood_weight
        require(samples >= fewest, f"reward.samples must be at least {fewest} for {self.objective}, but is {samples}")
        require(0 < self.sharpness < math.inf, f"reward.sharpness must be above 0, but is {self.sharpness}")
        valid = weight is None or 0 <= weight < math.inf
        require(valid, f"reward.likelihood_weight must be 0 or more, but is {weight}")

    @property
    def has_rewards(self) -> bool:
        return self.objective != "likelihood"

    @property
    def compares_samples(self) -> bool:
        """Whether samples are compared only with each other, so that a single sample has no gradient."""
        return self.baseline == "mean" if self.objective == "self-critical" else not self.with_reference

    @property
    def likelihood_share(self) -> float:
        """The weight of the likelihood; the published value if none is given."""
        published = {"likelihood": 1.0, "self-critical": 0.017, "minimum-risk": 0.0}
        return published[self.objective] if self.likelihood_weight is None else self.likelihood_weight
