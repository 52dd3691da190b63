"""Sections [train] and [reward] of a recipe: how long, by which steps and towards what a model learns.

Other sections stand beside what they configure. These two stand below the recipe, because training stands above it and
reads them from it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from regard.config import key, require


@dataclass(frozen=True)
class TrainConfig:
    start_from: str | None = key(None, "a trained model to go on from: its folder, or its run's; none starts anew")
    lora_rank: int = key(0, "adapt the model by updates of this rank, all else frozen (0: train all weights)")
    lora_alpha: float = key(16.0, "such an update counts alpha / rank times")
    steps: int = key(10_000, "updates of the weights")
    minutes: float | None = key(None, "stop, resumably, after this much time even if steps are left")
    flops: float | None = key(None, "stop, resumably, after this many floating-point operations")
    batch_tokens: int = key(3072, "most tokens of a batch on either side, padding included")
    accumulate: int = key(1, "batches per update")
    optimizer: Literal["adamw", "muon", "adafactor"] = key(
        "adamw", "muon makes updates of matrices orthogonal; adafactor saves memory and wants rates of some 0.02"
    )
    learning_rate: float = key(1e-3, "the schedule's peak")
    embedding_rate: float = key(1.0, "factor on the learning rate of embeddings, and of an output tied to them")
    schedule: Literal["inverse-sqrt", "cosine", "wsd", "constant", "linear"] = key("inverse-sqrt", "how the rate moves")
    warmup: int = key(1000, "updates of linear warm-up")
    decay: int = key(2000, "updates of the last, falling part of wsd")
    weight_decay: float = key(0.0, "AdamW's decay of matrices (not of biases and norms)")
    clip: float = key(1.0, "largest norm of the gradient; 0 does not clip")
    label_smoothing: float = key(0.1, "probability spread over all words of the vocabulary")
    r_drop: float = key(0.0, "weight of the agreement of two passes with dropout, at twice the cost (0: one pass)")
    word_dropout: float = key(0.0, "share of source and target words whose embeddings are silenced in training")
    sampling_rate: float = key(0.0, "share of target words the decoder reads from its own guesses at the end of a run")
    guided_weight: float = key(
        0.0, "weight of a head's learning to look where our aligner links words (0: no such loss)"
    )
    guided_layer: int = key(
        0, "decoder layer whose first head learns it, from 1 on (0: the last but one of three or more)"
    )
    average: Literal["none", "ema", "last"] = key(
        "none", "weights used: the latest, a moving mean, or a mean of the last"
    )
    ema_decay: float = key(0.999, "how slowly the moving mean moves")
    average_last: int = key(5, "evaluations whose weights average = last takes the mean of")
    eval_every: int = key(500, "updates between evaluations on the development set")
    save_every: int = key(500, "updates between checkpoints")
    log_every: int = key(10, "updates between lines of metrics.jsonl")
    patience: int = key(0, "evaluations without a better BLEU before stopping; 0 never stops early")
    parallel: Literal["ddp", "fsdp"] = key(
        "ddp", "several processes (torchrun): each with the whole model, or with its part of weights and moments"
    )
    seed: int = key(1, "of initial weights, batch order and dropout")
    device: Literal["auto", "cuda", "mps", "cpu"] = key("auto", "cuda before mps before cpu")
    precision: Literal["auto", "float32", "bfloat16"] = key(
        "auto", "bfloat16 on cuda, the faster of the two on cpu, float32 elsewhere"
    )
    compile: bool = key(True, "compile shared-row layers on cuda: half a minute at the start, then a third faster")
    share_rows: Literal["auto", "on", "off"] = key(
        "auto", "several sentences share a row (auto: on cuda, if the model can)"
    )

    def __post_init__(self) -> None:
        for name in ("steps", "batch_tokens", "accumulate", "warmup", "decay", "average_last"):
            value = getattr(self, name)
            require(value >= 1, f"train.{name} must be at least 1, but is {value}")
        for name in ("eval_every", "save_every", "log_every"):
            value = getattr(self, name)
            require(value >= 1, f"train.{name} must be at least 1, but is {value}")
        for name in ("patience", "clip", "weight_decay", "r_drop", "guided_weight", "guided_layer"):
            value = getattr(self, name)
            require(value >= 0, f"train.{name} must not be negative, but is {value}")
        require(self.lora_rank >= 0, f"train.lora_rank must not be negative, but is {self.lora_rank}")
        require(
            self.lora_rank == 0 or self.start_from is not None,
            f"train.lora_rank is {self.lora_rank}, but there is no trained model to adapt; add --start-from RUN",
        )
        require(
            self.lora_rank == 0 or self.parallel == "ddp",
            f"train.lora_rank is {self.lora_rank}, which has little to cut apart; leave out --parallel fsdp",
        )
        require(0 < self.lora_alpha < math.inf, f"train.lora_alpha must be above 0, but is {self.lora_alpha}")
        require(self.seed >= 0, f"train.seed must not be negative, but is {self.seed}")
        for name in ("learning_rate", "embedding_rate"):
            value = getattr(self, name)
            require(0 < value < math.inf, f"train.{name} must be positive, but is {value}")
        require(0 <= self.sampling_rate <= 1, f"train.sampling_rate must be from 0 to 1, but is {self.sampling_rate}")
        for name in ("label_smoothing", "ema_decay", "word_dropout"):
            value = getattr(self, name)
            require(0 <= value < 1, f"train.{name} must be at least 0 and below 1, but is {value}")
        for name in ("minutes", "flops"):
            value = getattr(self, name)
            require(value is None or value > 0, f"train.{name} must be positive, but is {value}")


@dataclass(frozen=True)
class RewardConfig:
    """The equations are in `training/reward.py`."""

    objective: Literal["likelihood", "minimum-risk", "self-critical"] = key(
        "likelihood", "what training is for: the references' likelihood, or a reward of the model's own translations"
    )
    reward: Literal["gleu", "bleu"] = key("gleu", "score of a sentence that is trained for")
    samples: int = key(15, "translations drawn for each sentence")
    likelihood_weight: float | None = key(
        None, "of likelihood beside rewards (none: the papers', 0.017 for self-critical and 0 for minimum-risk)"
    )
    baseline: Literal["mean", "greedy"] = key(
        "mean", "self-critical: what a sample's reward is held against: the samples' mean, or the greedy translation's"
    )
    sharpness: float = key(0.005, "minimum-risk: α of q ∝ p^α; the gradient grows with it")
    with_reference: bool = key(True, "minimum-risk: the reference is one of the candidates")

    def __post_init__(self) -> None:
        idle = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != f.default]
        require(
            self.has_rewards or not idle,
            f"reward.{idle[0] if idle else ''} is set, but reward.objective is likelihood, which has no rewards; "
            "add --objective self-critical or minimum-risk",
        )
        fewest = 2 if self.needs_two else 1
        require(
            self.samples >= fewest,
            f"reward.samples must be at least {fewest} for {self.objective}, but is {self.samples}",
        )
        require(0 < self.sharpness < math.inf, f"reward.sharpness must be above 0, but is {self.sharpness}")
        weight = self.likelihood_weight
        good = weight is None or 0 <= weight < math.inf
        require(good, f"reward.likelihood_weight must be 0 or more, but is {weight}")

    @property
    def has_rewards(self) -> bool:
        return self.objective != "likelihood"

    @property
    def needs_two(self) -> bool:
        """Where samples are held against each other, one alone teaches nothing."""
        return self.baseline == "mean" if self.objective == "self-critical" else not self.with_reference

    @property
    def likelihood_share(self) -> float:
        """The weight of likelihood, the papers' where none is given."""
        papers = {"likelihood": 1.0, "self-critical": 0.017, "minimum-risk": 0.0}
        return papers[self.objective] if self.likelihood_weight is None else self.likelihood_weight
