"""Limits: never more than allowed in any minute or period, whichever processes ask, and the right time to wait."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.serve.state.limits import MINUTE, Limiter, period_of
from regard.serve.state.store import Store


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[tuple[Limiter, Limiter]]:
    """The limiters of two processes on one store."""
    folder = tmp_path_factory.mktemp("limits")
    with Store(folder, clock) as one, Store(folder, clock) as other:
        yield Limiter(one), Limiter(other)


SUBJECTS = count()

# The next request: seconds after the one before, and the process that gets it.
requests = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 7.0, 29.0, 59.5, 60.0, 200.0]), st.integers(0, 1)), max_size=25
)


@settings(max_examples=30)
@given(requests, st.integers(1, 4))
def test_never_more_than_n_in_any_minute(
    two: tuple[Limiter, Limiter], clock: Clock, arrivals: list[tuple[float, int]], per_minute: int
) -> None:
    """And nothing is refused that would be within the limit."""
    subject, allowed = f"key:{next(SUBJECTS)}", list[float]()
    for later, process in arrivals:
        clock.time += later
        wait = two[process].request(subject, per_minute)
        recent = [at for at in allowed if at > clock.time - MINUTE]
        assert (wait is None) == (len(recent) < per_minute)
        if wait is None:
            allowed.append(clock.time)
        else:
            assert wait - 1 < recent[0] + MINUTE - clock.time <= wait
    for start in allowed:
        assert sum(start <= at < start + MINUTE for at in allowed) <= per_minute


def test_after_the_time_to_wait_it_is_allowed(two: tuple[Limiter, Limiter], clock: Clock) -> None:
    limiter = two[0]
    for _ in range(5):
        assert limiter.request("key:waits", 5) is None
        clock.time += 1
    # The limit was lowered: four requests must be a minute ago.
    assert limiter.request("key:waits", 2) == 58
    clock.time += 58
    assert limiter.request("key:waits", 2) is None
    assert limiter.request("key:waits", 2) is not None


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 1), st.sampled_from([0.0, 3600.0, 90_000.0])), max_size=20),
    st.sampled_from(["day", "month"]),
)
def test_never_more_characters_than_allowed_in_a_period(
    two: tuple[Limiter, Limiter], clock: Clock, charged: list[tuple[int, int, float]], period: str
) -> None:
    subject, used = f"key:{next(SUBJECTS)}", dict[str, int]()
    for characters, process, later in charged:
        clock.time += later
        name, ends = period_of(clock.time, period)  # type: ignore[arg-type]
        wait = two[process].charge(subject, characters, 100, period)  # type: ignore[arg-type]
        assert (wait is None) == (used.get(name, 0) + characters <= 100)
        if wait is None:
            used[name] = used.get(name, 0) + characters
        else:
            assert wait - 1 < ends - clock.time <= wait
        assert two[1 - process].usage(subject, period) == used.get(name, 0)  # type: ignore[arg-type]


STEPS = [-3600.0, -86400.0, 3600.0, 86400.0]


@pytest.mark.parametrize("step", STEPS)
def test_a_clock_that_is_set_makes_nobody_wait_longer_than_a_minute(
    two: tuple[Limiter, Limiter], clock: Clock, step: float
) -> None:
    for _ in range(3):
        assert two[0].request(f"key:step {step}", 3) is None
    clock.time += step
    wait = two[1].request(f"key:step {step}", 3)
    assert wait == (60 if step < 0 else None)
    clock.time += wait or 0
    assert two[1].request(f"key:step {step}", 3) is None
    clock.time += abs(step)


@pytest.mark.parametrize("step", STEPS)
def test_requests_of_the_future_are_removed_after_a_minute(
    two: tuple[Limiter, Limiter], clock: Clock, step: float
) -> None:
    two[0].request("address:192.0.2.7", 5)
    clock.time += step
    for later in (0, MINUTE):
        clock.time += later
        two[0].clean()
    with two[0].store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM hits").fetchone()[0] == 0
    clock.time += abs(step)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("subject", ["key:", "address:192.0.2."])
def test_a_clock_that_is_set_and_corrected_loses_no_count(
    two: tuple[Limiter, Limiter], clock: Clock, step: float, subject: str
) -> None:
    subject = f"{subject}{STEPS.index(step)}"
    assert two[0].charge(subject, 70, 100, "day") is None
    clock.time += step
    two[0].clean()
    wait = two[1].charge(subject, 60, 100, "day")
    assert wait is None or wait <= 86400
    clock.time -= step
    two[0].clean()
    assert two[1].usage(subject, "day") >= 70
    assert two[1].charge(subject, 60, 100, "day") is not None
    clock.time += 86400


def test_a_refund_is_for_the_period_of_the_charge(two: tuple[Limiter, Limiter], clock: Clock) -> None:
    then = clock.time
    assert two[0].charge("key:late", 70, 100, "day") is None
    clock.time += 86400
    assert two[0].charge("key:late", 50, 100, "day") is None
    two[0].refund("key:late", 70, "day", then)
    assert two[0].usage("key:late", "day") == 50


def test_what_was_not_translated_is_counted_off(two: tuple[Limiter, Limiter]) -> None:
    limiter = two[0]
    assert limiter.charge("key:back", 70, 100) is None
    limiter.refund("key:back", 30)
    assert limiter.usage("key:back") == 40
    assert limiter.charge("key:back", 60, 100) is None
    limiter.refund("key:back", 1000)
    assert limiter.usage("key:back") == 0
    assert limiter.charge("key:back", 10**9, None) is None  # counted without a limit


def test_subjects_do_not_share(two: tuple[Limiter, Limiter]) -> None:
    assert two[0].request("address:192.0.2.1", 1) is None
    assert two[0].request("address:192.0.2.2", 1) is None
    assert two[1].request("address:192.0.2.1", 1) is not None


def test_what_no_decision_needs_is_removed(two: tuple[Limiter, Limiter], clock: Clock) -> None:
    limiter = two[0]
    limiter.request("address:192.0.2.9", 5)
    limiter.charge("address:192.0.2.9", 5, None, "day")
    limiter.charge("key:kept", 5, None, "day")
    clock.time += 400 * 86400
    limiter.clean()
    with limiter.store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM hits").fetchone()[0] == 0
        left = {row["subject"] for row in connection.execute("SELECT subject FROM used")}
    assert "key:kept" in left
    assert not any(subject.startswith("address:") for subject in left)
