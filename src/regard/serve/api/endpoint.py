"""The declaration of an endpoint, from which its route and its entry in the OpenAPI document are made.

    request ─ limit_body ─ read_values ─ authorize ─ handler ─▶ JSON       errors have the format of the interface

The handler is cancelled when the client disconnects or its time is over. Clients never get a traceback: an unexpected
exception gives status 500 and a number that is also in the log.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.errors import RegardError
from regard.serve.access import Client
from regard.serve.errors import CLIENT_DISCONNECTED, ServeError, deadline_exceeded
from regard.serve.http.fields import Field, content_type, read_values
from regard.serve.http.request_body import INLINE_BYTES, MAX_TEXT_BYTES, close_files
from regard.serve.monitoring import record_of
from regard.serve.services import Services
from regard.serve.state.documents import StoreFullError
from regard.serve.state.store import StateError

log = logging.getLogger("regard.serve")

KEYLESS_BYTES = 1_000_000  # of a body whose client is not known before it is read
LATE_SECONDS = 1.0  # after which a request that has exceeded its time is given up, if its service has not done so


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


@dataclass(frozen=True)
class Interface:
    """One of the APIs: its name, a description, the body of its error responses, and their status."""

    name: str
    about: str
    error_body: Callable[[ServeError], Mapping[str, Any]]
    error_status: Callable[[ServeError], int] = lambda problem: problem.status


@dataclass(frozen=True)
class Call:
    """A request with its parsed parameters."""

    request: Request
    values: Mapping[str, Any]
    services: Services

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def client(self) -> Client:
        """The sender of the request; not available at public endpoints."""
        client: Client = self.request.state.client
        return client


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    interface: Interface
    summary: str
    handler: Handler
    fields: tuple[Field, ...] = ()
    status: int = 200
    media_type: str = "application/json"
    public: bool = False  # answered without a key, and not counted against limits: health, languages, the page
    counted: tuple[str, ...] = ("q", "text", "texts")  # fields whose characters count against the client's limit

    def route(self) -> Route:
        return Route(self.path, self._respond, methods=[self.method])

    async def _respond(self, request: Request) -> Response:
        services: Services = request.app.state.services
        try:
            await self.limit_body(request, services)
            values = await read_values(request, self.fields)
            if not self.public:
                await services.authorize(request, values.get("api_key"), self.counted_texts(values))
            seconds = services.config.document_timeout if self.has_file else services.config.timeout
            work = self.handler(Call(request, values, services))
            result = await while_connected(request, work, seconds + LATE_SECONDS)
        except ServeError as problem:
            record_of(request).refused = problem.reason
            await services.refund(request, problem)
            return self.error_response(problem)
        except StateError as problem:
            log.error("%s %s is refused: %s", self.method, self.path, problem)
            # Only this message does not contain paths of the server.
            full = isinstance(problem, StoreFullError)
            message = str(problem) if full else "the server cannot keep its state now; try again"
            return self.error_response(ServeError(503, message, retry_after=10))
        except RegardError as problem:
            await services.refund(request, problem)
            return self.error_response(ServeError(400, str(problem)))
        except Exception:
            number = secrets.token_hex(4)
            log.exception("fault %s in %s %s", number, self.method, self.path)
            return self.error_response(
                ServeError(500, f"internal server error; see number {number} in the server's log")
            )
        finally:
            await close_files(request)
        return result if isinstance(result, Response) else JsonResponse(result, self.status)

    async def limit_body(self, request: Request, services: Services) -> None:
        """Limit the body to what the endpoint needs. Where API keys are required, one in the header or the query is
        checked before the body is read; without it, only a small body is read, and only if it may have the key."""
        record, config = record_of(request), services.config
        most = config.body
        if not self.has_file or content_type(request) != "multipart/form-data":
            needed = INLINE_BYTES + sum(field.max_bytes(config.characters) for field in self.fields)
            most = min(most, MAX_TEXT_BYTES, needed)
        if config.keys and not self.public:
            has_key = any(field.name == "api_key" for field in self.fields)
            try:
                await services.authenticate(request, request.query_params.get("api_key") if has_key else None)
            except ServeError:
                if not has_key:
                    raise
                if most > KEYLESS_BYTES:
                    most, record.body_hint = KEYLESS_BYTES, " without an API key in the Authorization header"
        record.body_bytes = min(record.body_bytes, most)

    @property
    def has_file(self) -> bool:
        return any(field.kind == "file" for field in self.fields)

    def counted_texts(self, values: Mapping[str, Any]) -> list[str]:
        given = [values.get(name) for name in self.counted]
        lists = [one if isinstance(one, list) else [one] for one in given]
        return [text for texts in lists for text in texts if isinstance(text, str)]

    def error_response(self, problem: ServeError) -> Response:
        body, status = self.interface.error_body(problem), self.interface.error_status(problem)
        return JsonResponse(body, status, headers=problem.headers)


async def while_connected(request: Request, work: Awaitable[Any], seconds: float) -> Any:
    """Return the result of `work`, which is cancelled if the client disconnects before, or after this time."""
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnect}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        if not disconnect.done():
            raise deadline_exceeded("request")  # at once, although a thread may have to complete its part
        await asyncio.wait({task})
        raise ServeError(CLIENT_DISCONNECTED, "the client has left")
    finally:
        disconnect.cancel()
        task.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
