"""Learning rates as pure functions of the update's number, counted from 1.

With peak = (D · warmup)^−½, `inverse_sqrt` is the paper's D^−½ · min(step^−½, step · warmup^−1.5), which others call
Noam's schedule: the same shape for every D, so it needs no name of its own.
"""

from __future__ import annotations

import math

from regard.recipe.train import TrainConfig


def warm(step: int, warmup: int) -> float:
    return min(1.0, step / warmup)


def inverse_sqrt(step: int, warmup: int) -> float:
    return min(step / warmup, math.sqrt(warmup / step))


def cosine(step: int, warmup: int, steps: int) -> float:
    """Up in a line, down to zero along half a cosine."""
    done = min(1.0, max(0.0, (step - warmup) / max(1, steps - warmup)))
    return warm(step, warmup) * 0.5 * (1 + math.cos(math.pi * done))


def warm_stable_decay(step: int, warmup: int, decay: int, steps: int) -> float:
    """Up in a line, level, then down in a line over the last `decay` updates (Hu et al. 2024)."""
    return warm(step, warmup) * min(1.0, max(0.0, (steps - step) / decay))


def linear(step: int, warmup: int, steps: int) -> float:
    """Up in a line, down in a line to zero."""
    return warm_stable_decay(step, warmup, max(1, steps - warmup), steps)


def sampling_chance(step: int, config: TrainConfig) -> float:
    """That the decoder reads a word of its own (scheduled sampling, `regularise.py`): up in a line over the run."""
    return config.sampling_rate * min(1.0, step / config.steps)


def learning_rate(step: int, config: TrainConfig) -> float:
    shape = {
        "constant": lambda: warm(step, config.warmup),
        "inverse-sqrt": lambda: inverse_sqrt(step, config.warmup),
        "cosine": lambda: cosine(step, config.warmup, config.steps),
        "wsd": lambda: warm_stable_decay(step, config.warmup, config.decay, config.steps),
        "linear": lambda: linear(step, config.warmup, config.steps),
    }[config.schedule]()
    return config.learning_rate * shape
