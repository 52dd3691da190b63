"""The predicted cost of a run (seconds, memory, operations, disk) from a rehearsal, and advice on its recipe.

    seconds = start + updates × one + evaluations × one + checkpoints × one + test

Evaluations are timed with translations as long as the references; the first ones, before the model has learnt to end a
sentence, take longer. A run that stops early (patience) takes less. The prediction holds while the machine stays as it
is: other work, a hotter processor or a slower disk are not predicted.

Each line of advice says why and which key to change. The thresholds are rules of thumb. Serious: the run would fail or
give a bad model.
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


MANY_EPOCHS = 200
EVALUATING = 0.25  # share of a run's time from which on evaluations are worth fewer
HEADROOM = 0.9  # of the free memory that a run may be planned for
WEIGHTS_PER_TOKEN = 20  # parameters from which on a model learns a corpus by heart
FEW_TOKENS = 500  # of an update
FEW_FILLED = 0.7
DROPPED, MOST_DROPPED = 0.01, 0.2  # shares of pairs that filters take
RARE = 0.5  # share of the vocabulary that is seldom met


@dataclass(frozen=True)
class Advice:
    serious: bool
    message: str


def advise(recipe: Recipe, corpus: CorpusSummary, found: Prediction, machine: Machine) -> list[Advice]:
    """The serious ones first."""
    said = [
        *about_memory(found, machine),
        *about_data(recipe, corpus),
        *about_size(recipe, corpus, found),
        *about_time(recipe, found, machine),
    ]
    return sorted(said, key=lambda advice: not advice.serious)


def about_memory(found: Prediction, machine: Machine) -> Iterator[Advice]:
    seen = found.rehearsal
    free = machine.memory_free if seen.device == "cpu" else (machine.devices[0].free if machine.devices else None)
    if found.peak_bytes is not None and free and found.peak_bytes > HEADROOM * free:
        need = f"memory: the run needs {gib(found.peak_bytes)}, and {gib(free)} are free"
        way = "halve train.batch_tokens and double train.accumulate for the same update, or use a smaller model.preset"
        yield Advice(True, f"{need}; {way}")
    if seen.parts > 1:
        line = (
            f"memory: the largest batch must be learnt from in {seen.parts} parts; fewer train.batch_tokens are faster"
        )
        yield Advice(False, line)
    if machine.disk_free is not None and found.disk > HEADROOM * machine.disk_free:
        line = f"disk: a run writes {gib(found.disk)}, and {gib(machine.disk_free)} are free at the cache; make room"
        yield Advice(True, line)


def about_data(recipe: Recipe, corpus: CorpusSummary) -> Iterator[Advice]:
    lost = sum(corpus.dropped.values())
    read = corpus.pairs + lost
    if lost > DROPPED * read:
        why = ", ".join(f"{count:,} {name}" for name, count in corpus.dropped.items() if count)
        keys = f"data.max_length {recipe.data.max_length} and data.max_ratio {recipe.data.max_ratio:g} decide"
        yield Advice(lost > MOST_DROPPED * read, f"filters: {lost:,} of {read:,} pairs are dropped ({why}); {keys}")
    if corpus.rare > RARE:
        size = max(500, round(corpus.often + len(BYTES), -2))
        line = f"vocabulary: {corpus.rare:.0%} of its pieces occur under 100 times, too seldom to be learnt well"
        yield Advice(False, f"{line}; try text.vocab_size {size}")
    for part, share in corpus.unknown.items():
        if share > DROPPED:
            words = "words are not in the vocabulary; more data, a larger text.vocab_size, or text.unit bpe help"
            what = words if recipe.text.unit == "word" else "pieces are bytes of characters that are new or rare"
            yield Advice(share > MOST_DROPPED, f"vocabulary: {share:.1%} of the source's {what} (in {part})")


def about_size(recipe: Recipe, corpus: CorpusSummary, found: Prediction) -> Iterator[Advice]:
    config, steps, weights = recipe.train, found.steps, found.rehearsal.parameters
    if weights > WEIGHTS_PER_TOKEN * corpus.target_tokens and config.start_from is None:
        line = f"model: {weights:,} parameters for {corpus.target_tokens:,} target tokens will learn them by heart"
        yield Advice(False, f"{line}; a smaller model.preset, more model.dropout, or train.patience 5 help")
    if found.epochs < 1:
        yield Advice(False, f"steps: {steps:,} updates see only {found.epochs:.0%} of the data; raise train.steps")
    if found.epochs > MANY_EPOCHS:
        line = f"steps: {steps:,} updates go through the data {found.epochs:,.0f} times; train.patience 5 stops in time"
        yield Advice(False, line)
    if config.warmup >= steps and config.schedule != "constant":
        line = f"rate: the warm-up of {config.warmup:,} updates does not end within {steps:,}"
        yield Advice(True, f"{line}; try train.warmup {max(1, steps // 10)}")
    if config.schedule == "wsd" and config.decay >= steps:
        line = f"rate: decay is {config.decay:,} of {steps:,} updates; try train.decay {max(1, steps // 5)}"
        yield Advice(False, line)


def about_time(recipe: Recipe, found: Prediction, machine: Machine) -> Iterator[Advice]:
    seen, config = found.rehearsal, recipe.train
    evaluating = found.parts.get("evaluations", Time()).wall / found.total.wall
    if evaluating > EVALUATING and found.evaluations > 2:
        line = f"time: evaluations take {evaluating:.0%} of it; try train.eval_every {2 * eval_interval(config)}"
        yield Advice(False, line)
    if seen.target_tokens < FEW_TOKENS:
        line = f"batches: an update has {seen.target_tokens:,.0f} target tokens"
        yield Advice(False, f"{line}; more train.batch_tokens make it steadier")
    if seen.filled < FEW_FILLED:
        line = f"batches: only {seen.filled:.0%} of positions hold a token; more train.batch_tokens fill them better"
        yield Advice(False, line)
    if seen.device == "cpu" and machine.devices:
        yield Advice(False, f"device: the run is for the CPU, but {machine.devices[0].name} is here; train.device auto")
    if seen.device == "cpu" and machine.load is not None and machine.load > machine.cores:
        line = f"machine: {machine.load:.1f} processes want its {machine.cores} cores, and took them from the rehearsal"
        yield Advice(False, line)
