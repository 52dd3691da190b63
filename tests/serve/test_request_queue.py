"""Whose turn it is, and how many units each request gives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from regard.serve.batcher import MAX_UNITS, take_shares
from regard.serve.request_queue import QueuedRequest, RequestQueue
from regard.translation.job import JobPart


class FakeJob:
    """Units of given lengths, under given keys; results are kept as they are added."""

    def __init__(self, *parts: tuple[str, Sequence[int]]) -> None:
        self.made = 0
        self.parts = [JobPart(key, None, self._units(lengths)) for key, lengths in parts]  # type: ignore[arg-type]
        self.found: list[Any] = []

    def _units(self, lengths: Sequence[int]) -> Iterator[Any]:
        for length in lengths:
            self.made += 1
            yield SimpleNamespace(prepared=SimpleNamespace(source="x" * length))

    def add(self, units: Sequence[Any], results: Sequence[Any]) -> None:
        self.found += results

    def translations(self) -> list[Any]:
        return self.found


class Caller:
    """An event loop and a future in one: it keeps the answers."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    def call_soon_threadsafe(self, call: Any, future: Any, answer: Any) -> None:
        self.answers.append(answer)


def queued_request(*parts: tuple[str, Sequence[int]], client: str = "one") -> QueuedRequest:
    job: Any = FakeJob(*parts)
    caller: Any = Caller()
    characters = sum(sum(lengths) for _, lengths in parts)
    return QueuedRequest(job, characters, math.inf, loop=caller, done=caller, client=client)


def answers(request: QueuedRequest) -> list[Any]:
    caller: Any = request.loop
    found: list[Any] = caller.answers
    return found


@given(st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=30), min_size=1, max_size=70), st.integers(1, 4000))
def test_a_batch_takes_of_each_before_it_takes_more_of_one(requests: list[list[int]], room: int) -> None:
    chosen = [queued_request(("same", lengths)) for lengths in requests]
    batch = take_shares(chosen, room)
    assert 0 < sum(len(portion.units) for portion in batch) <= MAX_UNITS
    assert sum(portion.characters for portion in batch) <= room + 300 * len(chosen)
    first = [portion.request for portion in batch][: len(chosen)]
    assert first == chosen[: len(first)]


def test_a_short_request_is_whole_in_the_first_batch_beside_many_long_ones() -> None:
    short = queued_request(("same", [40]))
    take_shares([*(queued_request(("same", [40] * 500)) for _ in range(40)), short], 4000)
    assert short.part is None


def test_the_end_is_seen_with_the_last_unit() -> None:
    request = queued_request(("same", [10, 10]))
    portion = request.take(2, 1000)
    assert portion is not None
    portion.results = ["a", "b"]  # type: ignore[list-item]
    request.add(portion)
    request.finish_if_done()
    assert answers(request) == [["a", "b"]]


def test_portions_done_in_any_order_make_one_answer_in_order() -> None:
    request = queued_request(("same", [10] * 3), ("other", [10]))
    portions = [portion for _ in range(4) if (portion := request.take(1, 1000))]
    for portion in reversed(portions):
        request.finish_if_done()
        assert not answers(request)
        portion.results = [portion.number]  # type: ignore[list-item]
        request.add(portion)
    request.finish_if_done()
    request.finish_if_done()
    assert answers(request) == [[0, 1, 2, 3]]


def test_units_are_made_when_they_are_taken() -> None:
    request = queued_request(("same", [10] * 500))
    job: Any = request.job
    assert job.made == 0
    request.take(5, 1000)
    assert job.made == 6


def test_the_key_that_has_waited_longest_is_next() -> None:
    queue = RequestQueue()
    some = [queued_request((key, [10])) for key in "abacb"]
    for request in some:
        queue.append(request)
    found = [[one for one, _ in queue.pop_compatible(64, 4000, 100)] for _ in range(3)]
    assert found == [[some[0], some[2]], [some[1], some[4]], [some[3]]]
    assert len(queue) == 0


def test_who_is_put_back_keeps_the_turn_and_who_left_has_none() -> None:
    queue = RequestQueue()
    some = [queued_request(("same", [10])) for _ in range(5)]
    for request in some:
        queue.append(request)
    taken = queue.pop_compatible(3, 4000, 100)
    queue.put_back(taken[1:])
    queue.append(taken[0][0])
    queue.discard(some[3])
    queue.discard(some[3])
    assert [one for one, _ in queue.pop_compatible(64, 4000, 100)] == [some[1], some[2], some[4], some[0]]


def test_turns_alternate_between_clients_however_many_requests_one_has() -> None:
    queue = RequestQueue()
    many = [queued_request((f"key {i}", [10]), client="many") for i in range(6)]
    for request in many:
        queue.append(request)
    few = [queued_request(("few", [10]), client="few"), queued_request(("few 2", [10]), client="few")]
    for request in few:
        queue.append(request)
    order = [queue.pop_compatible(1, 4000, 100)[0][0] for _ in range(8)]
    assert order == [many[0], few[0], many[1], few[1], *many[2:]]


def test_a_client_that_comes_later_does_not_catch_up_on_past_turns() -> None:
    queue = RequestQueue()
    first = [queued_request((f"key {i}", [10]), client="first") for i in range(6)]
    for request in first:
        queue.append(request)
    for _ in range(3):
        queue.pop_compatible(1, 4000, 100)
    late = [queued_request((f"late {i}", [10]), client="late") for i in range(2)]
    for request in late:
        queue.append(request)
    order = [queue.pop_compatible(1, 4000, 100)[0][0] for _ in range(5)]
    assert order == [first[3], late[0], first[4], late[1], first[5]]
