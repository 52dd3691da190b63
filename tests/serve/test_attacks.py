"""Requests that try to take the service from the others: what they need is bounded before it is spent."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from regard.serve.api import deepl
from regard.serve.api.endpoint import while_connected
from regard.serve.app import create_app
from regard.serve.errors import ServeError
from regard.serve.http.fields import parse_object
from regard.serve.http.request_body import INLINE_BYTES, parse_body
from regard.serve.settings import ServeConfig
from regard.serve.state.glossaries import Glossaries
from regard.serve.state.keys import ApiKeys
from regard.serve.state.store import Store
from server_process import MODEL, ServerProcess, running

BYTES = 19_000_000  # less than the server's own limit
HANGING = """
import time
from regard.serve import run
from regard.serve.explain_service import ExplainService
run.GRACE_SECONDS, run.CLOSE_SECONDS = 3, 2
ExplainService.close = lambda self: time.sleep(100)
"""

# ── the end of the server ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_signal_refuses_connections_and_ends_the_server_whatever_runs(tmp_path: Path) -> None:
    """Its processes hang when they close, as in a search that does not end; they are ended after four seconds. One
    server has one process, the other one has workers."""
    (tmp_path / "sitecustomize.py").write_text(HANGING)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}

    def refuses(server: ServerProcess) -> bool:
        try:
            return server.ask("/health", timeout=1).status == 0
        except ConnectionRefusedError:
            return True

    with (
        running("--timeout", "1", env=environment) as one,
        running("--timeout", "1", "--workers", "2", env=environment) as several,
    ):
        for server in (one, several):
            server.process.terminate()
        for server in (one, several):
            server.wait_until(partial(refuses, server), 3)
            assert server.process.poll() is None  # refused while it still closes
        for server in (one, several):
            assert server.process.wait(30) == 0


# ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """The port of a server with keys, and a key."""
    state = tmp_path_factory.mktemp("state")
    with Store(state) as store:
        secret, _ = ApiKeys(store).add("alice")
    with running("--keys", "--state", state) as server:
        yield server.port, secret


@pytest.mark.parametrize(
    ("path", "kind", "keyed", "length", "status"),
    [
        ("/api/translate", "application/json", False, 100, 403),
        ("/v2/document", "multipart/form-data; boundary=x", False, 100, 403),
        ("/translate", "application/json", False, BYTES, 413),
        ("/translate", "application/x-www-form-urlencoded", False, BYTES, 413),
        ("/translate_file", "multipart/form-data; boundary=x", False, BYTES, 413),
        ("/translate", "application/json", True, BYTES, 413),
        ("/translate_file", "application/json", True, BYTES, 413),
        ("/health", "application/json", False, 100_000, 413),
    ],
)
def test_a_body_is_refused_before_it_is_read(
    guarded: tuple[int, str], path: str, kind: str, keyed: bool, length: int, status: int
) -> None:
    """The head alone is answered: the body is announced, but never sent."""
    port, secret = guarded
    head = f"{'GET' if path == '/health' else 'POST'} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    head += f"Authorization: Bearer {secret}\r\n" * keyed
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
        assert client.recv(1000).startswith(f"HTTP/1.1 {status} ".encode())


def test_a_file_of_a_known_client_may_be_large(guarded: tuple[int, str]) -> None:
    port, secret = guarded
    part = "--x\r\nContent-Disposition: form-data; name="
    fields = "".join(f'{part}"{name}"\r\n\r\n{value}\r\n' for name, value in (("source", "en"), ("target", "fr")))
    body = f'{fields}{part}"file"; filename="a.png"\r\n\r\n{"a" * 5_000_000}\r\n--x--\r\n'
    head = "POST /translate_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    head += f"Authorization: Bearer {secret}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client, client.makefile("rb") as answer:
        client.sendall((head + body).encode())
        assert b"file format not supported" in answer.read()


def test_large_bodies_are_parsed_outside_the_event_loop() -> None:
    async def threads() -> list[bool]:
        bodies = (b'{"q": "%s"}' % (b"a" * size) for size in (10, INLINE_BYTES))
        return [await parse_body(parse, body) == threading.get_ident() for body in bodies]

    def parse(body: bytes) -> int:
        assert len(parse_object(body)["q"]) in (10, INLINE_BYTES)
        return threading.get_ident()

    assert asyncio.run(threads()) == [True, False]


# ── glossaries and time ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(ServeConfig(models=(MODEL,))), base_url="http://127.0.0.1:8000") as made:
        yield made


def test_glossaries_of_a_request_are_few_and_found_at_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def create(entries: str) -> Any:
        asked = {"name": "x", "source_lang": "en", "target_lang": "fr", "entries": entries}
        return client.post("/v2/glossaries", json=asked).json()["glossary_id"]

    def translate(ids: list[str]) -> tuple[int, Any]:
        asked = {"text": ["The cat."], "source_lang": "en", "target_lang": "fr", "glossary_ids": ids}
        answer = client.post("/v2/translate", json=asked)
        return answer.status_code, answer.json().get("message")

    searched: list[Any] = []
    find = Glossaries.find
    monkeypatch.setattr(Glossaries, "find", lambda *args: searched.append(args[2]) or find(*args))
    first, second = create("dog\tchien"), create("cow\tvache\nox\tboeuf")
    assert translate([first] * 500 + [second] * 500) == (200, None)
    assert translate([",".join([first] * 500)]) == (200, None)
    assert searched == [[first, second], [first]]
    status, message = translate([f"{number}" for number in range(11)])
    assert (status, "at most 10 ids, but 11" in message) == (400, True)
    assert translate([first, "missing"])[0] == 404
    monkeypatch.setattr(deepl, "MOST_ENTRIES", 2)
    status, message = translate([first, second])
    assert (status, "3 entries together" in message) == (400, True)


def test_a_request_that_is_late_is_answered_although_its_thread_is_not_done() -> None:
    async def main() -> None:
        done = threading.Event()
        request = Request({"type": "http"}, receive=asyncio.Event().wait)  # type: ignore[arg-type]
        try:
            with pytest.raises(ServeError) as caught:
                await while_connected(request, asyncio.shield(asyncio.to_thread(done.wait, 60)), 0.01)
            assert (caught.value.status, caught.value.reason, done.is_set()) == (503, "deadline", False)
        finally:
            done.set()

    asyncio.run(main())
