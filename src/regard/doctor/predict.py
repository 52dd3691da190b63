"""What a run will take: seconds, memory, operations and disk, from a rehearsal of it.

    seconds = start + updates × one + evaluations × one + checkpoints × one + test

Evaluations are timed with translations as long as the references; the first ones, before the model has learnt to end a
sentence, take longer. A run that stops early (patience) takes less. The prediction holds while the machine stays as it
is: other work, a hotter processor or a slower disk are not predicted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from regard.doctor.rehearse import Rehearsal
from regard.recipe.recipe import Recipe
from regard.training.clock import Time
from regard.training.schedule import is_evaluation


@dataclass(frozen=True)
class CorpusSummary:
    """What preparing the data has shown; of a large corpus, that of a sample, scaled."""

    pairs: int  # that are trained on
    target_tokens: int
    preparing: Time  # learning the vocabulary and encoding
    prepared: bool  # whether the result is in the cache now
    dropped: dict[str, int]  # reason → pairs
    rare: float  # share of the vocabulary that occurs fewer than a hundred times
    often: int  # pieces that occur a hundred times or more
    unknown: dict[str, float]  # dev, test → share of words or pieces that are not in the vocabulary


@dataclass(frozen=True)
class Prediction:
    parts: dict[str, Time]
    flops: float
    peak_bytes: int | None
    disk: int
    steps: int  # updates within the limits of time and operations
    epochs: float
    evaluations: int
    checkpoints: int
    rehearsal: Rehearsal

    @property
    def total(self) -> Time:
        return sum(self.parts.values(), Time())

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "total": asdict(self.total)}


def predict(recipe: Recipe, corpus: CorpusSummary, seen: Rehearsal) -> Prediction:
    config = recipe.train
    steps = config.steps
    if config.minutes is not None:
        steps = min(steps, int(60 * config.minutes / seen.update.wall) + 1)
    if config.flops is not None:
        steps = min(steps, int(config.flops / seen.flops) + 1)
    ends = steps == config.steps
    evaluations = sum(is_evaluation(step, config) for step in range(1, steps + 1))
    checkpoints = steps // config.save_every + (steps % config.save_every > 0 or not ends)
    per_epoch = seen.per_epoch
    epochs = steps * config.accumulate / per_epoch
    anew = recipe.text.bpe_dropout > 0 or any(recipe.data.transforms)
    parts = {
        "start": seen.imports + seen.preparing + seen.first,
        "vocabulary and encoding": Time() if corpus.prepared else corpus.preparing,
        "updates": seen.update * steps,
        "evaluations": (seen.evaluation + seen.keeping) * evaluations,
        "checkpoints": seen.saving * checkpoints,
        "test": seen.test if ends else Time(),
    }
    if anew:
        parts["encoding of each epoch"] = corpus.preparing * int(epochs)
    parts = {name: taken for name, taken in parts.items() if taken.wall}
    return Prediction(
        parts, steps * seen.flops, seen.peak_bytes, seen.disk, steps, epochs, evaluations, checkpoints, seen
    )


def gib(count: float) -> str:
    """
    >>> gib(3 * 2**30), gib(40 * 2**20)
    ('3.0 GiB', '40 MiB')
    """
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
