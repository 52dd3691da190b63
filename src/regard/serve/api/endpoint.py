"""One declaration for each thing that can be asked for: it becomes a route and an entry of the OpenAPI document.

    request ─ read_values ─ admit ─ handler ─▶ JSON       a problem is written in the shape of the interface

The handler is cancelled when the client leaves. No traceback reaches a client: a fault of ours is 500 with a number
that stands in the log too.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.errors import RegardError
from regard.serve.errors import ServeError
from regard.serve.http.fields import Field, read_values
from regard.serve.http.request_body import close_files
from regard.serve.monitoring import notes_of
from regard.serve.services import Caller, Services
from regard.serve.state.documents import StoreFullError
from regard.serve.state.store import StateError

log = logging.getLogger("regard.serve")


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")


@dataclass(frozen=True)
class Interface:
    """One of the interfaces: what it is called, how it writes a problem, and where its clients put their key."""

    name: str
    problem: Callable[[ServeError], Mapping[str, Any]]
    key_of: Callable[[Request, Mapping[str, Any]], str | None]
    status_of: Callable[[ServeError], int] = lambda problem: problem.status


@dataclass(frozen=True)
class Call:
    """A request with its parameters read."""

    request: Request
    values: Mapping[str, Any]
    services: Services

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def caller(self) -> Caller:
        """Who asks; not of an endpoint that is open."""
        caller: Caller = self.request.state.caller
        return caller


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    interface: Interface
    summary: str
    handler: Handler
    fields: tuple[Field, ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)  # the JSON schema of what is answered
    status: int = 200
    answers: tuple[str, ...] = ("application/json",)
    open: bool = False  # answered without a key, and not counted: health, languages, the page
    charged: tuple[str, ...] = ("q", "text", "texts")  # fields whose characters are counted

    def route(self) -> Route:
        return Route(self.path, self._answer, methods=[self.method])

    async def _answer(self, request: Request) -> Response:
        services: Services = request.app.state.services
        try:
            values = await read_values(request, self.fields)
            call = Call(request, values, services)
            if not self.open:
                await services.admit(request, self.interface.key_of(request, values), self.texts_of(values))
            made = await while_connected(request, self.handler(call))
        except ServeError as problem:
            notes_of(request).refused = problem.reason
            await services.give_back(request, problem)
            return self.refusal(problem)
        except StateError as problem:
            log.error("%s %s is refused: %s", self.method, self.path, problem)
            return self.refusal(unable(problem))
        except RegardError as problem:
            await services.give_back(request, problem)
            return self.refusal(ServeError(400, str(problem)))
        except Exception:
            number = secrets.token_hex(4)
            log.exception("fault %s in %s %s", number, self.method, self.path)
            return self.refusal(ServeError(500, f"a fault of the server, number {number} in its log"))
        finally:
            await close_files(request)
        return made if isinstance(made, Response) else JsonResponse(made, self.status)

    def texts_of(self, values: Mapping[str, Any]) -> list[str]:
        """The texts that are counted."""
        given = [values.get(name) for name in self.charged]
        lists = [one if isinstance(one, list) else [one] for one in given]
        return [text for texts in lists for text in texts if isinstance(text, str)]

    def refusal(self, problem: ServeError) -> Response:
        body = self.interface.problem(problem)
        return JsonResponse(body, self.interface.status_of(problem), headers=problem.headers)


def unable(problem: StateError) -> ServeError:
    """The answer where the store fails: it does not name our folders."""
    full = isinstance(problem, StoreFullError)
    return ServeError(503, str(problem) if full else "the server cannot keep its state now; try again", retry_after=10)


async def while_connected(request: Request, work: Awaitable[Any]) -> Any:
    """The result of the work, which is cancelled if the client leaves before it is done."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task})
        raise ServeError(499, "the client has left")
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
