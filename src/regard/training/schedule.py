"""Learning rates, and when to evaluate: pure functions of the update's number, counted from 1.

With peak = (D · warmup)^−½, `inverse_sqrt` is the paper's D^−½ · min(step^−½, step · warmup^−1.5), also known as the
Noam schedule.
"""

from __future__ import annotations

import math

from regard.recipe.train import TrainConfig

FIRST_EVALUATION = 100  # where the recipe does not set eval_every


def warm(step: int, warmup: int) -> float:
    return min(1.0, step / warmup)


def inverse_sqrt(step: int, warmup: int) -> float:
    return min(step / warmup, math.sqrt(warmup / step))


def cosine(step: int, warmup: int, steps: int) -> float:
    """Linear warm-up, then down to zero along half a cosine."""
    done = min(1.0, max(0.0, (step - warmup) / max(1, steps - warmup)))
    return warm(step, warmup) * 0.5 * (1 + math.cos(math.pi * done))


def warm_stable_decay(step: int, warmup: int, decay: int, steps: int) -> float:
    """Linear warm-up, constant, then linear decay to zero over the last `decay` updates (Hu et al. 2024)."""
    return warm(step, warmup) * min(1.0, max(0.0, (steps - step) / decay))


def linear(step: int, warmup: int, steps: int) -> float:
    """Linear warm-up, then linear decay to zero."""
    return warm_stable_decay(step, warmup, max(1, steps - warmup), steps)


def sampling_probability(step: int, config: TrainConfig) -> float:
    """That the decoder reads a word of its own (scheduled sampling, `regularise.py`): grows linearly over the run."""
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


def eval_interval(config: TrainConfig) -> int:
    """Updates between evaluations. Where the recipe does not say: a twentieth of the run, from 250 to 2,000, and a
    quarter of a run too short for that.

    >>> [eval_interval(TrainConfig(steps=steps)) for steps in (3, 200, 2000, 10_000, 100_000)]
    [1, 50, 250, 500, 2000]
    """
    if config.eval_every is not None:
        return config.eval_every
    return max(1, min(config.steps // 4, max(250, min(2000, config.steps // 20))))


def is_regular_evaluation(step: int, config: TrainConfig) -> bool:
    return step % eval_interval(config) == 0 or step == config.steps


def is_evaluation(step: int, config: TrainConfig) -> bool:
    """Where the recipe does not set eval_every, there is an early evaluation beside the regular ones."""
    return is_regular_evaluation(step, config) or (config.eval_every is None and step == FIRST_EVALUATION)
