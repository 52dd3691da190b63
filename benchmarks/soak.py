"""A server with good and hostile clients for a long time: does every good client get its own answer, soon enough?

make test-soak                    thirty minutes
make test-soak MINUTES=2          python benchmarks/soak.py --minutes 2 --flags='--workers 2'

200 good clients send sentences, paragraphs and documents in six directions, through the interfaces of LibreTranslate
and of DeepL, and think between requests so that they use LOAD of the speed measured at the start. Every answer is
compared with that of `regard.load(MODEL).translate`, so that a swapped one is noticed. A refusal (429 or 503 with
Retry-After) is tried again after that time; a request that is not answered with 200 in the end is lost. Ten more
clients are hostile, each in one way after another (`Attacks` in soak_traffic.py).

A line is printed every minute. At the end the server gets SIGTERM under load. The exit code is 1 if a criterion below
is not met. Times are those of a client, from the first attempt to the answer, with the waiting before further attempts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import tempfile
import time

import httpx
from serve_load import start, usage
from soak_traffic import GOOD, Question, Seen, Traffic, questions_of

# Criteria
MOST_SWAPPED = 0
MOST_LOST = 0
MOST_P50 = 1.0  # seconds of a one-sentence request
MOST_P99 = 5.0
MOST_GROWTH = 1.2  # of the resident memory, from a third of the time to the end
MOST_EXIT = 70.0  # seconds from SIGTERM to the end

HOSTILE = 10  # clients
LOAD = 0.6  # of the speed measured at the start
DIRECTIONS = ("en-fr", "en-de", "en-es", "fr-en", "de-en", "es-en")


async def soak(url: str, pid: int, minutes: float, questions: tuple[list[Question], list[Question]]) -> list[str]:
    """Return the criteria that were not met."""
    traffic, total = Traffic(url, *questions), Seen()
    for _ in range(600):
        with contextlib.suppress(httpx.TransportError):
            if (await traffic.http.get("/ready")).status_code == 200:
                break
        await asyncio.sleep(0.5)
    await traffic.speed()  # until every worker has its models
    speed = await traffic.speed()
    think = GOOD / (LOAD * speed)
    print(f"{speed:.0f} sentences/s without hostile clients; {GOOD} clients think for {think:.1f} s", flush=True)
    tasks = [asyncio.create_task(traffic.good(think)) for _ in range(GOOD)]
    hostile = [asyncio.create_task(traffic.hostile(number)) for number in range(HOSTILE)]
    began, sizes = time.perf_counter(), list[float]()
    while (passed := time.perf_counter() - began) < 60 * minutes:
        await asyncio.sleep(min(60.0, 60 * minutes - passed))
        seen, traffic.seen = traffic.seen, Seen()
        total.add(seen)
        sizes.append(usage(pid).memory)
        oldest = time.perf_counter() - min(traffic.waiting, default=time.perf_counter())
        waiting = f"{len(traffic.waiting)} wait for an answer, for {oldest:.0f} s at most"
        print(
            f"minute {(time.perf_counter() - began) / 60:.1f}: {seen}; {waiting}; memory {sizes[-1]:,.0f} MB",
            flush=True,
        )
    total.seconds += [time.perf_counter() - since for since in traffic.waiting]  # they take at least as long
    traffic.ending = True
    began = time.perf_counter()
    os.kill(pid, signal.SIGTERM)
    while usage_left(pid) and time.perf_counter() - began < 2 * MOST_EXIT:
        await asyncio.sleep(0.1)
    exit_seconds = time.perf_counter() - began
    for task in (*tasks, *hostile):
        task.cancel()
    done = await asyncio.gather(*tasks, *hostile, return_exceptions=True)
    faults = [one for one in done if isinstance(one, Exception)]
    base = sizes[len(sizes) // 3]
    print(f"after SIGTERM: {traffic.seen}")
    print(f"in all: {total}; memory {base:,.0f} to {sizes[-1]:,.0f} MB; exit {exit_seconds:.1f} s after SIGTERM")
    criteria = [
        (f"{total.swapped} swapped answers", total.swapped <= MOST_SWAPPED),
        (f"{total.lost} lost requests", total.lost <= MOST_LOST),
        (f"p50 {total.percentile(0.5):.2f} s", 0 < total.percentile(0.5) <= MOST_P50),
        (f"p99 {total.percentile(0.99):.2f} s", total.percentile(0.99) <= MOST_P99),
        (f"memory grown by {sizes[-1] / base - 1:.0%}", sizes[-1] <= MOST_GROWTH * base),
        (f"exit after {exit_seconds:.0f} s", exit_seconds <= MOST_EXIT),
        (f"{len(faults)} clients ended with an error: {faults[:1]}", not faults),
    ]
    return [said for said, met in criteria if not met]


def usage_left(pid: int) -> bool:
    """Whether the server is still there; a child that nobody has waited for has no memory."""
    try:
        return usage(pid).memory > 0
    except OSError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--flags", default="--workers 2", help="of regard serve")
    given = parser.parse_args()
    if given.minutes <= 0:
        parser.error(f"--minutes must be more than 0, but is {given.minutes:g}")
    made = [questions_of(model) for model in DIRECTIONS]
    questions = [one for some, _ in made for one in some], [one for _, some in made for one in some]
    with tempfile.TemporaryDirectory() as state:
        more = [flag for model in DIRECTIONS[1:] for flag in (model, "--preload", model)]
        server, url = start(DIRECTIONS[0], [*more, "--state", state, *given.flags.split()])
        try:
            missed = asyncio.run(soak(url, server.pid, given.minutes, questions))
        finally:
            if server.poll() is None:
                server.kill()
            server.wait()
    if missed:
        raise SystemExit(f"not met: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
