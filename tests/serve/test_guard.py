"""The guard: which requests reach the application, how much of them, and what every answer carries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from regard.serve.errors import ServeError
from regard.serve.http.guard import HEADERS, GuardConfig, HttpGuard
from regard.serve.monitoring import RequestRecord, log_request, record_of


async def count(request: Request) -> Response:
    try:
        body = await request.body()
    except ServeError as problem:
        return JSONResponse({"error": problem.message}, problem.status)
    record_of(request).characters = len(body)
    return PlainTextResponse(str(len(body)))


async def own_policy(request: Request) -> Response:
    return PlainTextResponse("x", headers={"content-security-policy": "default-src *", "cache-control": "max-age=9"})


ROUTES = [
    Route("/count/{secret}", count, methods=["GET", "POST"]),
    Route("/own", own_policy),
]


def client(**settings: Any) -> TestClient:
    guarded = HttpGuard(Starlette(routes=ROUTES), GuardConfig(**settings), log_request)
    return TestClient(guarded, base_url="http://127.0.0.1:8000")


@pytest.fixture(scope="module")
def plain() -> Iterator[TestClient]:
    with client(body_bytes=100) as plain:
        yield plain


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8000", True),
        ("localhost:8000", True),
        ("LOCALHOST.", True),
        ("[::1]:8000", True),
        ("192.168.1.7", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example@127.0.0.1", False),
        ("localhost\tevil", False),
        ("", False),
    ],
)
def test_the_host_must_be_ours(plain: TestClient, host: str, allowed: bool) -> None:
    answer = plain.get("/count/a", headers={"host": host})
    assert answer.status_code == (200 if allowed else 400)
    assert allowed or "Host must be a name of this server" in answer.text


def test_further_names_can_be_allowed() -> None:
    named = client(host="translate.lan", host_names=("translate.example",))
    for host in ("translate.example", "translate.lan:80"):
        assert named.get("/count/a", headers={"host": host}).status_code == 200
    assert named.get("/count/a", headers={"host": "other.example"}).status_code == 400
    assert client(host_names=("*",)).get("/count/a", headers={"host": "any.example"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"origin": "http://127.0.0.1:8000"}, True),
        ({"origin": "https://127.0.0.1:8000", "sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://127.0.0.1:9000"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://evil.example", "content-type": "application/json"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://["}, False),
        ({"sec-fetch-site": "cross-site"}, False),
    ],
)
def test_pages_of_strangers_cannot_call_it(plain: TestClient, headers: dict[str, str], allowed: bool) -> None:
    assert plain.post("/count/a", content=b"x", headers=headers).status_code == (200 if allowed else 403)


def test_without_cors_no_answer_allows_an_origin(plain: TestClient) -> None:
    asked = {"origin": "http://app.example", "access-control-request-method": "POST"}
    answers = [plain.options("/count/a", headers=asked), plain.get("/count/a", headers=asked)]
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_with_cors_the_named_origin_may() -> None:
    shared = client(cors=("http://app.example",))
    asked = {"origin": "http://app.example", "access-control-request-method": "POST"}
    assert shared.options("/count/a", headers=asked).headers["access-control-allow-origin"] == "http://app.example"
    answer = shared.post("/count/a", content=b"x", headers={"origin": "http://app.example"})
    assert answer.headers["access-control-allow-origin"] == "http://app.example"
    assert "access-control-allow-credentials" not in answer.headers
    assert shared.post("/count/a", headers={"origin": "http://other.example"}).status_code == 403
    assert client(cors=("*",)).post("/count/a", headers={"origin": "http://other.example"}).status_code == 200


def test_every_answer_has_the_headers(plain: TestClient) -> None:
    answers = [
        plain.get("/count/a"),
        plain.get("/missing"),
        plain.get("/count/a", headers={"host": "evil.example"}),
        plain.post("/count/a", content=b"x" * 101),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 400, 413]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert len(answer.headers["x-request-id"]) == 16
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    own = plain.get("/own")
    assert own.headers["content-security-policy"] == policy  # nothing weakens it
    assert own.headers["cache-control"] == "max-age=9"


def test_the_id_of_a_proxy_is_kept_unless_it_could_harm(plain: TestClient) -> None:
    assert plain.get("/own", headers={"x-request-id": "abc-1.2_3"}).headers["x-request-id"] == "abc-1.2_3"
    for bad in ("a b", "x" * 65, "é".encode(), "<a>"):
        assert plain.get("/own", headers={"x-request-id": bad}).headers["x-request-id"] != bad


def test_a_head_has_its_size(plain: TestClient) -> None:
    assert plain.get("/own", headers={"x": "a" * 60_000}).status_code == 200
    for answer in (
        plain.get("/own", headers={"x": "a" * 65_536}),
        plain.get("/own", params={"q": "a" * 50_000}, headers={"x": "a" * 20_000}),
        plain.get("/" + "a" * 50_000, headers={"x": "a" * 20_000}),
        plain.get("/own", headers={f"x-{number}": "a" for number in range(101)}),
    ):
        assert answer.status_code == 431
        assert "send texts in the body" in answer.text


def scope_of(*headers: tuple[bytes, bytes], method: str = "POST") -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": "/count/a",
        "raw_path": b"/count/a",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), *headers],
    }


class Wire:
    """A client that sends parts of a body, one at a time, and keeps what comes back."""

    def __init__(self, *parts: bytes, wait: float = 0) -> None:
        self.parts, self.wait, self.read, self.sent = list(parts), wait, 0, list[Any]()

    async def receive(self) -> Any:
        self.read += 1
        if not self.parts:
            await anyio.sleep(self.wait)
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self.parts.pop(0), "more_body": True}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])


def test_a_body_that_is_too_large_is_not_read_to_its_end() -> None:
    guard = HttpGuard(Starlette(routes=ROUTES), GuardConfig(body_bytes=100))
    announced = Wire(b"x" * 50, b"x" * 100)
    asyncio.run(guard(scope_of((b"content-length", b"101")), announced.receive, announced.send))
    assert (announced.status, announced.read) == (413, 0)
    streamed = Wire(*[b"x" * 60] * 10)
    asyncio.run(guard(scope_of(), streamed.receive, streamed.send))
    assert (streamed.status, streamed.read) == (413, 2)


def test_a_body_that_takes_too_long_is_given_up() -> None:
    guard = HttpGuard(Starlette(routes=ROUTES), GuardConfig(body_seconds=0.01))
    slow = Wire(b"x", wait=100)
    asyncio.run(guard(scope_of(), slow.receive, slow.send))
    assert slow.status == 408


def test_a_client_that_takes_nothing_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})

    async def never(message: Any) -> None:
        if message["type"] == "http.response.body":
            await anyio.sleep(1000)

    guard = HttpGuard(stream, GuardConfig(send_seconds=0.01))
    with caplog.at_level(logging.INFO, "regard.serve"):
        asyncio.run(guard(scope_of(), Wire().receive, never))
    assert "did not take its answer" in caplog.text


def test_a_problem_that_nobody_answers_is_answered() -> None:
    async def raises(scope: Any, receive: Any, send: Any) -> None:
        raise ServeError(503, "later", retry_after=3)

    wire = Wire()
    asyncio.run(HttpGuard(raises, GuardConfig())(scope_of(), wire.receive, wire.send))
    assert wire.status == 503


def test_the_log_holds_no_text_and_no_path_of_a_request(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "regard.serve.access"), client() as logged:
        logged.post(
            "/count/SECRET-path?q=SECRET-query", content=b"SECRET body", headers={"authorization": "Bearer SECRET-key"}
        )
        logged.get("/SECRET-missing")
        logged.request("SECRETMETHOD", "/count/a")
    lines = [record.getMessage() for record in caplog.records if record.name == "regard.serve.access"]
    assert len(lines) == 3
    assert lines[0].startswith("POST /count/{secret} 200 ")
    assert " 11 characters id=" in lines[0]
    assert lines[1].startswith("GET - 404 ")
    assert lines[2].startswith("? ")
    assert "SECRET" not in caplog.text


def test_a_text_in_the_log_cannot_forge_a_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "regard.serve.access"):
        log_request({"method": "POST"}, RequestRecord("1", 5, texts=["a\nPOST / 200\x1b[2J\u2028b"]), 200, 0.1)
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.isascii()
    assert line.isprintable()
