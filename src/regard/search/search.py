"""The search loop with continuous batching: sentences enter, all rows take a step together, finished sentences leave
and others take their places.

    B active sentences   b rows of each   N = B × b rows

A `SearchState` processes the model's output at each step: beam search, of which greedy search is the case b = 1
(`beam.py`), sampling (`sampling.py`), or one of the two under constraints (`constrained_beam.py`). The loop uses a
model only through its contract (`models/base.py`).

Sentences enter longest first, so that neighbours are of similar length and memory is largest at the beginning. They do
not influence each other: the result for a request does not depend on the other active requests or on their order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.batch import pad_sources
from regard.errors import InputError
from regard.models.base import Model, State, Step
from regard.search.alignment_heads import AlignmentHeads
from regard.search.batch_rows import SearchItem, length_limit
from regard.search.beam import Beams, Strategy
from regard.search.constrained_beam import ConstrainedBeams, constrained_width
from regard.search.constraint_table import table_for
from regard.search.constraints import Constraint
from regard.search.cuda_graph_beam import as_cuda_graph
from regard.search.diverse import DiverseBeams
from regard.search.engine import Hypothesis, Progress, SearchRequest
from regard.search.options import BATCH_TOKENS, Sampling, SearchOptions
from regard.search.sampling import ConstrainedSamples, Samples
from regard.search.search_trace import SearchTrace, TraceRecorder
from regard.search.strategy import strategy_of

FULL_BATCH = 16  # rows per sentence up to which a batch may use all its tokens; wider searches get fewer sentences
CHECK_EVERY = 4  # minimal steps between two checks for finished sentences on a GPU, where each check synchronizes
CHECK_SHARE = 3  # and at least the longest source length divided by this, since long sentences end late
MAX_WASTE = 0.25  # steps of the whole batch wasted on finished rows that cost as much as compacting the batch
REFILL = {"cpu": 0.75, "cuda": 0.25}  # share of the places that must be free before others enter (docs/engines.md)
COLLECT_SIZE = 128  # finished sentences that are converted to hypotheses at a time


class SearchState(Protocol):
    """The active sentences. A finished sentence does not change until it is removed."""

    @property
    def token(self) -> Tensor: ...  # (N,) the last token of each row

    @property
    def done(self) -> Tensor: ...  # (B,)

    def advance(self, step: Step) -> Tensor | None:
        """Processes a model step; returns the row (N,) that each row continues, None if each continues itself."""
        ...

    def keep(self, sentences: Tensor) -> Any: ...

    def join(self, other: Any) -> Any: ...

    def results(self) -> list[list[Hypothesis]]: ...


MakeState = Callable[[Sequence[SearchItem]], SearchState]


@dataclass
class Capacity:
    """The maximal number of active sentences: as many as fit into a number of source tokens, or into the fixed memory
    of a model that has one (`most`), and no more than `sentences`."""

    tokens: int = BATCH_TOKENS
    sentences: int | None = None

    def places(self, longest: int, beams: int, most: int | None = None) -> int:
        fitting = self.tokens * FULL_BATCH // max(FULL_BATCH, beams) // (longest + 1)  # + EOS
        if most is not None:
            fitting = most if self.tokens == BATCH_TOKENS else min(fitting, most)
        return max(1, fitting if self.sentences is None else min(fitting, self.sentences))


@dataclass
class ActiveBatch:
    """The active sentences, with the states of the model and of the search."""

    items: list[SearchItem]
    deadlines: list[int]  # the step by which each of them is done
    state: State
    search: SearchState
    most: int | None = None  # sentences that fit into the memory allocated at the start, if that is fixed

    def join(self, other: ActiveBatch) -> ActiveBatch:
        items, deadlines = self.items + other.items, self.deadlines + other.deadlines
        return ActiveBatch(items, deadlines, self.state.join(other.state), self.search.join(other.search), self.most)

    def keep(self, places: Sequence[int]) -> ActiveBatch:
        index = to_device(torch.tensor(places, dtype=torch.long), self.search.done.device)
        items, deadlines = [self.items[i] for i in places], [self.deadlines[i] for i in places]
        return ActiveBatch(items, deadlines, self.state.keep(index), self.search.keep(index), self.most)


@dataclass(frozen=True)
class SearchLoop:
    """Searches with the same number of rows for every sentence."""

    model: Model
    begin: MakeState
    beams: int
    report: Callable[[Sequence[SearchItem], list[list[Hypothesis]]], None]  # called with finished sentences
    capacity: Capacity
    trace: bool = False

    @torch.inference_mode()
    def run(self, items: Sequence[SearchItem]) -> None:
        waiting = deque(sorted(items, key=lambda item: (-len(item.request.ids), item.place)))
        steps, waste, every = 0, 0.0, 1
        active, finished = self._refill(None, waiting, steps), FinishedItems(self.report, self.model.device)
        while active is not None:
            step = self.model.step(active.search.token, active.state)
            active.search = as_cuda_graph(active.search, step)
            rows = active.search.advance(step)
            active.state = step.state if rows is None else step.state.select(rows)
            del step  # it would keep the memory of a finished batch alive
            steps += 1
            if self.model.device.type == "cuda":
                every = max(CHECK_EVERY, len(active.items[0].request.ids) // CHECK_SHARE)  # longest first
            due = steps >= min(active.deadlines)
            if steps % every and not due:
                continue
            finished.read_if_many()  # while the GPU runs the launched steps
            done = active.search.done.tolist()
            stopped = [not end and item.request.is_stopped for end, item in zip(done, active.items, strict=True)]
            waste += every * sum(done) / len(done)
            if due or waste >= MAX_WASTE or all(done) or any(stopped):
                active, waste = self._remove_finished(active, done, stopped, finished), 0.0
                active = self._refill(active, waiting, steps)
        finished.read()

    def _refill(self, active: ActiveBatch | None, waiting: deque[SearchItem], steps: int) -> ActiveBatch | None:
        """Adds waiting sentences where there are places. If new memory would have places for twice as many sentences,
        since all the longer ones are done, they wait until the active ones have left."""
        while waiting and waiting[0].request.is_stopped:
            waiting.popleft()
        if not waiting:
            return active
        here = [] if active is None else active.items
        longest = max(len(item.request.ids) for item in (*here, waiting[0]))
        room = max(item.limit for item in (*here, waiting[0]))
        most = self.model.most_sentences(self.beams, longest + 1, room)  # + EOS
        places = self.capacity.places(longest, self.beams, most)
        if active is not None:
            anew, places = places, self.capacity.places(longest, self.beams, active.most)
            if anew >= 2 * places:
                return active
        free = places - len(here)
        if active is not None and free < max(1, REFILL.get(self.model.device.type, 0.25) * places):
            return active
        new: list[SearchItem] = []
        while waiting and len(new) < free:
            item = waiting.popleft()
            if not item.request.is_stopped:
                new.append(item)
        if not new:
            return active
        src, mask = (to_device(one, self.model.device) for one in pad_sources([item.request.ids for item in new]))
        room = max(item.limit for item in new)
        state = self.model.start(self.model.encode(src, mask), self.trace, beams=self.beams, room=room)
        entering = ActiveBatch(new, [steps + item.limit for item in new], state, self.begin(new), most)
        return entering if active is None else active.join(entering)

    def _remove_finished(
        self, active: ActiveBatch, done: list[bool], stopped: list[bool], finished: FinishedItems
    ) -> ActiveBatch | None:
        """Removes finished sentences, and stopped ones without a result; returns None if no sentence remains."""
        leaving = [place for place, is_done in enumerate(done) if is_done]
        staying = [place for place in range(len(done)) if not (done[place] or stopped[place])]
        if leaving:
            search = active.search.keep(to_device(torch.tensor(leaving, dtype=torch.long), active.search.done.device))
            finished.add([active.items[place] for place in leaving], search)
        return active.keep(staying) if staying else None


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copies a host tensor to the device without waiting for the device's pending work."""
    return tensor.to(device, non_blocking=True)


