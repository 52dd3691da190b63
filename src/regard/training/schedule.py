"""Learning rates, and when to evaluate: pure functions of the update's number, counted from 1.

The number of updates of a run with a limit of minutes or operations is unknown. With `schedule_by = "budget"` a
schedule of `steps` updates is stretched over the budget: the position of an update on it is the share spent so far. The
rate is then a function of the progress in the checkpoint, so a resumed run continues it; with a limit of minutes it
depends on the speed of the machine, and no second run has exactly the same rates. The warm-up is always counted in
updates.

With peak = (D · warmup)^−½, `inverse_sqrt` is the paper's D^−½ · min(step^−½, step · warmup^−1.5), also known as the
Noam schedule.
"""

from __future__ import annotations

import math

from regard.recipe.train import TrainConfig

FIRST_EVALUATION = 100  # if the recipe does not set eval_every


def warm(step: int, warmup: int) -> float:
    return min(1.0, step / warmup)


def inverse_sqrt(step: int, warmup: int) -> float:
    return min(step / warmup, math.sqrt(warmup / step))


def cosine(place: float, warmup: int, steps: int) -> float:
    """Cosine decay to zero, after the warm-up."""
    done = min(1.0, max(0.0, (place - warmup) / max(1, steps - warmup)))
    return 0.5 * (1 + math.cos(math.pi * done))


def stable_decay(place: float, decay: int, steps: int) -> float:
    """Constant, then linear decay to zero over the last `decay` updates (Hu et al. 2024)."""
    return min(1.0, max(0.0, (steps - place) / decay))


def linear(place: float, warmup: int, steps: int) -> float:
    """Linear decay to zero, after the warm-up."""
    return stable_decay(place, max(1, steps - warmup), steps)


def schedule_position(step: int, seconds: float, flops: float, config: TrainConfig) -> float:
    """Returns the position of an update on a schedule of `config.steps`, after this much time and this many operations.

    >>> config = TrainConfig(steps=1000, minutes=10, schedule_by="budget")
    >>> [schedule_position(step=100, seconds=s, flops=0, config=config) for s in (6, 300, 700)]
    [100, 500.0, 1000]
    """
    if config.schedule_by == "steps":
        return step
    shares = [seconds / (60 * config.minutes)] if config.minutes is not None else []
    shares += [flops / config.flops] if config.flops is not None else []
    return min(config.steps, max([step, *(config.steps * share for share in shares)]))


def sampling_probability(step: int, config: TrainConfig) -> float:
    """Returns the probability of scheduled sampling (`regularize.py`), which grows linearly over the run."""
    return config.sampling_rate * min(1.0, step / config.steps)


def learning_rate(step: int, config: TrainConfig, place: float | None = None) -> float:
    """Returns the learning rate of an update; its position on the schedule is its number unless `place` is given."""
    place = step if place is None else place
    warmed = warm(step, config.warmup)
    shape = {
        "constant": lambda: warmed,
        "inverse-sqrt": lambda: inverse_sqrt(step, config.warmup),
        "cosine": lambda: warmed * cosine(place, config.warmup, config.steps),
        "wsd": lambda: warmed * stable_decay(place, config.decay, config.steps),
        "linear": lambda: warmed * linear(place, config.warmup, config.steps),
    }[config.schedule]()
    return config.learning_rate * shape


def eval_interval(config: TrainConfig) -> int:
    """Returns the number of updates between evaluations. The default is a twentieth of the run, from 250 to 2,000, and
    a quarter of a run too short for that.

    >>> [eval_interval(TrainConfig(steps=steps)) for steps in (3, 200, 2000, 10_000, 100_000)]
    [1, 50, 250, 500, 2000]
    """
    if config.eval_every is not None:
        return config.eval_every
    return max(1, min(config.steps // 4, max(250, min(2000, config.steps // 20))))


def is_regular_evaluation(step: int, config: TrainConfig) -> bool:
    return step % eval_interval(config) == 0 or step == config.steps


def is_evaluation(step: int, config: TrainConfig) -> bool:
    """Whether to evaluate: regularly and, if the recipe does not set eval_every, once early."""
    return is_regular_evaluation(step, config) or (config.eval_every is None and step == FIRST_EVALUATION)
