"""Processes that translate the chunks of a file, each with the model or, if it is on a GPU, with this process's engine.

on CPUs     each process loads the model and searches itself
on GPUs     each process prepares and checks text; this process searches for all, with one engine for each GPU, which
            answers in several threads
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from regard.bulk.chunks import MAX_CHUNK_LINES, ChunkResult, ChunkTranslator, FileChunk, FileTask
from regard.device import gpu_count
from regard.search.engine import Engine
from regard.search.remote_engine import RemoteEngine, answer_calls
from regard.translation.chain import TextChain
from regard.translation.options import TranslateOptions
from regard.translation.translator import TextTranslator
from regard.workers import Answer, ParentProcess, WorkerPool, usable_cores

# Creates the translator of a process; called with the number of the process, from 0.
MakeTranslator = Callable[[int], "TextTranslator | TextChain"]
MAX_WORKERS = 256
STREAMS = 2  # threads that search on a GPU at the same time


def default_workers(translator: TextTranslator | TextChain, options: Mapping[str, Any], lines: int) -> int:
    """Returns the number of processes for a file: two for each core if a GPU searches and the file is large."""
    large_on_gpu = lines > MAX_CHUNK_LINES and searches_for_others(translator, options)
    return min(2 * usable_cores(), MAX_WORKERS) if large_on_gpu else 1


def worker_pool(
    translator: TextTranslator | TextChain, task: FileTask, workers: int, make_translator: MakeTranslator
) -> WorkerPool[FileChunk, ChunkResult]:
    """Starts processes that translate chunks as `translator` does."""
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, usable_cores() // workers))
    environment = {"OMP_NUM_THREADS": threads}
    if not searches_for_others(translator, task.options):
        return WorkerPool(partial(_with_model, make_translator, task), workers, environment)
    options = TranslateOptions.of(None, task.options)
    others = (make_translator(number) for number in range(1, min(gpu_count(), workers)))
    by_gpu = {str(_models(one)[0].bundle.model.device): one for one in (*others, translator)}
    answers = [
        _in_own_stream(device, partial(answer_calls, engines))
        for device, engines in ((device, _engines(one, options)) for device, one in by_gpu.items())
        for _ in range(STREAMS)
    ]
    make_work = partial(_with_remote_engine, type(translator), [type(one) for one in _models(translator)])
    return WorkerPool(
        partial(make_work, translator.folders, task), workers, environment, answers, attrgetter("can_wait")
    )


def _in_own_stream(device: str, answer: Answer) -> Answer:
    """Returns the function such that it uses a CUDA stream of its own."""
    import torch

    stream = torch.cuda.Stream(device) if device.startswith("cuda") else None

    def answer_there(questions: Sequence[Any]) -> Sequence[Any]:
        with torch.cuda.stream(stream):
            return answer(questions)

    return answer_there


def _models(translator: TextTranslator | TextChain) -> Sequence[TextTranslator]:
    return translator.steps if isinstance(translator, TextChain) else [translator]


def searches_for_others(translator: TextTranslator | TextChain, options: Mapping[str, Any]) -> bool:
    """Whether this process would search for all workers: all models are on a GPU, and no option needs their weights in
    each process."""
    given = TranslateOptions.of(None, options)
    needs_weights = given.steer or given.rules or given.unknown != "keep"
    return not needs_weights and all(len(one.folders) == 1 and one.on_gpu for one in _models(translator))


def _engines(translator: TextTranslator | TextChain, options: TranslateOptions) -> list[Engine]:
    return [one.engine(None, options.batch_tokens, options.precision) for one in _models(translator)]


def _with_model(make_translator: MakeTranslator, task: FileTask, number: int, parent: ParentProcess) -> ChunkTranslator:
    return ChunkTranslator(make_translator(number), task, parent)


def _with_remote_engine(
    kind: type[TextTranslator] | type[TextChain],
    steps: Sequence[type[TextTranslator]],
    folders: Sequence[Path],
    task: FileTask,
    number: int,
    parent: ParentProcess,
) -> ChunkTranslator:
    models = [
        step.with_remote_engine(folder, RemoteEngine(parent.ask, i))
        for i, (step, folder) in enumerate(zip(steps, folders, strict=True))
    ]
    return ChunkTranslator(kind(models) if issubclass(kind, TextChain) else models[0], task, parent)
