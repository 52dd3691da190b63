"""The predicted cost of a run (seconds, memory, operations, disk) from a rehearsal, and advice on its recipe.

    seconds = start + updates × one + evaluations × one + checkpoints × one + test

Evaluations are timed with translations as long as the references; the first ones, before the model has learnt to end a
sentence, take longer. A run that stops early (patience) takes less. The prediction is valid while the machine does not
change: other load, a hotter processor or a slower disk are not predicted.

Each line of advice gives a reason and a key to change. The thresholds are rules of thumb. Serious: the run would fail
or give a bad model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from regard.doctor.machine import Machine
from regard.doctor.rehearse import Rehearsal
from regard.recipe.recipe import Recipe
from regard.text.vocabulary import BYTES
from regard.training.cost import Time
from regard.training.schedule import eval_interval, is_evaluation


@dataclass(frozen=True)
class CorpusSummary:
    """Statistics of the prepared data; for a large corpus, those of a sample, scaled."""

    pairs: int  # pairs that are trained on
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


def predict(recipe: Recipe, corpus: CorpusSummary, rehearsal: Rehearsal) -> Prediction:
    config, steps = recipe.train, recipe.train.steps
    if config.minutes is not None:
        steps = min(steps, int(60 * config.minutes / rehearsal.update.wall) + 1)
    if config.flops is not None:
        steps = min(steps, int(config.flops / rehearsal.flops) + 1)
    ends = steps == config.steps
    evaluations = sum(is_evaluation(step, config) for step in range(1, steps + 1))
    checkpoints = steps // config.save_every + (steps % config.save_every > 0 or not ends)
    epochs = steps * config.accumulate / rehearsal.per_epoch
    epochs_differ = recipe.text.bpe_dropout > 0 or any(recipe.data.transforms)
    parts = {
        "start": rehearsal.imports + rehearsal.preparing + rehearsal.first,
        "vocabulary and encoding": Time() if corpus.prepared else corpus.preparing,
        "updates": rehearsal.update * steps,
        "evaluations": (rehearsal.evaluation + rehearsal.keeping) * evaluations,
        "checkpoints": rehearsal.saving * checkpoints,
        "test": rehearsal.test if ends else Time(),
        "encoding of each epoch": corpus.preparing * (int(epochs) if epochs_differ else 0),
    }
    parts = {name: time for name, time in parts.items() if time.wall}
    flops, peak, disk = steps * rehearsal.flops, rehearsal.peak_bytes, rehearsal.disk
    return Prediction(parts, flops, peak, disk, steps, epochs, evaluations, checkpoints, rehearsal)


def gib(count: float) -> str:
    """
    >>> gib(3 * 2**30), gib(40 * 2**20)
    ('3.0 GiB', '40 MiB')
    """
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


MANY_EPOCHS = 200
EVALUATING = 0.25  # share of a run's time above which there should be fewer evaluations
HEADROOM = 0.9  # share of the free memory that a run may use
WEIGHTS_PER_TOKEN = 20  # parameters per token above which a model memorizes a corpus
FEW_TOKENS = 500  # tokens of an update
FEW_FILLED = 0.7
DROPPED, MOST_DROPPED = 0.01, 0.2  # shares of pairs that filters drop
RARE = 0.5  # share of the vocabulary that occurs rarely


@dataclass(frozen=True)
class Advice:
    serious: bool
    message: str


def advise(recipe: Recipe, corpus: CorpusSummary, prediction: Prediction, machine: Machine) -> list[Advice]:
    """Returns all advice, serious first."""
    advice = [
        *about_memory(prediction, machine),
        *about_data(recipe, corpus),
        *about_size(recipe, corpus, prediction),
        *about_time(recipe, prediction, machine),
    ]
    return sorted(advice, key=lambda one: not one.serious)


def about_memory(prediction: Prediction, machine: Machine) -> Iterator[Advice]:
    rehearsal, peak, disk = prediction.rehearsal, prediction.peak_bytes, prediction.disk
    free = machine.memory_free if rehearsal.device == "cpu" else (machine.devices[0].free if machine.devices else None)
    if peak is not None and free and peak > HEADROOM * free:
        yield Advice(
            True,
            f"memory: the run needs {gib(peak)}, and {gib(free)} are free; halve train.batch_tokens and double "
            "train.accumulate for the same update, or use a smaller model.preset",
        )
    if rehearsal.parts > 1:
        what = f"the largest batch must be learnt from in {rehearsal.parts} parts"
        yield Advice(False, f"memory: {what}; fewer train.batch_tokens are faster")
    if machine.disk_free is not None and disk > HEADROOM * machine.disk_free:
        what = f"a run writes {gib(disk)}, and {gib(machine.disk_free)} are free at the cache"
        yield Advice(True, f"disk: {what}; make room")


def about_data(recipe: Recipe, corpus: CorpusSummary) -> Iterator[Advice]:
    dropped = sum(corpus.dropped.values())
    read = corpus.pairs + dropped
    if dropped > DROPPED * read:
        why = ", ".join(f"{count:,} {name}" for name, count in corpus.dropped.items() if count)
        keys = f"data.max_length {recipe.data.max_length} and data.max_ratio {recipe.data.max_ratio:g} decide"
        serious = dropped > MOST_DROPPED * read
        yield Advice(serious, f"filters: {dropped:,} of {read:,} pairs are dropped ({why}); {keys}")
    if corpus.rare > RARE:
        size = max(500, round(corpus.often + len(BYTES), -2))
        what = f"{corpus.rare:.0%} of its pieces occur under 100 times, too seldom to be learnt well"
        yield Advice(False, f"vocabulary: {what}; try text.vocab_size {size}")
    for part, share in corpus.unknown.items():
        if share > DROPPED:
            words = "words are not in the vocabulary; more data, a larger text.vocab_size, or text.unit bpe help"
            what = words if recipe.text.unit == "word" else "pieces are bytes of characters that are new or rare"
            yield Advice(share > MOST_DROPPED, f"vocabulary: {share:.1%} of the source's {what} (in {part})")


def about_size(recipe: Recipe, corpus: CorpusSummary, prediction: Prediction) -> Iterator[Advice]:
    config, steps, epochs = recipe.train, prediction.steps, prediction.epochs
    weights = prediction.rehearsal.parameters
    if weights > WEIGHTS_PER_TOKEN * corpus.target_tokens and config.start_from is None:
        what = f"{weights:,} parameters for {corpus.target_tokens:,} target tokens will learn them by heart"
        yield Advice(False, f"model: {what}; a smaller model.preset, more model.dropout, or train.patience 5 help")
    if epochs < 1:
        yield Advice(False, f"steps: {steps:,} updates see only {epochs:.0%} of the data; raise train.steps")
    if epochs > MANY_EPOCHS:
        what = f"{steps:,} updates go through the data {epochs:,.0f} times"
        yield Advice(False, f"steps: {what}; train.patience 5 stops in time")
    if config.warmup >= steps and config.schedule != "constant":
        what = f"the warm-up of {config.warmup:,} updates does not end within {steps:,}"
        yield Advice(True, f"rate: {what}; try train.warmup {max(1, steps // 10)}")
    if config.schedule == "wsd" and config.decay >= steps:
        what = f"decay is {config.decay:,} of {steps:,} updates"
        yield Advice(False, f"rate: {what}; try train.decay {max(1, steps // 5)}")


def about_time(recipe: Recipe, prediction: Prediction, machine: Machine) -> Iterator[Advice]:
    rehearsal, on_cpu = prediction.rehearsal, prediction.rehearsal.device == "cpu"
    evaluating = prediction.parts.get("evaluations", Time()).wall / prediction.total.wall
    if evaluating > EVALUATING and prediction.evaluations > 2:
        every = 2 * eval_interval(recipe.train)
        yield Advice(False, f"time: evaluations take {evaluating:.0%} of it; try train.eval_every {every}")
    if rehearsal.target_tokens < FEW_TOKENS:
        what = f"an update has {rehearsal.target_tokens:,.0f} target tokens"
        yield Advice(False, f"batches: {what}; more train.batch_tokens make it steadier")
    if rehearsal.filled < FEW_FILLED:
        what = f"only {rehearsal.filled:.0%} of positions hold a token"
        yield Advice(False, f"batches: {what}; more train.batch_tokens fill them better")
    if on_cpu and machine.devices:
        yield Advice(False, f"device: the run is for the CPU, but {machine.devices[0].name} is here; train.device auto")
    if on_cpu and machine.load is not None and machine.load > machine.cores:
        what = f"{machine.load:.1f} processes want its {machine.cores} cores, and took them from the rehearsal"
        yield Advice(False, f"machine: {what}")
