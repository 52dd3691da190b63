"""The search loop: sentences enter, all rows take a step together, those that are done leave and others take their
places (continuous batching).

    B sentences in flight   b rows of each   N = B × b rows

What a step does with the model's answer is a `Live`: beam search, of which greedy search is the case b = 1
(`beam.py`), sampling (`sampling.py`), or one of the two under constraints (`bound_beam.py`, `bound_samples.py`). The
loop knows a model by its contract alone (`models/base.py`).

Sentences enter longest first, so that neighbours are of similar length and memory is largest at the beginning. None of
them sees another: the result for a request is the same whatever is in flight beside it, and in whatever order.
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
from regard.decode.alignment_heads import AlignmentHeads
from regard.decode.beam import Beams, Strategy
from regard.decode.bound_beam import BoundBeams, constrained_width
from regard.decode.bound_samples import BoundSamples
from regard.decode.constraints import Constraint
from regard.decode.diverse import DiverseBeams
from regard.decode.engine import Progress, SearchRequest
from regard.decode.goal import Goal, length_limit
from regard.decode.hypothesis import Hypothesis
from regard.decode.options import BATCH_TOKENS, Sampling, SearchOptions
from regard.decode.record import Record, Watch
from regard.decode.recorded_beam import as_recorded
from regard.decode.sampling import Samples
from regard.decode.strategy import strategy_of
from regard.errors import InputError
from regard.models.base import Model, State, Step

FULL_BATCH = 16  # rows of a sentence up to which a batch has all its tokens; wider searches get fewer sentences
LOOK_EVERY = 4  # steps between two readings of what is done, on a GPU, where each reading waits for it; at least
LOOK_SHARE = 3  # and at least one part in so many of the longest source, since long sentences take long to end
WASTE = 0.25  # steps' worth of rows computed in vain that are as dear as moving the others together
REFILL = {"cpu": 0.75, "cuda": 0.25}  # share of the places that are free when others enter (docs/engines.md)
READ_AT_ONCE = 128  # sentences that are done are turned into hypotheses in portions


class Live(Protocol):
    """The sentences in flight. A sentence that is done stays as it is until it is taken out."""

    @property
    def token(self) -> Tensor: ...  # (N,) what each row said last

    @property
    def done(self) -> Tensor: ...  # (B,)

    def advance(self, step: Step) -> Tensor | None:
        """Read a step; return the row (N,) that each row continues, None if each continues itself."""
        ...

    def keep(self, sentences: Tensor) -> Any: ...

    def join(self, other: Any) -> Any: ...

    def results(self) -> list[list[Hypothesis]]: ...


Begin = Callable[[Sequence[Goal]], Live]


@dataclass
class Capacity:
    """How many sentences are in flight: as many as fit into a number of source tokens, or into the memory of a model
    that has a fixed one (`most`), and no more than `sentences`."""

    tokens: int = BATCH_TOKENS
    sentences: int | None = None

    def places(self, longest: int, beams: int, most: int | None = None) -> int:
        fitting = self.tokens * FULL_BATCH // max(FULL_BATCH, beams) // (longest + 1)  # + EOS
        if most is not None:
            fitting = most if self.tokens == BATCH_TOKENS else min(fitting, most)
        return max(1, fitting if self.sentences is None else min(fitting, self.sentences))


@dataclass
class Flight:
    """The sentences in flight, with the model's state and the search's."""

    goals: list[Goal]
    deadlines: list[int]  # the step by which each of them is done
    state: State
    live: Live
    most: int | None = None  # sentences that the memory is for which was taken at its beginning, where that is fixed

    def join(self, other: Flight) -> Flight:
        goals, deadlines = self.goals + other.goals, self.deadlines + other.deadlines
        return Flight(goals, deadlines, self.state.join(other.state), self.live.join(other.live), self.most)

    def keep(self, places: Sequence[int]) -> Flight:
        index = sent(torch.tensor(places, dtype=torch.long), self.live.done.device)
        goals, deadlines = [self.goals[i] for i in places], [self.deadlines[i] for i in places]
        return Flight(goals, deadlines, self.state.keep(index), self.live.keep(index), self.most)


@dataclass(frozen=True)
class SearchLoop:
    """Searches with equally many rows for every sentence."""

    model: Model
    begin: Begin
    beams: int
    report: Callable[[Sequence[Goal], list[list[Hypothesis]]], None]  # called as sentences are done
    capacity: Capacity
    trace: bool = False

    @torch.inference_mode()
    def run(self, goals: Sequence[Goal]) -> None:
        waiting = deque(sorted(goals, key=lambda goal: (-len(goal.request.ids), goal.place)))
        steps, waste, every = 0, 0.0, 1
        flight, finished = self._refilled(None, waiting, steps), Finished(self.report, self.model.device)
        while flight is not None:
            step = self.model.step(flight.live.token, flight.state)
            flight.live = as_recorded(flight.live, self.model, step)
            rows = flight.live.advance(step)
            flight.state = step.state if rows is None else step.state.select(rows)
            del step  # it would hold the memory of a flight that is over
            steps += 1
            if self.model.device.type == "cuda":
                every = max(LOOK_EVERY, len(flight.goals[0].request.ids) // LOOK_SHARE)  # longest first
            due = steps >= min(flight.deadlines)
            if steps % every and not due:
                continue
            finished.read_if_many()  # while the GPU is at the steps that were launched
            done = flight.live.done.tolist()
            waste += every * sum(done) / len(done)
            if due or waste >= WASTE or all(done):
                flight, waste = self._parted(flight, done, finished), 0.0
                flight = self._refilled(flight, waiting, steps)
        finished.read()

    def _refilled(self, flight: Flight | None, waiting: deque[Goal], steps: int) -> Flight | None:
        """Waiting sentences enter where there are places. Those for which twice as many would be there in new memory,
        since all the longer ones are done, wait for the others to leave."""
        if not waiting:
            return flight
        here = [] if flight is None else flight.goals
        longest = max(len(goal.request.ids) for goal in (*here, waiting[0]))
        room = max(goal.limit for goal in (*here, waiting[0]))
        most = self.model.most_sentences(self.beams, longest + 1, room)  # + EOS
        places = self.capacity.places(longest, self.beams, most)
        if flight is not None:
            anew, places = places, self.capacity.places(longest, self.beams, flight.most)
            if anew >= 2 * places:
                return flight
        free = places - len(here)
        if flight is not None and free < max(1, REFILL.get(self.model.device.type, 0.25) * places):
            return flight
        new = [waiting.popleft() for _ in range(min(free, len(waiting)))]
        src, mask = (sent(one, self.model.device) for one in pad_sources([goal.request.ids for goal in new]))
        room = max(goal.limit for goal in new)
        state = self.model.start(self.model.encode(src, mask), self.trace, beams=self.beams, room=room)
        entering = Flight(new, [steps + goal.limit for goal in new], state, self.begin(new), most)
        return entering if flight is None else flight.join(entering)

    def _parted(self, flight: Flight, done: list[bool], finished: Finished) -> Flight | None:
        """Sentences that are done leave; None if nobody stays."""
        leaving = [place for place, is_done in enumerate(done) if is_done]
        staying = [place for place, is_done in enumerate(done) if not is_done]
        live = flight.live.keep(sent(torch.tensor(leaving, dtype=torch.long), flight.live.done.device))
        finished.add([flight.goals[place] for place in leaving], live)
        return flight.keep(staying) if staying else None


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor of the host on the device, without waiting for what the device has to do before."""
    return tensor.to(device, non_blocking=True)


