"""What endpoints use: the models, what translates and explains with them, and what lets requests in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.requests import Request

from regard.serve.explain_service import ExplainService
from regard.serve.pool import ModelPool
from regard.serve.service import TranslationService
from regard.serve.settings import ServeConfig


class Services:
    """What endpoints use."""

    def __init__(self, config: ServeConfig) -> None:
        self.config = config
        self.pool = ModelPool(config)
        self.translation = TranslationService(config, self.pool)
        self.explain = ExplainService(config, self.pool)

    async def admit(self, request: Request, key: str | None) -> None:
        """Let a request in that came with this key, or raise what refuses it."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self.pool.preload()), asyncio.create_task(self.pool.drop_idle())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            self.explain.close()
            await self.pool.close()
