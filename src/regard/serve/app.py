"""The ASGI application: all endpoints, with services that start and stop with it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import Scope

from regard.serve import monitoring
from regard.serve.api import deepl, deepl_stored, libretranslate
from regard.serve.api.api_common import OWN
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.openapi import known_names, openapi
from regard.serve.api.own import exercises, explain, lessons, tools, training, translate
from regard.serve.errors import ServeError
from regard.serve.http.guard import GuardConfig, HttpGuard
from regard.serve.monitoring import RequestRecord, log_request
from regard.serve.page.page_files import allowed_inline, page_routes
from regard.serve.services import Services
from regard.serve.settings import ServeConfig


async def ready(call: Call) -> dict[str, Any]:
    if not call.services.pool.ready:
        raise ServeError(503, "models are still being loaded", retry_after=2)
    return {"status": "ready"}


async def metrics(call: Call) -> Response:
    body = await anyio.to_thread.run_sync(monitoring.exposition)
    return Response(body, media_type=monitoring.CONTENT_TYPE_LATEST)


async def spec(call: Call) -> dict[str, Any]:
    return openapi(ENDPOINTS, known_names(call.services.pool), call.services.config.keys)


ENDPOINTS: tuple[Endpoint, ...] = (
    *libretranslate.ENDPOINTS,
    *deepl.ENDPOINTS,
    *deepl_stored.ENDPOINTS,
    *translate.ENDPOINTS,
    *explain.ENDPOINTS,
    *lessons.ENDPOINTS,
    *training.ENDPOINTS,
    *exercises.ENDPOINTS,
    *tools.ENDPOINTS,
    Endpoint("GET", "/ready", OWN, "Whether the models that are loaded at the start are there", ready, public=True),
    Endpoint("GET", "/metrics", OWN, "Measurements for Prometheus", metrics, media_type="text/plain", public=True),
    Endpoint("GET", "/spec", OWN, "This document", spec, public=True),
)


def guard_config(config: ServeConfig) -> GuardConfig:
    return GuardConfig(config.host, config.host_names, config.cors, *allowed_inline(), config.body)


def finished(scope: Scope, record: RequestRecord, status: int, seconds: float) -> None:
    log_request(scope, record, status, seconds)
    monitoring.count_request(scope, record, status, seconds)


def create_app(config: ServeConfig | None = None) -> Starlette:
    services = Services(config or ServeConfig())

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with services.running():
            yield

    routes = [*(endpoint.route() for endpoint in ENDPOINTS), *page_routes()]
    guard = Middleware(HttpGuard, config=guard_config(services.config), finished=finished)
    compress = Middleware(GZipMiddleware, minimum_size=1000, compresslevel=6)
    app = Starlette(routes=routes, middleware=[guard, compress], lifespan=lifespan)
    app.state.services = services
    return app
