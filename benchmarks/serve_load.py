"""A server under load: does every request get its own answer, how fast, and in how much memory?

python benchmarks/serve_load.py tatoeba.en                                  a server is started, and stopped at the end
python benchmarks/serve_load.py tatoeba.en --clients 50 --seconds 10 --requests 0
python benchmarks/serve_load.py tatoeba.en --url http://127.0.0.1:8000      a server that runs already

Each client sends single sentences of the file, one after another, over one connection. Every answer is compared with
what `regard.load(MODEL).translate` says for the same sentence, computed beforehand in this process: a lost, swapped or
changed answer is counted, as is every status that is not 200.

"engine" is that computation: `translate` of all the sentences in one list, before the load and again after it, because
the speed of a shared machine changes. "one at a time" is one client of the same server. Server, clients and engine use
the same cores; the engine waits while the server works. "CPU" is processor time by what the kernel counts for the
process, which a busy machine hardly changes. Memory is the resident size of the server, every five seconds from the
end of that load on. With MALLOC_ARENA_MAX=16 in the environment the server's threads have heaps of their own, as glibc
gives them to two cores; without it they have one (serve/memory.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

import regard

ADDRESS = re.compile(r"http://\S+?:\d+")
TICKS = os.sysconf("SC_CLK_TCK")


# ── a client ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Question(NamedTuple):
    request: bytes
    expected: bytes  # the body of the answer


@dataclass
class Counts:
    """What all clients saw."""

    seconds: list[float] = field(default_factory=list)  # of each answer
    wrong: int = 0
    refused: int = 0  # a status that is not 200
    lost: int = 0  # the connection was closed without an answer

    @property
    def answers(self) -> int:
        return len(self.seconds)

    def add(self, other: Counts) -> None:
        self.seconds += other.seconds
        self.wrong += other.wrong
        self.refused += other.refused
        self.lost += other.lost

    @property
    def bad(self) -> int:
        return self.wrong + self.refused + self.lost

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[min(self.answers - 1, int(share * self.answers))] if self.seconds else 0.0


class Client(asyncio.Protocol):
    """One connection: a question, its answer, the next question. Reads no more of HTTP than the server sends."""

    def __init__(self, questions: Sequence[Question], first: int, step: int, until: float, counts: Counts) -> None:
        self.questions, self.place, self.step, self.until = questions, first, step, until
        self.counts, self.received = counts, bytearray()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        if time.perf_counter() >= self.until:
            self.transport.close()
            return
        self.question = self.questions[self.place % len(self.questions)]
        self.place += self.step
        self.waiting, self.since = True, time.perf_counter()
        self.transport.write(self.question.request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return
        length = re.search(rb"content-length: (\d+)", self.received[:head], re.IGNORECASE)
        assert length is not None
        end = head + 4 + int(length[1])
        if len(self.received) < end:
            return
        self.waiting = False
        self.counts.seconds.append(time.perf_counter() - self.since)
        if not self.received.startswith(b"HTTP/1.1 200"):
            self.counts.refused += 1
        elif self.received[head + 4 : end] != self.question.expected:
            self.counts.wrong += 1
        del self.received[:end]
        self.ask()

    def connection_lost(self, problem: Exception | None) -> None:
        self.counts.lost += self.waiting
        if not self.done.done():
            self.done.set_result(None)


async def load(url: str, questions: Sequence[Question], clients: int, seconds: float) -> tuple[Counts, float]:
    """What so many clients saw, and how long it took until the last had its last answer."""
    address, counts = urlsplit(url), Counts()
    loop, began = asyncio.get_running_loop(), time.perf_counter()

    async def one(number: int) -> None:
        def make() -> Client:
            return Client(questions, number, clients, began + seconds, counts)

        _, client = await loop.create_connection(make, address.hostname, address.port)
        await client.done

    await asyncio.gather(*(one(number) for number in range(clients)))
    return counts, time.perf_counter() - began


def questions_of(sources: Sequence[str], answers: Sequence[str], path: str, host: str) -> list[Question]:
    found = []
    for source, answer in zip(sources, answers, strict=True):
        body = json.dumps({"q": source, "source": "en", "target": "fr"}).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        said = json.dumps({"translatedText": answer}, ensure_ascii=False, separators=(",", ":")).encode()
        found.append(Question(head.encode() + b"\r\n\r\n" + body, said))
    return found


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Usage(NamedTuple):
    """Of a process and its children."""

    memory: float  # MB
    cpu: float  # seconds


def usage(pid: int) -> Usage:
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = Usage(int(parts[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6, (int(parts[11]) + int(parts[12])) / TICKS)
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    others = [usage(int(child)) for child in children]
    return Usage(own.memory + sum(one.memory for one in others), own.cpu + sum(one.cpu for one in others))


def start(model: str, flags: Sequence[str]) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "regard", "serve", model, "--preload", model, "--port", "0", *flags]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    for line in server.stderr:
        if found := ADDRESS.search(line):
            Thread(target=deque, args=[server.stderr, 0], daemon=True).start()  # a log that nobody reads stops it
            return server, found[0]
    raise SystemExit("the server did not start")


async def ready(url: str, questions: Sequence[Question]) -> None:
    """Until every worker has translated something."""
    for _ in range(600):
        try:
            counts, _ = await load(url, questions[:64], 8, 0.5)
        except OSError:
            counts = Counts(lost=1)
        if not (counts.refused or counts.lost):
            return
        await asyncio.sleep(0.5)
    raise SystemExit("the server did not become ready")


# ── the measurement ──────────────────────────────────────────────────────────────────────────────────────────────────


class Rate(NamedTuple):
    per_second: float
    cpu: float  # ms a sentence


def engine_rate(translator: regard.Translator, sources: Sequence[str]) -> tuple[Rate, list[str]]:
    began, cpu = time.perf_counter(), time.process_time()
    said = [one.text for one in translator.translate(sources)]
    taken, used = time.perf_counter() - began, time.process_time() - cpu
    return Rate(len(sources) / taken, 1e3 * used / len(sources)), said


def served_rate(url: str, questions: Sequence[Question], clients: int, seconds: float, pid: int) -> tuple[Rate, Counts]:
    before = usage(pid).cpu if pid else 0.0
    counts, taken = asyncio.run(load(url, questions, clients, seconds))
    used = usage(pid).cpu - before if pid else 0.0
    return Rate(counts.answers / taken, 1e3 * used / max(1, counts.answers)), counts


def lines_of(path: Path, most: int) -> list[str]:
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = dict.fromkeys(line.strip() for line in file)
    lines.pop("", None)
    return list(lines)[:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="English sentences, one on each line; may be .xz")
    parser.add_argument("--model", default="en-fr")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=float, default=10.0, help="seconds of one client alone")
    parser.add_argument("--requests", type=int, default=10_000, help="further requests, for the memory")
    parser.add_argument("--sentences", type=int, default=3000, help="lines of the file, at most")
    parser.add_argument("--url", default="", help="a server that runs; default: start one")
    parser.add_argument("--flags", default="", help="of regard serve, such as '--workers 2'")
    given = parser.parse_args()

    sources = lines_of(given.file, given.sentences)
    translator = regard.load(given.model, device="cpu")
    engine_rate(translator, sources[:200])
    first, said = engine_rate(translator, sources)
    server, url = (None, given.url) if given.url else start(given.model, given.flags.split())
    pid = server.pid if server else 0
    try:
        questions = questions_of(sources, said, "/translate", urlsplit(url).netloc)
        asyncio.run(ready(url, questions))
        alone, alone_counts = served_rate(url, questions, 1, given.alone, pid)
        served, counts = served_rate(url, questions, given.clients, given.seconds, pid)
        sizes, more = [usage(pid).memory if pid else 0.0], Counts()
        while more.answers < given.requests:
            _, some = served_rate(url, questions, given.clients, 5.0, pid)
            more.add(some)
            sizes.append(usage(pid).memory if pid else 0.0)
            print(f"{more.answers} requests: {sizes[-1]:.0f} MB", file=sys.stderr, flush=True)
    finally:
        if server:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    last, again = engine_rate(translator, sources)
    assert again == said
    engine = Rate((first.per_second + last.per_second) / 2, (first.cpu + last.cpu) / 2)

    words = sum(len(source.split()) for source in sources) / len(sources)
    print(f"{len(sources)} sentences of {words:.1f} words; {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}")
    print("| | sentences/s | CPU ms a sentence | p50 ms | p99 ms | wrong | refused | lost |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| engine, one list | {engine.per_second:.0f} | {engine.cpu:.2f} | | | | | |")
    for name, rate, seen in (("one at a time", alone, alone_counts), (f"{given.clients} clients", served, counts)):
        p50, p99 = 1e3 * seen.percentile(0.5), 1e3 * seen.percentile(0.99)
        numbers = f"{rate.per_second:.0f} | {rate.cpu:.2f} | {p50:.0f} | {p99:.0f}"
        print(f"| {name} | {numbers} | {seen.wrong} | {seen.refused} | {seen.lost} |")
    print(f"requests of {given.clients} clients in {given.seconds:.0f} s: {counts.answers}")
    share = engine.cpu / max(served.cpu, 1e-9)
    print(f"served / engine: {served.per_second / engine.per_second:.2f} (by CPU time: {share:.2f})")
    print(f"served / one at a time: {served.per_second / alone.per_second:.1f}")
    print(f"memory before {more.answers} further requests ({more.bad} bad): {sizes[0]:.0f} MB", end="; ")
    print(f"during them {min(sizes):.0f} to {max(sizes):.0f} MB, after them {sizes[-1]:.0f} MB")
    if alone_counts.bad + counts.bad + more.bad:
        raise SystemExit("not every answer was right")


if __name__ == "__main__":
    main()
