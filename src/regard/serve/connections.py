"""Connections that send no request, or send its head too slowly, are closed.

Uvicorn closes a connection that is idle after an answer; one that has not yet sent a whole head it keeps for ever, so
that a few thousand open connections would use up what the system allows. The head's size is bounded by h11.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the head of every request."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:  # a part of the next head, on a connection that is kept
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close_late)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_late(self) -> None:
        self._head_timer = None
        transport: Any = self.transport
        if self.conn.their_state is h11.IDLE and not transport.is_closing():
            transport.close()