@dataclass
class FinishedItems:
    """Finished sentences, converted to hypotheses many at a time: tracing back costs the same for one as for many. On a
    GPU this runs in its own stream, in parallel to the next steps."""

    report: Callable[[Sequence[SearchItem], list[list[Hypothesis]]], None]
    device: torch.device
    items: list[SearchItem] = field(default_factory=list)
    search: SearchState | None = None

    def __post_init__(self) -> None:
        self._stream = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

    def add(self, items: list[SearchItem], search: SearchState) -> None:
        self.items += items
        self.search = search if self.search is None else self.search.join(search)
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(self.device))

    def read_if_many(self) -> None:
        if len(self.items) >= COLLECT_SIZE:
            self.read()

    def read(self) -> None:
        if self.search is not None:
            with nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
                results = self.search.results()
            self.report(self.items, results)
        self.items, self.search = [], None


@dataclass(frozen=True)
class Plan:
    """How sentences are searched: which `SearchState`, and how many rows."""

    options: SearchOptions
    samples: Sampling | None = None
    count: int = 1  # number of samples
    heads: AlignmentHeads | None = None  # whose attention gives the coverage

    @cached_property
    def strategy(self) -> Strategy:
        return strategy_of(self.options, self.heads)

    def rows(self, constraint: Constraint | None) -> int:
        if self.samples is not None:
            return self.count
        beam = self.options.beam
        return beam if constraint is None else constrained_width(beam, constraint)

    def begin(self, bound: bool, model: Model) -> MakeState:
        strategy, options, device = self.strategy, self.options, model.device
        table = table_for(model)  # of all sentences that enter
        if self.samples is not None:
            if bound:
                return partial(ConstrainedSamples.under, table, strategy, self.samples, self.count)
            return partial(Samples.begin, strategy, self.samples, self.count, device=device)
        if bound:
            return partial(ConstrainedBeams.under, table, strategy, options.beam, options.nbest)
        if options.groups > 1:
            return partial(DiverseBeams.begin, strategy, options.beam, options.groups, options.nbest, device=device)
        return partial(Beams.begin, strategy, options.beam, options.nbest, device=device)

    def search(
        self, model: Model, requests: Sequence[SearchRequest], progress: Progress | None, capacity: Capacity
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in requests]

        def report(items: Sequence[SearchItem], results: list[list[Hypothesis]]) -> None:
            for item, some in zip(items, results, strict=True):
                found[item.place] = some
            if progress is not None:
                progress(len(items))

        groups: dict[tuple[bool, int], list[SearchItem]] = defaultdict(list)
        for place, request in enumerate(requests):
            alike = request.constraint is not None, self.rows(request.constraint)
            groups[alike].append(SearchItem(place, request, length_limit(request, model.max_positions, self.options)))
        trace = self.strategy.trace
        for (bound, rows), items in groups.items():
            SearchLoop(model, self.begin(bound, model), rows, report, capacity, trace).run(items)
        return found


