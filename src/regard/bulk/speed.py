"""How fast a translator is, text to text, where its time goes, and how that compares with its engine alone.

    all checks    the call of `translate` that a user makes
    no checks     without protection, input correction and guard
    engine        the search alone: the ids of the same units, without constraints, attention and text

The three alternate, and the fastest of several repetitions counts. CPU time is that of this process and of its workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from regard.bulk.chunks import ChunkResult, FileChunk, FileTask, chunk_size, line_chunks
from regard.bulk.translator_pool import MakeTranslator, searches_for_others, worker_pool
from regard.report.table import Table
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.translation.job import TranslationJob, next_step
from regard.translation.options import CHUNK
from regard.workers import WorkerPool

if TYPE_CHECKING:
    from regard.search.engine import Engine, Hypothesis
    from regard.translation.translation import Translation
    from regard.translation.translator import TextTranslator

WITHOUT_CHECKS = {"protect": False, "mend": False, "guard": False, "phrases": False}
# Translated before anything is measured, so that the engine has allocated memory and, on a GPU, recorded its kernels.
WARM_UP, GPU_WARM_UP = slice(200), slice(2000)
EVERYTHING = slice(None)
ALL, NONE, ENGINE = "all checks", "no checks", "engine"
# Translates a part of the lines; returns the number of sentences, and the CPU seconds of other processes.
Run = Callable[[slice], tuple[int, float]]


@dataclass
class Speed:
    """The fastest of several repetitions."""

    sentences: int
    words: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.sentences / self.seconds


@dataclass
class SpeedReport:
    lines: int
    words: int  # of the sources, separated by spaces
    translator: str
    engine: str
    beam: int
    workers: int
    speeds: dict[str, Speed]
    stages: dict[str, float] = field(default_factory=dict)  # seconds of one call with all checks, without workers

    def ratio(self, name: str) -> float:
        """The sentences per second with all checks relative to another speed."""
        return self.speeds[ALL].per_second / self.speeds[name].per_second

    def to_dict(self) -> dict[str, Any]:
        rates = {name: asdict(one) | {"sentences_per_second": one.per_second} for name, one in self.speeds.items()}
        ratios = {name: self.ratio(name) for name in self.speeds if name != ALL}
        return asdict(self) | {"speeds": rates, "ratios": ratios}

    def __str__(self) -> str:
        head = f"{self.lines:,} lines, {self.words:,} words; {self.translator}; {self.engine}; beam {self.beam}"
        head += f", {self.workers} workers" if self.workers > 1 else ""
        rows = [
            [
                name,
                f"{one.per_second:,.0f}",
                f"{one.words / one.seconds:,.0f}",
                f"{1000 * one.cpu_seconds / one.sentences:.2f}",
                "" if name == ALL else f"{self.ratio(name):.2f}",
            ]
            for name, one in self.speeds.items()
        ]
        text = Table(["", "sentences/s", "words/s", "CPU ms/sentence", "all checks relative to it"], rows).text()
        if not self.stages:
            return f"{head}\n\n{text}"
        total = sum(self.stages.values())
        shares = [[name, f"{one:.2f}", f"{one / total:.0%}"] for name, one in self.stages.items()]
        return f"{head}\n\n{text}\n\n{Table(['all checks', 'seconds', 'share'], shares).text()}"


def measure_speed(
    translator: TextTranslator,
    lines: Sequence[str],
    options: dict[str, Any],
    workers: int = 1,
    repeat: int = 3,
    make_worker: MakeTranslator | None = None,
    compared: bool = True,
) -> SpeedReport:
    """Measures the translation of lines with options of `translate`, by one process or by several; `compared` with
    that without checks and with the engine."""
    words = sum(len(line.split()) for line in lines)
    search = _search_options(translator, options)
    found = SpeedReport(len(lines), words, repr(translator), translator.engine_name, search.beam, workers, {})
    runs: dict[str, Run] = {}
    if compared:
        requests = [SearchRequest(unit.ids) for unit in _units(translator, lines, options) if unit.ids]
        runs[ENGINE] = partial(_search, translator.engine(), search, requests)
    pools: list[WorkerPool[FileChunk, ChunkResult]] = []
    for name, changed in ((ALL, options), (NONE, options | WITHOUT_CHECKS))[: 2 if compared else 1]:
        if workers > 1 and make_worker is not None:
            task = FileTask("the file", {"split": "sentences", **changed})
            pools.append(worker_pool(translator, task, workers, make_worker))
            on_gpu = searches_for_others(translator, task.options)
            runs[name] = partial(
                _translate_in_pool, pools[-1], partial(chunk_size, workers=workers, on_gpu=on_gpu), lines
            )
        else:
            runs[name] = partial(_translate, translator, changed, lines)
    try:
        for run in runs.values():
            run(GPU_WARM_UP if translator.on_gpu else WARM_UP)
        for _ in range(repeat):
            for name, run in runs.items():
                speed = _timed(run, words)
                if name not in found.speeds or speed.seconds < found.speeds[name].seconds:
                    found.speeds[name] = speed
    finally:
        for pool in pools:
            pool.close()
    found.speeds = {name: found.speeds[name] for name in (ALL, NONE, ENGINE) if name in runs}
    if workers == 1:
        found.stages = stage_seconds(translator, lines, options)
    return found


def _timed(run: Run, words: int) -> Speed:
    began, cpu = time.perf_counter(), time.process_time()
    sentences, elsewhere = run(EVERYTHING)
    return Speed(sentences, words, time.perf_counter() - began, time.process_time() - cpu + elsewhere)


# ── what is timed ────────────────────────────────────────────────────────────────────────────────────────────────────


def _search(
    engine: Engine, options: SearchOptions, requests: Sequence[SearchRequest], part: slice
) -> tuple[int, float]:
    return len(engine.search(requests[part], options)), 0.0


def _translate(
    translator: TextTranslator, options: dict[str, Any], lines: Sequence[str], part: slice
) -> tuple[int, float]:
    return sum(len(one.sentences) for one in translator.translate(lines[part], **options)), 0.0


def _translate_in_pool(
    pool: WorkerPool[FileChunk, ChunkResult], lines_of_chunk: Callable[[int], int], lines: Sequence[str], part: slice
) -> tuple[int, float]:
    data = [(line + "\n").encode() for line in lines[part]]
    before = pool.cpu_seconds()
    chunks = line_chunks(data, max_lines=lines_of_chunk(len(data)))
    sentences = sum(result.tally.sentences for _, result in pool.results(chunks))
    return sentences, pool.cpu_seconds() - before


def _search_options(translator: TextTranslator, options: dict[str, Any]) -> SearchOptions:
    (part,) = translator.job(["a"], **options).parts
    return part.pipeline.search


def _units(translator: TextTranslator, lines: Sequence[str], options: dict[str, Any]) -> list[Any]:
    return [unit for part in translator.job(lines, **options).parts for unit in part.units]


# ── stages ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def stage_seconds(translator: TextTranslator, lines: Sequence[str], options: dict[str, Any]) -> dict[str, float]:
    """Returns the seconds that each stage of a call of `translate` takes, in order."""
    clock = Clock()
    steps = translator.job(lines, **options).steps()
    step = clock.timed("preparation", next_step, steps)
    while isinstance(step, TranslationJob):
        translations = _run(step, clock)
        step = clock.timed("preparation", next_step, steps, translations)
    return clock.seconds


def _run(job: TranslationJob, clock: Clock) -> list[Translation]:
    for part in job.parts:
        while some := clock.timed("preparation", lambda: list(islice(part.units, CHUNK))):  # noqa: B023 - called here
            engine = TimedEngine(part.pipeline.engine, clock)
            results = clock.timed("checks", replace(part.pipeline, engine=engine).results, some)
            clock.timed("assembly", job.add, some, results)
    found: list[Translation] = clock.timed("assembly", job.translations)
    return found


@dataclass
class Clock:
    """Seconds by stage; those of a stage within another count only for the inner one."""

    seconds: dict[str, float] = field(default_factory=dict)
    _inner: float = 0.0  # seconds of stages within the current one

    def timed(self, name: str, run: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self.seconds.setdefault(name, 0.0)
        outer, self._inner = self._inner, 0.0
        began = time.perf_counter()
        try:
            return run(*given, **named)
        finally:
            passed = time.perf_counter() - began
            self.seconds[name] += passed - self._inner
            self._inner = outer + passed


@dataclass(frozen=True)
class TimedEngine:
    """An engine whose first search, further searches and scores are timed separately."""

    engine: Engine
    clock: Clock
    _searched: list[int] = field(default_factory=list)

    def search(self, *given: Any) -> list[list[Hypothesis]]:
        name = "further searches" if self._searched else "first search"
        self._searched.append(1)
        found: list[list[Hypothesis]] = self.clock.timed(name, self.engine.search, *given)
        return found

    def search_in_context(self, *given: Any) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = self.clock.timed("further searches", self.engine.search_in_context, *given)
        return found

    def attention(self, *given: Any) -> Any:
        return self.clock.timed("attention and scores", self.engine.attention, *given)

    def log_probs(self, *given: Any) -> Any:
        return self.clock.timed("attention and scores", self.engine.log_probs, *given)

    def next_log_probs(self, *given: Any) -> Any:
        return self.clock.timed("attention and scores", self.engine.next_log_probs, *given)

    def branches(self, *given: Any) -> Any:
        return self.clock.timed("further searches", self.engine.branches, *given)

    def continued(self, *given: Any) -> Any:
        return self.clock.timed("further searches", self.engine.continued, *given)
