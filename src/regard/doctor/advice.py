"""Advice on a recipe, from the prediction of its run. Each line says why and which key to change.

The thresholds are rules of thumb. Serious: the run would fail or give a bad model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from regard.doctor.machine import Machine
from regard.doctor.predict import CorpusSummary, Prediction, gib
from regard.recipe.recipe import Recipe
from regard.text.vocabulary import BYTES
from regard.training.clock import Time
from regard.training.schedule import eval_interval

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
