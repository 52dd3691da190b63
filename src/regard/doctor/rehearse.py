"""Rehearsal of a run in a separate process: the run's own code executes each part once or a few times, and is timed.

The parts are the largest batch, which is first in a run too; some updates over batches of all lengths
(`training/rehearsal.py`); an evaluation and a test on some of their batches, by a model that ends each translation at a
given length; a checkpoint. The peak memory of the process is that of the run; if the system kills it, the run would
lack memory too. All files are written to a temporary folder, which is removed.

On a GPU layers are compiled, and torch caches the result, so another process compiles them first: the timed start is
then like that of the run.

An untrained model hardly ever predicts EOS, so its translations grow to the limit and a search takes several times as
long as after training. With `FixedLengthModel` EOS has probability 0 before `ratio` × the source's length, and 1 from
there on. Every step is otherwise the model's own, so its time is right. The translations are of no use.

    B sentences   N = B × beam rows   S source   V target vocabulary
"""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from regard.batch import EOS, Batch
from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.device import pick_device
from regard.models.base import Memory, Model, ModelWrapper, State, Step
from regard.models.state import BatchState, inner, per_sentence, repeat_rows
from regard.recipe.recipe import Recipe
from regard.search.engine import token_batches
from regard.training.cost import Time, peak_bytes, timed
from regard.training.dry_run import preserve_state, try_largest_batch
from regard.training.evaluate import HeldOut, evaluate
from regard.training.folder import RunFolder
from regard.training.guided import padded
from regard.training.job import Job, prepare
from regard.training.log import RunLog
from regard.training.loop import describe_bundle, save
from regard.training.rehearsal import WARM_UP, Shape, Trial, device_name, shape_of, time_updates, uses_bfloat16
from regard.training.update import split_batch
from regard.workers import WorkerKilledError, in_new_process

LEAST_SECONDS, MOST_SECONDS = 8.0, 30.0  # duration of the timed updates
LEAST_UPDATES = 20
SEARCH_SECONDS = 8.0  # approximate duration of an evaluation
SHAPES_SECONDS = 12.0  # processor time for batches of other shapes
SHAPES_CACHED = 100  # about as many as fit into oneDNN's cache of 1,024 kernels
PAIRS = 20_000  # number of pairs whose lengths give the mean cost of a batch


@dataclass(frozen=True)
class Rehearsal:
    device: str
    half: bool  # bfloat16
    parameters: int
    imports: Time  # until the first line of a run
    preparing: Time  # with vocabulary and pairs in the cache
    first: Time  # the largest batch, and how much longer the first updates took than others
    update: Time
    timed: int  # number of timed updates
    noise: float  # standard error of `update`, as a share
    flops: float  # of an update
    target_tokens: float  # of an update
    filled: float  # share of positions that hold a token
    per_epoch: int  # batches
    parts: int  # number of parts that the largest batch is split into
    evaluation: Time
    keeping: Time  # saving the best model
    saving: Time  # a checkpoint and the last model
    test: Time
    peak_bytes: int | None
    disk: int  # bytes of a run's folder


def rehearse(recipe: Recipe) -> Rehearsal | None:
    """Rehearses a run; returns None if the system killed the process, which it does for lack of memory."""
    threads = torch.get_num_threads()
    try:
        if pick_device(recipe.train.device).type == "cuda":
            in_new_process(_compile, recipe, threads)
        return in_new_process(_rehearse, recipe, time.time(), threads)
    except WorkerKilledError:
        return None


def _compile(recipe: Recipe, threads: int) -> None:
    """Makes the first updates, so that torch caches the compiled layers."""
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as home:
        job = prepare(recipe, RunFolder(Path(home)), Console(file=StringIO()))
        with closing(Trial(job)) as trial:
            try_largest_batch(job.update, job.data, lambda line: None)
            trial.learn(WARM_UP)