@dataclass
class Finished:
    """Sentences that are done, turned into hypotheses in portions: following them back costs as much for one as for
    many. On a GPU it is done in a stream of its own, while the next steps run."""

    report: Callable[[Sequence[Goal], list[list[Hypothesis]]], None]
    device: torch.device
    goals: list[Goal] = field(default_factory=list)
    live: Live | None = None

    def __post_init__(self) -> None:
        self._stream = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

    def add(self, goals: list[Goal], live: Live) -> None:
        self.goals, self.live = self.goals + goals, live if self.live is None else self.live.join(live)
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(self.device))

    def read_if_many(self) -> None:
        if len(self.goals) >= READ_AT_ONCE:
            self.read()

    def read(self) -> None:
        if self.live is not None:
            with nullcontext() if self._stream is None else torch.cuda.stream(self._stream):
                results = self.live.results()
            self.report(self.goals, results)
        self.goals, self.live = [], None


@dataclass(frozen=True)
class Plan:
    """How sentences are searched: which `Live`, with how many rows."""

    options: SearchOptions
    samples: Sampling | None = None
    count: int = 1  # of samples
    heads: AlignmentHeads | None = None  # which attention covers the source

    @cached_property
    def strategy(self) -> Strategy:
        return strategy_of(self.options, self.heads)

    def rows(self, constraint: Constraint | None) -> int:
        if self.samples is not None:
            return self.count
        beam = self.options.beam
        return beam if constraint is None else constrained_width(beam, constraint)

    def begin(self, bound: bool, device: torch.device) -> Begin:
        strategy, options = self.strategy, self.options
        if self.samples is not None:
            kind = BoundSamples if bound else Samples
            return partial(kind.begin, strategy, self.samples, self.count, device=device)
        if bound:
            return partial(BoundBeams.begin, strategy, options.beam, options.nbest, device=device)
        if options.groups > 1:
            return partial(DiverseBeams.begin, strategy, options.beam, options.groups, options.nbest, device=device)
        return partial(Beams.begin, strategy, options.beam, options.nbest, device=device)

    def search(
        self, model: Model, requests: Sequence[SearchRequest], progress: Progress | None, capacity: Capacity
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in requests]

        def report(goals: Sequence[Goal], results: list[list[Hypothesis]]) -> None:
            for goal, some in zip(goals, results, strict=True):
                found[goal.place] = some
            if progress is not None:
                progress(len(goals))

        groups: dict[tuple[bool, int], list[Goal]] = defaultdict(list)
        for place, request in enumerate(requests):
            alike = request.constraint is not None, self.rows(request.constraint)
            groups[alike].append(Goal(place, request, length_limit(request, model.max_positions, self.options)))
        trace = self.strategy.trace
        for (bound, rows), goals in groups.items():
            SearchLoop(model, self.begin(bound, model.device), rows, report, capacity, trace).run(goals)
        return found


