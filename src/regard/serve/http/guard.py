"""The outermost layer of the server: what every request and every answer must keep to, whoever handles it.

    request  → Host known → not sent by a stranger's page → body within its size and time → the application
    answer   ← headers that keep browsers careful, the request's id ← …

Pure ASGI. Where the application reads a body that is too large or too slow, it meets a `ServeError`, so that the answer
has the shape of the interface that was called.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serve.errors import ServeError
from regard.serve.monitoring import RequestNotes

log = logging.getLogger("regard.serve")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
MOST_HEADERS = 100
READING = ("GET", "HEAD", "OPTIONS")

# Scripts, styles and requests from this server alone; nothing inline, no frames, no plug-ins, no forms to elsewhere.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",  # answers hold texts; files of the page say otherwise themselves
}


@dataclass(frozen=True)
class GuardConfig:
    """What the guard allows."""

    host: str = "127.0.0.1"  # where the server listens
    host_names: tuple[str, ...] = ()  # further names of it; "*" is any
    cors: tuple[str, ...] = ()  # origins whose pages may call it; "*" is any
    body_bytes: int = 20_000_000
    head_bytes: int = 65_536  # of the path, the query and all headers together
    body_seconds: float = 30.0  # for the whole body to arrive
    send_seconds: float = 60.0  # for the client to take one part of the answer


Finished = Callable[[Scope, RequestNotes, int, float], None]  # scope, notes, status, seconds


class SlowClientError(Exception):
    """The client does not read what it asked for."""


class HttpGuard:
    """The application with a guard around it. `finished` is told of every request when its answer has been sent."""

    def __init__(self, app: ASGIApp, config: GuardConfig, finished: Finished | None = None) -> None:
        self.config = config
        self.finished = finished
        self.app: ASGIApp = app
        if config.cors:
            self.app = CORSMiddleware(
                app,
                allow_origins=config.cors,
                allow_methods=("GET", "POST", "DELETE"),
                allow_headers=("authorization", "content-type"),
                expose_headers=("retry-after", "x-request-id"),
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the life of the application; there are no web sockets
            await self.app(scope, receive, send)
            return
        headers = header_lists(scope)
        notes = RequestNotes(id=request_id(headers.get("x-request-id", [])))
        scope.setdefault("state", {})["notes"] = notes
        started, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_headers(message, notes.id, shared=bool(self.config.cors))
            with anyio.move_on_after(self.config.send_seconds):
                await send(message)
                return
            raise SlowClientError

        try:
            if problem := self.refused(scope, headers):
                raise problem
            await self.app(scope, self.bounded(headers, receive), answer)
        except ServeError as problem:
            if status:
                raise
            await refuse(problem, answer)
        except SlowClientError:
            log.info("a client did not take its answer; the connection is closed id=%s", notes.id)
        finally:
            if self.finished is not None:
                self.finished(scope, notes, status, time.perf_counter() - started)

    def refused(self, scope: Scope, headers: dict[str, list[str]]) -> ServeError | None:
        """Why a request is not even looked at, if so.

        A web page can make a browser send requests to any server, this one on the user's own machine included. By its
        own address it can, for some requests, not read the answer; by a name that it lets point here (DNS rebinding) it
        could. So the Host must be a name of ours, and a request that says which page sent it must be from our own.
        """
        if head_size(scope) > self.config.head_bytes or len(scope["headers"]) > MOST_HEADERS:
            most = self.config.head_bytes
            message = (
                f"the path, the query and {MOST_HEADERS} headers at most have {most:,} bytes; send texts in the body"
            )
            return ServeError(431, message, reason="size")
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not known_host(hosts[0], self.config):
            shown = hosts[0][:100] if len(hosts) == 1 else f"{len(hosts)} of them"
            return ServeError(
                400, f"Host must be a name of this server, but is {shown!r}; the server's host_names can allow it"
            )
        if scope["method"] not in READING and not own_page(headers, hosts[0], self.config.cors):
            return ServeError(403, "pages of other origins may not call this server; its setting cors can allow them")
        return None

    def bounded(self, headers: dict[str, list[str]], receive: Receive) -> Receive:
        """`receive` that counts the bytes of the body and the time it takes."""
        most, seconds = self.config.body_bytes, self.config.body_seconds
        lengths = headers.get("content-length", [])
        announced = int(lengths[0]) if len(lengths) == 1 and lengths[0].isdecimal() else 0
        until, got, complete = anyio.current_time() + seconds, 0, False

        async def bounded_receive() -> Message:
            nonlocal got, complete
            if announced > most:
                raise too_large(most)
            if complete:  # waits for the client to leave, as long as it takes
                return await receive()
            with anyio.move_on_at(until):
                message = await receive()
                complete = not message.get("more_body", False)
                got += len(message.get("body", b""))
                if got > most:
                    raise too_large(most)
                return message
            raise ServeError(408, f"the request did not arrive within {seconds:g} s", reason="slow")

        return bounded_receive


def head_size(scope: Scope) -> int:
    size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return size + sum(len(name) + len(value) for name, value in scope["headers"])


def too_large(most: int) -> ServeError:
    return ServeError(413, f"a request has at most {most:,} bytes", reason="size")


def header_lists(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def request_id(given: list[str]) -> str:
    """The id that a proxy gave the request, if it is harmless, else a new one."""
    return given[0] if len(given) == 1 and REQUEST_ID.fullmatch(given[0]) else secrets.token_hex(8)


def host_of(authority: str) -> str:
    """The host of `host:port`, in small letters and without the brackets of an IPv6 address; "" for what is none.

    >>> host_of("LocalHost:8000"), host_of("[::1]:8000"), host_of("a@b"), host_of("a/b"), host_of("[::1")
    ('localhost', '::1', '', '', '')
    """
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", authority.lower())
    return (found[1] or found[2]).rstrip(".") if found else ""


def known_host(authority: str, config: GuardConfig) -> bool:
    """Whether a Host header names this server. An address is always allowed: a page that lets its name point here is
    reached by that name, never by an address.

    >>> config = GuardConfig(host_names=("translate.example",))
    >>> [known_host(host, config) for host in ("127.0.0.1:8000", "localhost", "10.1.2.3", "translate.example:443")]
    [True, True, True, True]
    >>> [known_host(host, config) for host in ("evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example")]
    [False, False, False, False]
    """
    host = host_of(authority)
    names = {"localhost", *(name.lower() for name in (config.host, *config.host_names))}
    return bool(host) and ("*" in names or host in names or is_address(host))


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def own_page(headers: dict[str, list[str]], host: str, cors: Iterable[str]) -> bool:
    """Whether a request was sent by no page, by our own, or by one that may. Browsers send `Origin` with every request
    that changes something, and pages cannot forge it; other programs send none."""
    origins = headers.get("origin", [])
    if not origins:
        return headers.get("sec-fetch-site", ["none"])[0] in ("none", "same-origin")
    if any(allowed in ("*", origins[0]) for allowed in cors):
        return True
    return len(origins) == 1 and same_authority(origins[0], host)


def same_authority(origin: str, host: str) -> bool:
    """Whether an origin is at this host and port. Its scheme may differ, where a proxy in front speaks TLS.

    >>> same_authority("https://a.example", "a.example"), same_authority("http://a.example:80", "a.example")
    (True, True)
    >>> same_authority("null", "a.example"), same_authority("http://a.example:8001", "a.example:8000")
    (False, False)
    """
    try:
        parts = urlsplit(origin)
        default = {"http": 80, "https": 443}.get(parts.scheme)
        if default is None:
            return False
        other = urlsplit(f"{parts.scheme}://{host}")
        return parts.hostname == other.hostname and (parts.port or default) == (other.port or default)
    except ValueError:
        return False


def add_headers(message: Message, id: str, shared: bool) -> None:
    """Add ours to an answer; what it has already stays, the policy aside."""
    headers = MutableHeaders(raw=message["headers"] if isinstance(message["headers"], list) else [])
    message["headers"] = headers.raw
    for name, value in HEADERS.items():
        if name == "content-security-policy" or name not in headers:
            headers[name] = value
    if shared:
        headers["cross-origin-resource-policy"] = "cross-origin"
    headers["x-request-id"] = id
    if message["status"] in (408, 413):
        headers["connection"] = "close"  # the rest of the body is not read


async def refuse(problem: ServeError, send: Callable[[Message], Awaitable[Any]]) -> None:
    body = f"{problem.message}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