def _rehearse(recipe: Recipe, submitted: float, threads: int) -> Rehearsal:
    imports = Time(time.time() - submitted, time.process_time())
    torch.set_num_threads(threads)
    console = Console(file=StringIO())
    with tempfile.TemporaryDirectory() as home:
        folder = RunFolder(Path(home))
        job, preparing = timed(lambda: prepare(recipe, folder, console))
        model, dev, test = job.bundle.model, job.data.dev, job.data.test
        with RunLog(folder, console, job.config, job.progress) as log, closing(Trial(job)) as trial:
            _, first = timed(lambda: try_largest_batch(job.update, job.data, log.print))
            updates = time_updates(trial, max(1, job.config.steps - WARM_UP), is_enough)
            growth = memory_growth(job, updates.shapes)
            # Time is proportional to operations, so that of a mean batch is more exact than the mean of some batches.
            share = mean_flops(trial) / updates.flops
            first += sum(updates.warm_up, Time()) + updates.mean * (-share * WARM_UP)
            with job.average.in_place():
                evaluation = time_search(job, job.bundle, dev, DecodeConfig(beam=1))
                describe_bundle(job.bundle, job.progress, None)
                _, keeping = timed(lambda: job.bundle.save(folder.best))
            _, saving = timed(lambda: save(job, log, None))
            save(job, log, None)  # the previous checkpoint is kept
        testing = time_test(job, test) if test is not None else Time()
        disk = sum(path.stat().st_size for path in Path(home).rglob("*") if path.is_file())
    return Rehearsal(
        device=device_name(model.device),
        half=uses_bfloat16(job),
        parameters=model.parameter_count(),
        imports=imports,
        preparing=preparing,
        first=Time(max(0.0, first.wall), max(0.0, first.processor)),
        update=updates.mean * share,
        timed=updates.count,
        noise=updates.noise,
        flops=updates.flops * share,
        target_tokens=updates.tokens * share,
        filled=updates.filled,
        per_epoch=job.data.batches.per_epoch,
        parts=len(split_batch(job.data.largest(), job.progress.room)),
        evaluation=evaluation,
        keeping=keeping,
        saving=saving,
        test=testing,
        peak_bytes=None if (peak := peak_bytes(model.device)) is None else peak + growth,
        disk=disk,
    )


def is_enough(updates: int, seconds: float) -> bool:
    return seconds > MOST_SECONDS or (seconds > LEAST_SECONDS and updates >= LEAST_UPDATES)


def memory_growth(job: Job, seen: set[Shape]) -> int:
    """Estimates by how many bytes the memory of a run will still grow.

    In bfloat16 on a CPU a kernel is made for each shape of a batch and cached, until the cache is full after about a
    hundred shapes. A few more shapes show the memory per shape.
    """
    config, loss, data = job.config, job.update.loss, job.data
    if loss.device.type != "cpu" or not uses_bfloat16(job) or loss.reward.has_rewards:
        return 0
    coming: dict[Shape, Batch] = {}
    for flat in islice(data.batches, config.steps * config.accumulate):
        if len(seen) + len(coming) == SHAPES_CACHED:
            break
        if shape_of(batch := padded(flat, data.guide)) not in seen:
            coming[shape_of(batch)] = batch
    before, end, tried = peak_bytes(loss.device) or 0, time.process_time() + SHAPES_SECONDS, 0
    for batch in coming.values():
        with preserve_state(loss):
            job.update.accumulate_gradients([batch], 1.0)
            job.update.zero_grad()
        tried += 1
        if time.process_time() > end:
            break
    grown = (peak_bytes(loss.device) or 0) - before
    return round(grown / max(1, tried) * (len(coming) - tried))