def search(
    model: Model,
    requests: Sequence[SearchRequest],
    options: SearchOptions,
    progress: Progress | None = None,
    capacity: Capacity | None = None,
    heads: AlignmentHeads | None = None,
) -> list[list[Hypothesis]]:
    """The n-best list of each request, in their order. Sentences with a constraint are searched apart from the others,
    those with equally many rows together."""
    plan = Plan(options, options.sampling, options.nbest, heads)
    return plan.search(model, requests, progress, capacity or Capacity())


# ── for callers that hold a batch ───────────────────────────────────────────────────────────────────────────────────


def beam_search(
    model: Model,
    src: Tensor,
    mask: Tensor,
    beam: int = 4,
    alpha: float = 0.6,
    record: list[Record] | None = None,
    constraints: Sequence[Constraint | None] | None = None,
) -> list[list[Hypothesis]]:
    """The n-best list of every source sentence, best first: src (B, S) ids with EOS, mask (B, S). A beam of 1 is greedy
    search. Each sentence's search is appended to `record`, if given: then all of them are in flight at once."""
    requests = requests_of(src, mask, constraints)
    options = SearchOptions(beam, alpha, nbest=beam)
    if record is None:
        return search(model, requests, options)
    records = [Record() for _ in requests]
    found: list[list[Hypothesis]] = []
    for request, one in zip(requests, records, strict=True):
        found.append(_recorded(model, request, options, one))
    record += records
    return found


def _recorded(model: Model, request: SearchRequest, options: SearchOptions, record: Record) -> list[Hypothesis]:
    """One sentence's search, with its record."""
    plan = Plan(options)
    begin, rows = plan.begin(request.constraint is not None, model.device), plan.rows(request.constraint)

    def watched(goals: Sequence[Goal]) -> Live:
        live = begin(goals)
        if isinstance(live, BoundBeams):
            live.beams[0].record = record
        elif isinstance(live, Beams):
            live.watch = Watch([record])
        return live

    found: list[list[Hypothesis]] = []
    goal = Goal(0, request, length_limit(request, model.max_positions))
    SearchLoop(model, watched, rows, lambda _, results: found.extend(results), Capacity()).run([goal])
    return found[0]


def greedy(model: Model, src: Tensor, mask: Tensor) -> list[Hypothesis]:
    """One hypothesis per source sentence: src (B, S) ids with EOS, mask (B, S)."""
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
    """`count` samples of every source sentence: src (B, S) ids with EOS, mask (B, S), and for each sentence its
    constraint, where there are any. Of a generator one draw is the seed, so the next call gets another."""
    if count < 1:
        raise InputError(f"the number of samples must be at least 1, but is {count}")
    if isinstance(seed, torch.Generator):
        seed = int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    plan = Plan(SearchOptions(1, 0.0), Sampling(temperature, top_k, top_p, min_p, seed), count)
    return plan.search(model, requests_of(src, mask, constraints), None, Capacity())


def requests_of(
    src: Tensor, mask: Tensor, constraints: Sequence[Constraint | None] | None = None
) -> list[SearchRequest]:
    """The sentences of a batch."""
    lengths = mask.sum(1).tolist()
    ids = [tuple(row[: length - 1]) for row, length in zip(src.tolist(), lengths, strict=True)]  # without EOS
    rules = [None] * len(ids) if constraints is None else constraints
    return [SearchRequest(one, rule) for one, rule in zip(ids, rules, strict=True)]
