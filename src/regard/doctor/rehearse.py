"""A run in small, in a process of its own: every part of it done once or a few times by the run's own code, and timed.

The largest batch first, as a run does; some updates over batches of all lengths; an evaluation and a test on a few of
their batches, by a model that ends its sentences when they are due (`punctual.py`); a checkpoint. A process of its own,
because its peak of memory should be the run's and not the checks' before it, and because one that is killed for want of
memory is an answer. All that is written goes to a temporary folder that is removed again.

On a GPU layers are compiled, which torch keeps for the next time, so a process before it compiles them: what is timed
is then a start like the run's own. Nothing waits for a GPU within a stretch of updates, because a run does not either.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass, replace
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from regard.batch import Batch, budgeted
from regard.bundle.bundle import Bundle
from regard.bundle.search_config import DecodeConfig
from regard.device import pick_device
from regard.doctor.clock import Time, now, since, timed
from regard.doctor.punctual import Punctual
from regard.recipe.recipe import Recipe
from regard.training.cost import Cost, peak_bytes
from regard.training.dry_run import foresee, untouched
from regard.training.evaluate import HeldOut, evaluate
from regard.training.feed import Ready, feed
from regard.training.folder import RunFolder
from regard.training.job import Job
from regard.training.log import RunLog
from regard.training.loop import describe_bundle, save
from regard.training.memory import in_parts
from regard.training.optim import set_rate
from regard.training.profile import fill
from regard.training.regularise import forward_passes
from regard.training.run import prepare
from regard.training.schedule import learning_rate
from regard.training.update import Update
from regard.workers import WorkerKilledError, in_new_process

WARM = 3  # updates before the clock counts: workspaces, moments, a recorded graph
LEAST_SECONDS, MOST_SECONDS = 8.0, 30.0  # of timed updates
LEAST_UPDATES = 20
STRETCH = 10  # updates on a GPU between two looks at the clock
SEARCH_SECONDS = 8.0  # of an evaluation, about
SHAPES_SECONDS = 12.0  # of the processor, to learn from batches of other shapes
SHAPES_KEPT = 100  # about as many as oneDNN's cache of 1,024 kernels has room for
PAIRS = 20_000  # whose lengths tell the mean cost of a batch

Shape = tuple[int, int, int]  # of a batch: rows, and tokens of either side


@dataclass(frozen=True)
class Rehearsal:
    device: str
    half: bool  # bfloat16
    parameters: int
    imports: Time  # until the first line of a run
    preparing: Time  # with vocabulary and pairs in the cache
    first: Time  # the largest batch, and the first updates as far as they took longer than others
    update: Time
    timed: int  # updates
    noise: float  # standard error of `update`, as a share
    flops: float  # of an update
    target_tokens: float  # of an update
    filled: float  # share of positions that hold a token
    per_epoch: int  # batches
    parts: int  # that the largest batch is learnt from in
    evaluation: Time
    keeping: Time  # the best model
    saving: Time  # a checkpoint and the last model
    test: Time
    peak_bytes: int | None
    disk: int  # bytes of a run's folder


def rehearse(recipe: Recipe) -> Rehearsal | None:
    """None where the system killed it, which is for want of memory."""
    threads = torch.get_num_threads()
    try:
        if pick_device(recipe.train.device).type == "cuda":
            in_new_process(_compile, recipe, threads)
        return in_new_process(_rehearse, recipe, time.time(), threads)
    except WorkerKilledError:
        return None


def _compile(recipe: Recipe, threads: int) -> None:
    """The first updates, for what torch keeps of them."""
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as home:
        job, _ = prepare(recipe, RunFolder(Path(home)), Console(file=StringIO()))
        job.bundle.model.train()
        update = Update(job)
        foresee(update, lambda line: None)
        batches = feed(job.batches, Cost(job.bundle.model, forward_passes(recipe.train)), job.bundle.model.device)
        for _ in range(WARM):
            update([next(batches) for _ in range(recipe.train.accumulate)])


def _rehearse(recipe: Recipe, submitted: float, threads: int) -> Rehearsal:
    imports = Time(time.time() - submitted, time.process_time())
    torch.set_num_threads(threads)
    console = Console(file=StringIO())
    with tempfile.TemporaryDirectory() as home:
        folder = RunFolder(Path(home))
        (job, test), preparing = timed(lambda: prepare(recipe, folder, console))
        with RunLog(folder, console, recipe.train.steps, 0) as log:
            model = job.bundle.model
            model.train()
            update = Update(job)
            _, first = timed(lambda: foresee(update, log.say))
            updates = time_updates(job, update)
            to_come = growth_to_come(job, update, updates.shapes)
            first += sum(updates.warm, Time()) + updates.mean * -len(updates.warm)
            greedy = DecodeConfig(beam=1)
            with job.average.in_place():
                evaluation = time_search(job, job.bundle, job.dev, greedy)
                describe_bundle(job)
                _, keeping = timed(lambda: job.bundle.save(folder.best))
            _, saving = timed(lambda: save(job, log))
            save(job, log)  # the one before it is kept
        testing = time_test(job, test) if test is not None else Time()
        disk = sum(path.stat().st_size for path in Path(home).rglob("*") if path.is_file())
    largest = job.batches.largest().pad()
    return Rehearsal(
        device=torch.cuda.get_device_name() if model.device.type == "cuda" else str(model.device),
        half=job.autocast._enabled,  # torch has no public name for it
        parameters=model.parameter_count(),
        imports=imports,
        preparing=preparing,
        first=Time(max(0.0, first.wall), max(0.0, first.processor)),
        update=updates.mean,
        timed=updates.timed,
        noise=updates.noise,
        flops=updates.flops,
        target_tokens=updates.tokens,
        filled=updates.filled,
        per_epoch=job.batches.per_epoch,
        parts=len(in_parts(largest, job.progress.room)),
        evaluation=evaluation,
        keeping=keeping,
        saving=saving,
        test=testing,
        peak_bytes=None if (peak := peak_bytes(model.device)) is None else peak + to_come,
        disk=disk,
    )


@dataclass(frozen=True)
class Updates:
    warm: list[Time]  # of each
    timed: int
    mean: Time  # of a mean batch
    noise: float
    flops: float  # of a mean update
    tokens: float
    filled: float
    shapes: set[Shape]


def time_updates(job: Job, update: Update) -> Updates:
    """Seconds go with operations, so a mean batch's seconds are known better than the mean of some batches'."""
    model, config = job.bundle.model, job.recipe.train
    cost = Cost(model, forward_passes(config))
    batches = feed(job.batches, cost, model.device)
    every = mean_flops(job, cost)
    learnt: list[Learnt] = []

    def learn(updates: int) -> Time:
        began = now()
        for _ in range(updates):
            set_rate(job.optimizer, learning_rate(1, config))
            micro = [next(batches) for _ in range(config.accumulate)]
            loss, norm = update(micro)
            job.average.after_update(1)
            learnt.append(Learnt.of(micro))
        float(loss), float(norm)  # a GPU is waited for
        return since(began)

    warm = [learn(1) for _ in range(WARM)]
    learnt.clear()
    left, stretch = max(1, config.steps - WARM), STRETCH if model.device.type == "cuda" else 1
    taken: list[Time] = []
    while (
        len(learnt) < left
        and (spent := sum(took.wall for took in taken)) <= MOST_SECONDS
        and (spent <= LEAST_SECONDS or len(learnt) < LEAST_UPDATES)
    ):
        taken.append(learn(min(stretch, left - len(learnt))))
    flops = [some.flops for some in learnt]
    mean = sum(taken, Time()) * (every / sum(flops))
    work = [sum(flops[i : i + stretch]) for i in range(0, len(flops), stretch)]
    rates = [took.wall / f for took, f in zip(taken, work, strict=True)]
    noise = statistics.stdev(rates) / statistics.mean(rates) / len(rates) ** 0.5 if len(rates) > 1 else 1.0
    tokens = statistics.mean(some.tokens for some in learnt) * every / statistics.mean(flops)
    filled = statistics.mean(float(some.filled) for some in learnt)
    shapes = {shape for some in learnt for shape in some.shapes}
    return Updates(warm, len(learnt), mean, noise, every, tokens, filled, shapes)


@dataclass(frozen=True)
class Learnt:
    """What is kept of an update's batches. The batches themselves would count as the run's memory."""

    flops: float
    tokens: int
    filled: torch.Tensor
    shapes: frozenset[Shape]

    @classmethod
    def of(cls, micro: list[Ready]) -> Learnt:
        shapes = frozenset(shape_of(ready.batch) for ready in micro)
        return cls(sum(ready.flops for ready in micro), sum(ready.tokens for ready in micro), fill(micro), shapes)


def growth_to_come(job: Job, update: Update, met: set[Shape]) -> int:
    """Bytes that a run's memory will still grow by.

    In bfloat16 a CPU's kernels are made for each shape of a batch and kept until the cache of them is full, which is
    after some hundred shapes. A few further shapes tell what each costs.
    """
    model, config = job.bundle.model, job.recipe.train
    if model.device.type != "cpu" or not job.autocast._enabled or job.recipe.reward.has_rewards:
        return 0
    coming: dict[Shape, Batch] = {}
    for flat in islice(job.batches, config.steps * config.accumulate):
        if len(met) + len(coming) == SHAPES_KEPT:
            break
        if shape_of(batch := flat.pad()) not in met:
            coming[shape_of(batch)] = batch
    before, end, tried = peak_bytes(model.device) or 0, time.process_time() + SHAPES_SECONDS, 0
    for batch in coming.values():
        with untouched(job):
            update.learn_from([batch], 1.0)
            update.forget()
        tried += 1
        if time.process_time() > end:
            break
    grown = (peak_bytes(model.device) or 0) - before
    return round(grown / max(1, tried) * (len(coming) - tried))


def shape_of(batch: Batch) -> Shape:
    return len(batch), batch.src.shape[1], batch.tgt_in.shape[1]


def mean_flops(job: Job, cost: Cost) -> float:
    """Of an update, by the lengths of many pairs."""
    corpus = job.batches.corpus
    rows = np.random.default_rng(0).permutation(len(corpus))[:PAIRS]
    lengths, counts = np.unique(np.stack(corpus.lengths_of(rows)), axis=1, return_counts=True)
    total = sum(cost.of_learning(int(s), int(t)) * int(n) for (s, t), n in zip(lengths.T, counts, strict=True))
    return total / len(rows) * len(corpus) / job.batches.per_epoch * job.recipe.train.accumulate


def time_test(job: Job, test: HeldOut) -> Time:
    """As a run scores it: the best model is read again, searches with its beam, and is written."""
    bundle, loading = timed(lambda: Bundle.load(job.folder.best, job.bundle.model.device))
    searching = time_search(job, bundle, test, job.recipe.decode)
    _, writing = timed(lambda: bundle.save(job.folder.best))
    return loading + searching + writing


def time_search(job: Job, bundle: Bundle, pairs: HeldOut | None, search: DecodeConfig) -> Time:
    """Some of the batches that a search would make, from the longest on, stand for all of them."""
    if pairs is None:
        return Time()
    sources = bundle.tokenizer.encode_source(pairs.sources)
    lengths = [len(ids) for ids in sources]
    groups = list(budgeted(lengths, job.recipe.train.batch_tokens))
    targets = sum(map(len, bundle.tokenizer.encode_target(pairs.references)))
    ratio = (targets + len(lengths)) / (sum(lengths) + len(lengths))
    punctual = replace(bundle, model=Punctual(bundle.model, ratio))
    size = [sum(lengths[i] + 1 for i in group) for group in groups]
    longest, tokens = job.recipe.data.max_length, job.recipe.train.batch_tokens
    taken: dict[int, Time] = {}
    for number in spread(len(groups)):
        some = [[texts[i] for i in groups[number]] for texts in (pairs.sources, pairs.references)]
        part = HeldOut(some[0], some[1], pairs.tag)
        _, taken[number] = timed(lambda part=part: evaluate(punctual, part, search, longest, tokens))  # type: ignore[misc]
        if sum(took.wall for took in taken.values()) > SEARCH_SECONDS:
            break
    return sum(taken.values(), Time()) * (sum(size) / max(1, sum(size[number] for number in taken)))


def spread(count: int) -> list[int]:
    """All numbers below `count`, in an order whose beginnings are spread out: ends, middle, quarters.

    >>> spread(5)
    [0, 4, 2, 1, 3]
    """
    order, step = [0, count - 1] if count > 1 else [0], max(1, count - 1)
    while step > 1:
        step = -(-step // 2)
        order += [n for n in range(0, count, step) if n not in order]
    return order
