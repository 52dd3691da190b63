"""The declaration of an endpoint, from which its route and its entry in the OpenAPI document are made.

    request ─ read_values ─ authorize ─ handler ─▶ JSON       errors have the format of the interface

The handler is cancelled when the client disconnects. Clients never get a traceback: an unexpected exception gives
status 500 and a number that is also in the log.
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
from regard.serve.errors import CLIENT_DISCONNECTED, ServeError
from regard.serve.http.fields import Field, read_values
from regard.serve.http.request_body import close_files
from regard.serve.monitoring import record_of
from regard.serve.services import Services
from regard.serve.state.documents import StoreFullError
from regard.serve.state.keys import given_key
from regard.serve.state.store import StateError

log = logging.getLogger("regard.serve")


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


@dataclass(frozen=True)
class Interface:
    """One of the APIs: its name, the body of its error responses, and their status."""

    name: str
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
            values = await read_values(request, self.fields)
            if not self.public:
                key = values.get("api_key") or given_key(request.headers.get("authorization"))
                await services.authorize(request, key, self.counted_texts(values))
            result = await while_connected(request, self.handler(Call(request, values, services)))
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

    def counted_texts(self, values: Mapping[str, Any]) -> list[str]:
        given = [values.get(name) for name in self.counted]
        lists = [one if isinstance(one, list) else [one] for one in given]
        return [text for texts in lists for text in texts if isinstance(text, str)]

    def error_response(self, problem: ServeError) -> Response:
        body, status = self.interface.error_body(problem), self.interface.error_status(problem)
        return JsonResponse(body, status, headers=problem.headers)


async def while_connected(request: Request, work: Awaitable[Any]) -> Any:
    """Return the result of `work`, which is cancelled if the client disconnects before it is done."""
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task})
        raise ServeError(CLIENT_DISCONNECTED, "the client has left")
    finally:
        disconnect.cancel()
        task.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