def mean_flops(trial: Trial) -> float:
    """Returns the mean operations of an update, from the lengths of many pairs."""
    batches, config = trial.job.data.batches, trial.job.config
    rows = np.random.default_rng(0).permutation(len(batches.corpus))[:PAIRS]
    lengths, counts = np.unique(np.stack(batches.corpus.lengths_of(rows)), axis=1, return_counts=True)
    total = sum(trial.cost.of_pair(int(s), int(t)) * int(n) for (s, t), n in zip(lengths.T, counts, strict=True))
    return total / len(rows) * len(batches.corpus) / batches.per_epoch * config.accumulate


def time_test(job: Job, test: HeldOut) -> Time:
    """Times the scoring of the test set as in a run: the best model is loaded, searches with its beam, and is saved."""
    bundle, loading = timed(lambda: Bundle.load(job.folder.best, job.bundle.model.device))
    searching = time_search(job, bundle, test, job.decode)
    _, writing = timed(lambda: bundle.save(job.folder.best))
    return loading + searching + writing


def time_search(job: Job, bundle: Bundle, pairs: HeldOut | None, search: DecodeConfig) -> Time:
    """Times some of the batches of a search, beginning with the longest, and scales the time to all of them."""
    if pairs is None:
        return Time()
    longest, tokens = job.data.max_length, job.config.batch_tokens
    sources = bundle.tokenizer.encode_source(pairs.sources)
    lengths = [len(ids) for ids in sources]
    groups = list(token_batches(lengths, tokens))
    targets = sum(map(len, bundle.tokenizer.encode_target(pairs.references)))
    ratio = (targets + len(lengths)) / (sum(lengths) + len(lengths))
    fixed_length = replace(bundle, model=FixedLengthModel(bundle.model, ratio))
    size = [sum(lengths[i] + 1 for i in group) for group in groups]
    taken: dict[int, Time] = {}
    for number in spread_order(len(groups)):
        sides = [[texts[i] for i in groups[number]] for texts in (pairs.sources, pairs.references)]
        part = HeldOut(sides[0], sides[1], pairs.tag)
        _, taken[number] = timed(partial(evaluate, fixed_length, part, search, longest, tokens))
        if sum(took.wall for took in taken.values()) > SEARCH_SECONDS:
            break
    return sum(taken.values(), Time()) * (sum(size) / max(1, sum(size[number] for number in taken)))


def spread_order(count: int) -> list[int]:
    """Returns all numbers below `count`, in an order whose first numbers are spread out: ends, middle, quarters.

    >>> spread_order(5)
    [0, 4, 2, 1, 3]
    """
    order, step = [0, count - 1] if count > 1 else [0], max(1, count - 1)
    while step > 1:
        step = -(-step // 2)
        order += [n for n in range(0, count, step) if n not in order]
    return order


@dataclass(frozen=True)
class FixedLengthState(BatchState):
    model: State = inner()
    left: Tensor = per_sentence()  # (B,) words before EOS


@dataclass(frozen=True)
class FixedLengthMemory(Memory):
    model: Memory


class FixedLengthModel(ModelWrapper):
    def __init__(self, model: Model, ratio: float) -> None:
        super().__init__(model)
        self.ratio = ratio

    def encode(self, src: Tensor, mask: Tensor) -> FixedLengthMemory:
        inner = self.model.encode(src, mask)
        return FixedLengthMemory(inner.states, mask, inner)

    def start(
        self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None
    ) -> FixedLengthState:
        assert isinstance(memory, FixedLengthMemory)
        left = (memory.mask.sum(dim=1) * self.ratio).round().long()  # (B,)
        return FixedLengthState(beams, self.model.start(memory.model, trace, beams=beams, room=room), left)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, FixedLengthState)
        step = self.model.step(token, state.model)
        due = repeat_rows(state.left <= 1, state.beams)  # (N,)
        logits = step.logits.masked_fill(due[:, None], -torch.inf)  # (N, V)
        logits[:, EOS] = torch.where(due, 0.0, -torch.inf)
        return step._replace(logits=logits, state=replace(state, model=step.state, left=state.left - 1))
