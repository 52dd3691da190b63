"""The HTTP protocol of a connection: one that sends no request, or a request too slowly or in tiny parts, is closed."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.serve.http.guard import GuardConfig

MAX_HEAD_BYTES = 64 * 1024  # of a request before its body
HEAD_SECONDS = 15.0
MAX_TINY_CHUNKS, TINY_BYTES = 1_000, 256  # of a body in chunks: this many may be smaller than this on average
MAX_DROPPED_BYTES = 2 * GuardConfig.body_bytes  # of the bodies of answered requests on a connection
BODY_SECONDS = GuardConfig.body_seconds + 1.0  # until then the guard answers 408, if the application reads the body


class ChunkLimitConnection(h11.Connection):
    """h11's state of a connection, which refuses bodies of many tiny chunks: h11 takes as long for a chunk of one byte
    as for one of thousands, and reads all chunks that have arrived before the event loop goes on."""

    _chunks = _bytes = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            if self._chunks > MAX_TINY_CHUNKS + self._bytes // TINY_BYTES:
                raise h11.RemoteProtocolError(f"chunks of less than {TINY_BYTES} bytes")
        elif isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        return event


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 with time limits for the head and the body of every request. Uvicorn closes an idle connection, but
    keeps one without a complete first head forever, and reads the body of an answered request to its end, however
    slowly it comes; h11 limits the size of the head."""

    _timer: asyncio.TimerHandle | None = None
    _timed: object = None  # what the timer is for: the head or the body of which request
    _dropped_bytes = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = ChunkLimitConnection(h11.SERVER, MAX_HEAD_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._set_timer()
        # Many clients read an early answer, such as 413, only after they have sent the body, so it is read and dropped.
        if self.cycle and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._dropped_bytes += len(data)
            if self._dropped_bytes > MAX_DROPPED_BYTES:
                self.transport.close()

    def send_400_response(self, msg: str) -> None:
        with contextlib.suppress(h11.LocalProtocolError):  # the response to this request has begun
            super().send_400_response(msg)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _set_timer(self) -> None:
        state = self.conn.their_state
        if (state, self.cycle) != self._timed:
            self._stop_timer()
            self._timed = state, self.cycle
            if seconds := {h11.IDLE: HEAD_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state):
                self._timer = self.loop.call_later(seconds, self._close_late, state)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self, state: object) -> None:
        transport: Any = self.transport
        if self.conn.their_state is state and not transport.is_closing():
            transport.close()
