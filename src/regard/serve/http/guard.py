"""The outermost ASGI middleware: checks of every request, limits on its size and time, and security headers.

    request  → known Host → not sent by a foreign page → body within its limits of size and time → the application
    response ← security headers, the request's id ← …

If the application reads a body that is too large or too slow, `receive` raises a `ServeError`, so that the response
has the error format of the interface that was called.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serve.errors import ServeError
from regard.serve.monitoring import RequestRecord

log = logging.getLogger("regard.serve")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
MAX_HEADERS = 100
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

# Scripts, styles and requests from this server only; nothing inline but what the page's documents contain, by hashes;
# no frames, no plug-ins, no forms to other servers.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",  # responses contain texts; the page's files override this
}


@dataclass(frozen=True)
class GuardConfig:
    """The limits of `HttpGuard`."""

    host: str = "127.0.0.1"  # the address at which the server listens
    host_names: tuple[str, ...] = ()  # further names of the server; "*" allows any
    cors: tuple[str, ...] = ()  # origins whose pages may call the server; "*" allows any
    script_hashes: str = ""  # of the scripts inside the page's documents, as the policy names them
    style_hashes: str = ""
    body_bytes: int = 20_000_000
    head_bytes: int = 65_536  # of the path, the query and all headers together
    body_seconds: float = 30.0  # for the whole body to arrive
    send_seconds: float = 60.0  # for the client to read one part of the response


Finished = Callable[[Scope, RequestRecord, int, float], None]  # scope, record, status, seconds


class SlowClientError(Exception):
    """The client does not read the response."""


class HttpGuard:
    """The middleware. `finished` is called for every request after its response has been sent."""

    def __init__(self, app: ASGIApp, config: GuardConfig, finished: Finished | None = None) -> None:
        self.config = config
        policy = POLICY
        for name, hashes in (("script-src", config.script_hashes), ("style-src", config.style_hashes)):
            policy = policy.replace(f"{name} 'self'", f"{name} 'self' {hashes}".rstrip())
        self.headers = HEADERS | {"content-security-policy": policy}
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
        if scope["type"] != "http":  # lifespan events; there are no web sockets
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        record = RequestRecord(id=request_id(headers.getlist("x-request-id")), body_bytes=self.config.body_bytes)
        scope.setdefault("state", {})["record"] = record
        started, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                add_headers(message, self.headers, record.id, shared=bool(self.config.cors))
            with anyio.move_on_after(self.config.send_seconds):
                await send(message)
                return
            raise SlowClientError

        try:
            if problem := self.rejection(scope, headers):
                raise problem
            await self.app(scope, self.limited(headers, receive, record), answer)
        except ServeError as problem:
            if status:
                raise
            await PlainTextResponse(f"{problem.message}\n", problem.status)(scope, receive, answer)
        except SlowClientError:
            log.info("a client did not take its answer; the connection is closed id=%s", record.id)
        finally:
            if self.finished is not None:
                self.finished(scope, record, status, time.perf_counter() - started)

    def rejection(self, scope: Scope, headers: Headers) -> ServeError | None:
        """The reason why a request does not reach the application; None if it does.

        A web page can make a browser send requests to any server, including this one on the user's machine. With the
        server's address it cannot read most responses; with a host name of its own that resolves to this server (DNS
        rebinding) it could. So the Host must be a name of this server, and an Origin must be that of its own page.
        """
        most = self.config.head_bytes
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in scope["headers"])
        if size > most or len(scope["headers"]) > MAX_HEADERS:
            message = (
                f"the path, the query and {MAX_HEADERS} headers at most have {most:,} bytes; send texts in the body"
            )
            return ServeError(431, message, reason="size")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not known_host(hosts[0], self.config):
            shown = hosts[0][:100] if len(hosts) == 1 else f"{len(hosts)} of them"
            return ServeError(
                400, f"Host must be a name of this server, but is {shown!r}; the server's host_names can allow it"
            )
        if scope["method"] not in SAFE_METHODS and not own_page(headers, hosts[0], self.config.cors):
            return ServeError(403, "pages of other origins may not call this server; its setting cors can allow them")
        return None

    def limited(self, headers: Headers, receive: Receive, record: RequestRecord) -> Receive:
        """Return `receive` with a limit on the bytes of the body, which the application may have lowered in the record,
        and on the time until it is complete."""
        seconds = self.config.body_seconds
        lengths = headers.getlist("content-length")
        announced = int(lengths[0]) if len(lengths) == 1 and lengths[0].isdecimal() else 0
        until, got, complete = anyio.current_time() + seconds, 0, False

        async def limited_receive() -> Message:
            nonlocal got, complete
            if announced > record.body_bytes:
                raise too_large(record)
            if complete:  # wait for the client to disconnect
                return await receive()
            with anyio.move_on_at(until):
                message = await receive()
                complete = not message.get("more_body", False)
                got += len(message.get("body", b""))
                if got > record.body_bytes:
                    raise too_large(record)
                return message
            raise ServeError(408, f"the request did not arrive within {seconds:g} s", reason="slow")

        return limited_receive


def too_large(record: RequestRecord) -> ServeError:
    message = f"this request may have at most {record.body_bytes:,.0f} bytes{record.body_hint}"
    return ServeError(413, message, reason="size")


def request_id(given: list[str]) -> str:
    """The id that a proxy gave the request if it has only safe characters, otherwise a new one."""
    return given[0] if len(given) == 1 and REQUEST_ID.fullmatch(given[0]) else secrets.token_hex(8)


def host_of(authority: str) -> str:
    """The host of `host:port`, in lower case and without the brackets of an IPv6 address; "" if it is invalid.

    >>> host_of("LocalHost:8000"), host_of("[::1]:8000"), host_of("a@b"), host_of("a/b"), host_of("[::1")
    ('localhost', '::1', '', '', '')
    """
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", authority.lower())
    return (found[1] or found[2]).rstrip(".") if found else ""


def known_host(authority: str, config: GuardConfig) -> bool:
    """Whether a Host header names this server. An address is always allowed: DNS rebinding needs a name.

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
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


def own_page(headers: Headers, host: str, cors: Iterable[str]) -> bool:
    """Whether a request was sent by no page, by the server's own page, or by a page of an allowed origin. Browsers send
    Origin with every request other than GET, and pages cannot forge it; other programs send none."""
    origins = headers.getlist("origin")
    if not origins:
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    if any(allowed in ("*", origins[0]) for allowed in cors):
        return True
    return len(origins) == 1 and same_authority(origins[0], host)


def same_authority(origin: str, host: str) -> bool:
    """Whether an origin has this host and port. Its scheme may differ, if a proxy in front uses TLS.

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


def add_headers(message: Message, security: Mapping[str, str], id: str, shared: bool) -> None:
    """Add the security headers to a response; its own headers are kept, except the policy."""
    headers = MutableHeaders(raw=message["headers"] if isinstance(message["headers"], list) else [])
    message["headers"] = headers.raw
    for name, value in security.items():
        if name == "content-security-policy" or name not in headers:
            headers[name] = value
    if shared:
        headers["cross-origin-resource-policy"] = "cross-origin"
    headers["x-request-id"] = id
    if message["status"] == 408:
        headers["connection"] = "close"  # the rest of the body is not read
