"""Good and hostile clients of `benchmarks/soak.py`: their questions, requests and attacks, and what they saw."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

import regard

GOOD = 200  # clients
ATTEMPTS = 8  # of a good request
MEASURED_SECONDS = 10.0
LONG_SHARE, DOCUMENT_SHARE = 0.03, 0.01  # of the good requests

TEMPLATES = {
    "en": ("I have {} books.", "The house has {} windows.", "She saw {} birds near the river.", "We need {} days."),
    "fr": ("J'ai {} livres.", "La maison a {} fenêtres.", "Elle a vu {} oiseaux près du fleuve.", "Il faut {} jours."),
    "de": ("Ich habe {} Bücher.", "Das Haus hat {} Fenster.", "Sie sah {} Vögel am Fluss.", "Wir brauchen {} Tage."),
    "es": ("Tengo {} libros.", "La casa tiene {} ventanas.", "Ella vio {} pájaros.", "Necesitamos {} días."),
}
NUMBERS = range(112, 992, 22)  # in each template


class Question(NamedTuple):
    source: str
    target: str
    text: str
    expected: str


def questions_of(model: str) -> tuple[list[Question], list[Question]]:
    """Sentences and paragraphs of a direction, each with its right answer."""
    source, target = model.split("-")
    sentences = [template.format(number) for number in NUMBERS for template in TEMPLATES[source]]
    paragraphs = [" ".join(sentences[at : at + 20]) for at in range(0, len(sentences), 20)]
    answers = regard.load(model, device="cpu").translate([*sentences, *paragraphs])
    made = [Question(source, target, one.source, one.text) for one in answers]
    return made[: len(sentences)], made[len(sentences) :]


# ── good clients ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Seen:
    """What the clients saw since the last report, or in all."""

    good: Counter[str] = field(default_factory=Counter)  # by status
    hostile: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)  # of one-sentence requests
    swapped: int = 0
    lost: int = 0

    def add(self, later: Seen) -> None:
        self.good += later.good
        self.hostile += later.hostile
        self.seconds += later.seconds
        self.swapped += later.swapped
        self.lost += later.lost

    def percentile(self, share: float) -> float:
        return sorted(self.seconds)[int(share * (len(self.seconds) - 1))] if self.seconds else 0.0

    def __str__(self) -> str:
        good, hostile = (
            ", ".join(f"{name}: {number:,}" for name, number in sorted(some.items()))
            for some in (self.good, self.hostile)
        )
        times = f"p50 {1e3 * self.percentile(0.5):,.0f} ms, p99 {1e3 * self.percentile(0.99):,.0f} ms"
        return f"good {good or 'none'}; swapped {self.swapped}, lost {self.lost}; {times}; hostile {hostile or 'none'}"


class Traffic:
    """All clients of a server."""

    def __init__(self, url: str, sentences: list[Question], paragraphs: list[Question]) -> None:
        self.url, self.sentences, self.paragraphs = url, sentences, paragraphs
        self.seen, self.ending = Seen(), False
        self.waiting: list[float] = []  # when the one-sentence requests that are not answered yet were sent
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=GOOD)
        self.http = httpx.AsyncClient(base_url=url, timeout=120, limits=limits)
        self.attacks = Attacks(self)

    async def answered(self, path: str, **request: Any) -> httpx.Response | None:
        """The response with status 200 of a good request; None if it is lost."""
        for _ in range(ATTEMPTS):
            try:
                answer = await self.http.post(path, **request)
            except httpx.TransportError as problem:
                if not self.ending:
                    self.seen.good[type(problem).__name__] += 1
                    print(f"{path}: {problem!r}", file=sys.stderr, flush=True)
                break
            self.seen.good[str(answer.status_code)] += 1
            if answer.status_code == 200:
                return answer
            if answer.status_code not in (429, 503) or "retry-after" not in answer.headers or self.ending:
                break
            await asyncio.sleep(float(answer.headers["retry-after"]))
        self.seen.lost += not self.ending
        return None

    async def text(self, question: Question, deepl: bool) -> None:
        began, short = time.perf_counter(), len(question.text) < 100
        self.waiting += [began] if short else []
        if deepl:
            body: dict[str, Any] = {"text": [question.text], "target_lang": question.target}
            answer = await self.answered("/v2/translate", json=body | {"source_lang": question.source})
        else:
            body = {"q": question.text, "source": question.source, "target": question.target}
            answer = await self.answered("/translate", json=body)
        if short:
            self.waiting.remove(began)
        if answer is not None:
            said = answer.json()
            self.check(question.expected, said["translations"][0]["text"] if deepl else said["translatedText"])
            if short:
                self.seen.seconds.append(time.perf_counter() - began)

    async def document(self, some: list[Question]) -> None:
        lines = "\n\n".join(question.text for question in some)
        given = {"source_lang": some[0].source, "target_lang": some[0].target}
        made = await self.answered("/v2/document", data=given, files={"file": ("a.txt", lines.encode())})
        if made is None:
            return
        path, key = f"/v2/document/{made.json()['document_id']}", {"document_key": made.json()["document_key"]}
        while (status := await self.answered(path, json=key)) and status.json()["status"] in ("queued", "translating"):
            await asyncio.sleep(1)
        if status and (result := await self.answered(f"{path}/result", json=key)):
            self.check("\n\n".join(question.expected for question in some), result.text)

    def check(self, expected: str, said: str) -> None:
        if said != expected:
            self.seen.swapped += 1
            print(f"wrong answer: {said[:200]!r}, not {expected[:200]!r}", file=sys.stderr, flush=True)

    async def good(self, think: float) -> None:
        await asyncio.sleep(random.uniform(0, think))
        while not self.ending:
            chance = random.random()
            if chance < DOCUMENT_SHARE:
                at = 4 * random.randrange(len(self.sentences) // 4)
                await self.document(self.sentences[at : at + 4])
            else:
                some = self.paragraphs if chance < DOCUMENT_SHARE + LONG_SHARE else self.sentences
                await self.text(random.choice(some), random.random() < 0.5)
            await asyncio.sleep(random.expovariate(1 / think))

    async def hostile(self, number: int) -> None:
        for turn in count(number):
            name, attack = self.attacks.all[turn % len(self.attacks.all)]
            try:
                said = await attack()
            except (OSError, httpx.HTTPError, asyncio.IncompleteReadError):
                said = "closed"
            self.seen.hostile[f"{name} {said}"] += 1
            await asyncio.sleep(random.uniform(0, 2))

    async def speed(self) -> float:
        """Sentences per second of 50 clients that do not think."""
        until = time.perf_counter() + MEASURED_SECONDS

        async def client() -> None:
            while time.perf_counter() < until:
                await self.text(random.choice(self.sentences), deepl=False)

        await asyncio.gather(*(client() for _ in range(50)))
        found, self.seen = len(self.seen.seconds) / MEASURED_SECONDS, Seen()
        return found


# ── hostile clients ──────────────────────────────────────────────────────────────────────────────────────────────────


class Attacks:
    """Requests that take as much as the limits allow. Each returns what came of it."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        address = urlsplit(traffic.url)
        self.address = address.hostname, address.port
        english = [question.text for question in traffic.sentences if question.source == "en"]
        words = sorted({word for text in english for word in text.strip(".").split() if word.isalpha()})
        terms = "\n".join(f"{word}\tterme {word}" for word in [*words, *map(str, NUMBERS)][:24])
        self.heavy = {"text": " ".join(english[:20]), "source": "en", "target": "fr", "beam": 5, "glossary": terms}
        self.long = {"q": ("The cat is black. " * 2778)[:49_990], "source": "en", "target": "fr"}
        self.large = json.dumps({"q": "a", "source": "en", "target": "fr", "x": "x" * 19_900_000}).encode()
        self.glossary = ""
        self.all: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("heavy glossary", lambda: self.post("/api/translate", self.heavy)),
            ("49,990 characters", lambda: self.post("/translate", self.long)),
            ("20 MB", self.large_body),
            ("many glossary_ids", self.many_glossaries),
            ("slow body", self.slow_body),
            ("slow reader", self.slow_reader),
            ("idle", self.idle),
            ("disconnect", self.disconnect),
            ("garbage", self.garbage),
        ]

    async def post(self, path: str, body: Any) -> int:
        return (await self.traffic.http.post(path, json=body)).status_code

    async def large_body(self) -> int:
        kind = {"Content-Type": "application/json"}
        return (await self.traffic.http.post("/translate", content=self.large, headers=kind)).status_code

    async def many_glossaries(self) -> int:
        if not self.glossary:
            entries = "\n".join(f"term {number}\tterme {number}" for number in range(5_000))
            given = {"name": "large", "source_lang": "en", "target_lang": "fr", "entries": entries}
            self.glossary = (await self.traffic.http.post("/v2/glossaries", json=given)).json()["glossary_id"]
        body = {"text": ["The cat is black."], "source_lang": "en", "target_lang": "fr"}
        return await self.post("/v2/translate", body | {"glossary_ids": [self.glossary] * 200})

    async def connected(self, sent: bytes, seconds: float, pause: float = 0.0) -> str:
        """Send bytes at once or one by one, wait, and return the first line of what came, or that nothing did."""
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.setblocking(False)
        with contextlib.closing(made):
            loop = asyncio.get_running_loop()
            await loop.sock_connect(made, self.address)
            await loop.sock_sendall(made, sent)
            until = time.perf_counter() + seconds
            while pause and time.perf_counter() < until:
                await loop.sock_sendall(made, b"a")
                await asyncio.sleep(pause)
            await asyncio.sleep(until - time.perf_counter())
            made.settimeout(0)
            try:
                return made.recv(12).decode("latin-1").removeprefix("HTTP/1.1 ").strip() or "closed"
            except BlockingIOError:
                return "nothing"

    def head(self, length: int) -> bytes:
        start = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        return start + b"Content-Length: %d\r\n\r\n" % length

    async def slow_body(self) -> str:
        return await self.connected(self.head(10_000), 35, pause=1)

    async def slow_reader(self) -> str:
        body = json.dumps({**self.long, "q": self.long["q"][:20_000]}).encode()
        return await self.connected((self.head(len(body)) + body) * 5, 40)

    async def idle(self) -> str:
        return await self.connected(b"", 20)

    async def disconnect(self) -> str:
        body = json.dumps(self.long).encode()
        return await self.connected(self.head(len(body)) + body, random.uniform(0, 1))

    async def garbage(self) -> str:
        return await self.connected(random.randbytes(5_000) + b"\r\n\r\n", 0.5)