def search(
    model: Model,
    requests: Sequence[SearchRequest],
    options: SearchOptions,
    progress: Progress | None = None,
    capacity: Capacity | None = None,
    heads: AlignmentHeads | None = None,
) -> list[list[Hypothesis]]:
    """Returns the n-best list of each request, in the order of the requests. Sentences with a constraint are searched
    separately, grouped by their number of rows."""
    plan = Plan(options, options.sampling, options.nbest, heads)
    return plan.search(model, requests, progress, capacity or Capacity())


# ── for callers that have a batch ───────────────────────────────────────────────────────────────────────────────────


def beam_search(
    model: Model,
    src: Tensor,
    mask: Tensor,
    beam: int = 4,
    alpha: float = 0.6,
    record: list[SearchTrace] | None = None,
    constraints: Sequence[Constraint | None] | None = None,
) -> list[list[Hypothesis]]:
    """Returns the n-best list of every source sentence, best first: src (B, S) ids with EOS, mask (B, S). A beam of 1
    is greedy search. If `record` is given, each sentence is searched alone, and its trace is appended to it."""
    requests = requests_of(src, mask, constraints)
    options = SearchOptions(beam, alpha, nbest=beam)
    if record is None:
        return search(model, requests, options)
    records = [SearchTrace() for _ in requests]
    found: list[list[Hypothesis]] = []
    for request, one in zip(requests, records, strict=True):
        found.append(_recorded(model, request, options, one))
    record += records
    return found


def _recorded(model: Model, request: SearchRequest, options: SearchOptions, record: SearchTrace) -> list[Hypothesis]:
    """Searches for one sentence and records its trace."""
    plan = Plan(options)
    begin, rows = plan.begin(request.constraint is not None, model), plan.rows(request.constraint)

    def watched(items: Sequence[SearchItem]) -> SearchState:
        search = begin(items)
        if isinstance(search, Beams):
            search.watch = TraceRecorder([record])
        return search

    found: list[list[Hypothesis]] = []
    item = SearchItem(0, request, length_limit(request, model.max_positions))
    SearchLoop(model, watched, rows, lambda _, results: found.extend(results), Capacity()).run([item])
    return found[0]


def greedy(model: Model, src: Tensor, mask: Tensor) -> list[Hypothesis]:
    """Returns one hypothesis per source sentence: src (B, S) ids with EOS, mask (B, S)."""
    return [best for (best,) in beam_search(model, src, mask, beam=1)]


def sample(
    model: Model,
    src: Tensor,
    mask: Tensor,
    count: int = 1,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
    seed: int | torch.Generator = 0,
    constraints: Sequence[Constraint] | None = None,
) -> list[list[Hypothesis]]:
    """Returns `count` samples of every source sentence: src (B, S) ids with EOS, mask (B, S), and the sentences'
    constraints, if any. From a generator, a seed is drawn, so that the next call gets another one."""
    if count < 1:
        raise InputError(f"the number of samples must be at least 1, but is {count}")
    if isinstance(seed, torch.Generator):
        seed = int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    plan = Plan(SearchOptions(1, 0.0), Sampling(temperature, top_k, top_p, min_p, seed), count)
    return plan.search(model, requests_of(src, mask, constraints), None, Capacity())


def requests_of(
    src: Tensor, mask: Tensor, constraints: Sequence[Constraint | None] | None = None
) -> list[SearchRequest]:
    """Returns the sentences of a batch as search requests."""
    lengths = mask.sum(1).tolist()
    ids = [tuple(row[: length - 1]) for row, length in zip(src.tolist(), lengths, strict=True)]  # without EOS
    rules = [None] * len(ids) if constraints is None else constraints
    return [SearchRequest(one, rule) for one, rule in zip(ids, rules, strict=True)]
