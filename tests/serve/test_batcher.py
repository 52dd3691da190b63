"""What many requests get is what each would get alone, whatever comes beside it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import regard
from regard.serve.batcher import MAX_UNITS, BatchDone, Batcher
from regard.serve.errors import ServeError
from regard.serve.slow_lane import SlowLane
from regard.translation.job import TranslationJob
from regard.translation.pipeline import Pipeline
from regard.translator import Translator

SHORT = ["The cat is black.", "Thank you all!", "I see the dog.", "She sleeps.", "The house is big."]
LONG = " ".join(SHORT * 40)
SOON = 60.0


@pytest.fixture(scope="module")
def translator() -> Translator:
    return regard.load("en-fr-classic", device="cpu", engine="native")


@pytest.fixture
def batches() -> list[BatchDone]:
    return []


@pytest.fixture
def batcher(batches: list[BatchDone]) -> Iterator[Batcher]:
    made = Batcher("test", 2, 100_000, batches.append)
    yield made
    made.close()


async def ask(batcher: Batcher, translator: Translator, text: str, **options: Any) -> str:
    job = translator.job([text], beam=1, **options)
    (found,) = await batcher.translate(job, len(text), time.monotonic() + SOON)
    return found.text


def test_requests_that_come_together_share_batches_and_get_their_own_answers(
    batcher: Batcher, batches: list[BatchDone], translator: Translator
) -> None:
    texts = [f"{text} {other}" for text in SHORT for other in SHORT] + ["", "  ", LONG]

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(ask(batcher, translator, text) for text in texts))

    found = asyncio.run(all_at_once())
    assert found == [one.text for one in translator.translate(texts, beam=1)]
    assert max(batch.requests for batch in batches) > 5
    assert all(batch.units <= MAX_UNITS for batch in batches)


def test_a_short_request_overtakes_a_long_one(batcher: Batcher, translator: Translator) -> None:
    done: list[str] = []

    async def one(name: str, text: str) -> None:
        await ask(batcher, translator, text)
        done.append(name)

    async def both() -> None:
        long = asyncio.create_task(one("long", LONG * 2))
        await asyncio.sleep(0.05)
        await asyncio.gather(long, one("short", SHORT[0]))

    asyncio.run(both())
    assert done == ["short", "long"]


def test_other_options_go_into_other_batches(batcher: Batcher, translator: Translator) -> None:
    async def both() -> list[str]:
        plain = ask(batcher, translator, "I paid 3.50 euros.")
        local = ask(batcher, translator, "I paid 3.50 euros.", localize=True)
        return await asyncio.gather(plain, local)

    plain, local = asyncio.run(both())
    assert ("3.50" in plain, "3,50" in local) == (True, True)


def test_what_was_cancelled_is_not_translated(batcher: Batcher, translator: Translator) -> None:
    async def leave() -> None:
        task = asyncio.create_task(ask(batcher, translator, LONG * 5))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert (batcher._requests, batcher._characters) == (0, 0)


def test_a_full_queue_says_when_to_come_again(batcher: Batcher, translator: Translator) -> None:
    async def too_much() -> ServeError:
        first = asyncio.create_task(ask(batcher, translator, LONG))
        await asyncio.sleep(0)
        job = translator.job(["x"])
        with pytest.raises(ServeError) as caught:
            await batcher.translate(job, 100_000, time.monotonic() + SOON)
        first.cancel()
        return caught.value

    problem = asyncio.run(too_much())
    assert problem.status == 503
    assert int(problem.headers["Retry-After"]) >= 1


def test_a_deadline_ends_the_waiting(batcher: Batcher, translator: Translator) -> None:
    async def late() -> None:
        job = translator.job([LONG * 5], beam=1)
        with pytest.raises(ServeError, match="longer than the server allows"):
            await batcher.translate(job, 10, time.monotonic() + 0.2)

    asyncio.run(late())
    assert batcher._characters == 0


def test_a_fault_is_told_to_its_own_request_alone(
    batcher: Batcher, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, begin = Pipeline.results, threading.Event()

    def break_on_dog(self: Pipeline, units: Any, progress: Any = None) -> Any:
        begin.wait(SOON)  # so that all requests are in one batch or two
        if any("dog" in unit.prepared.source for unit in units):
            raise RuntimeError("the dog")
        return results(self, units, progress)

    monkeypatch.setattr(Pipeline, "results", break_on_dog)

    async def all_at_once() -> list[str | BaseException]:
        asked = [asyncio.create_task(ask(batcher, translator, text)) for text in SHORT]
        await asyncio.sleep(0.05)
        begin.set()
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(all_at_once())
    assert [isinstance(one, RuntimeError) for one in found] == ["dog" in text for text in SHORT]


def test_what_cannot_be_done_in_time_is_refused_at_once(batcher: Batcher, translator: Translator) -> None:
    batcher._speed = 100.0  # characters a second

    async def ask_beside_a_long_one(characters: int, seconds: float) -> None:
        long = asyncio.create_task(ask(batcher, translator, LONG))
        await asyncio.sleep(0)
        try:
            await batcher.translate(translator.job(["I see."], beam=1), characters, time.monotonic() + seconds)
        finally:
            long.cancel()

    with pytest.raises(ServeError) as caught:
        asyncio.run(ask_beside_a_long_one(2000, 20.0))  # which also waits for 2,000 characters of the other
    assert (caught.value.status, caught.value.reason) == (503, "busy")
    assert int(caught.value.headers["Retry-After"]) >= 1
    asyncio.run(ask_beside_a_long_one(6, 20.0))


def test_a_fault_in_putting_a_text_together_does_not_end_the_thread(
    batcher: Batcher, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TranslationJob, "add", lambda *given: 1 / 0)
        for _ in range(3):  # more than there are threads
            with pytest.raises(ZeroDivisionError):
                asyncio.run(ask(batcher, translator, SHORT[0]))
        patch.setattr(TranslationJob, "translations", lambda *given: 1 / 0)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                asyncio.run(ask(batcher, translator, SHORT[0]))
    assert asyncio.run(ask(batcher, translator, SHORT[0])) == "Le chat est noir."


def test_units_that_exceed_the_slice_are_finished_in_the_slow_lane(
    batcher: Batcher, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With slices of no length every search is abandoned in its batch; all results come from the slow lane."""
    monkeypatch.setattr("regard.serve.batcher.SLICE_SECONDS", 0.0)
    names: list[str] = []
    results = Pipeline.results

    def record(self: Pipeline, units: Any, progress: Any = None) -> Any:
        names.append(threading.current_thread().name)
        return results(self, units, progress)

    monkeypatch.setattr(Pipeline, "results", record)

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(ask(batcher, translator, text) for text in SHORT))

    assert asyncio.run(all_at_once()) == [one.text for one in translator.translate(SHORT, beam=1)]
    assert names.count("test-slow") >= len(SHORT)


def test_a_search_ends_with_its_request_and_closing_does_not_wait_for_it(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that would go on forever unless it is stopped: a short request passes it, and the threads end."""
    monkeypatch.setattr("regard.serve.batcher.SLICE_SECONDS", 0.2)
    results = Pipeline.results
    ended = threading.Event()

    def endless(self: Pipeline, units: Any, progress: Any = None) -> Any:
        if any("dog" in unit.prepared.source for unit in units):
            while not all(unit.stop.check() for unit in units):
                time.sleep(0.01)
            ended.set()
        return results(self, units, progress)

    monkeypatch.setattr(Pipeline, "results", endless)
    batcher = Batcher("test", 1, 100_000)

    async def both() -> str:
        hostile = asyncio.create_task(ask(batcher, translator, "I see the dog."))
        await asyncio.sleep(0.05)
        answer = await ask(batcher, translator, SHORT[0])
        assert not hostile.done()
        ended.clear()
        hostile.cancel()
        return answer

    assert asyncio.run(both()) == "Le chat est noir."
    assert ended.wait(SOON)
    batcher.close()
    assert not any(thread.is_alive() for thread in batcher._threads)


def test_an_endless_search_in_the_slow_lane_gives_way_to_others_there(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short text that shared a batch with a long search, and exceeded its slice with it, is not stuck behind it."""
    monkeypatch.setattr("regard.serve.batcher.SLICE_SECONDS", 0.0)  # everything is for the slow lane
    monkeypatch.setattr("regard.serve.request_queue.SLOW_SECONDS", 0.05)
    results, begun = Pipeline.results, threading.Event()

    def endless(self: Pipeline, units: Any, progress: Any = None) -> Any:
        if any("dog" in unit.prepared.source and unit.stop.fallback for unit in units):
            begun.set()
            while not all(unit.stop.check() for unit in units):
                time.sleep(0.01)
        return results(self, units, progress)

    monkeypatch.setattr(Pipeline, "results", endless)
    batcher = Batcher("test", 1, 100_000)

    async def both() -> str:
        hostile = asyncio.create_task(ask(batcher, translator, "I see the dog."))
        assert await asyncio.to_thread(begun.wait, SOON)
        answer = await ask(batcher, translator, SHORT[0])
        assert not hostile.done()
        hostile.cancel()
        return answer

    assert asyncio.run(both()) == "Le chat est noir."
    batcher.close()


def test_a_slow_search_pauses_while_a_fast_one_runs_but_not_forever() -> None:
    lane, passed = SlowLane(), threading.Event()

    def step() -> None:
        lane.pause()
        passed.set()

    with lane.slow_search():
        lane.pause()  # nothing else is running
        with lane.fast_search():
            time.sleep(0.05)
            waiting = threading.Thread(target=step)
            waiting.start()
            assert not passed.wait(0.05)  # it worked for 0.05 s, so it waits for 0.2 s
            assert passed.wait(SOON)
            waiting.join()
            passed.clear()
            lane._resumed -= SOON  # as if it had worked long
            threading.Thread(target=step).start()
            assert not passed.wait(0.05)
        assert passed.wait(SOON)  # the fast search has ended
