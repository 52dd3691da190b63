"""Connections: one that sends no whole head is closed, and one that does is answered."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvicorn

from regard.serve import run
from regard.serve.run import TimeoutProtocol, listen
from regard.serve.settings import ServeConfig


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(0.1)  # longer than a head may take
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_head_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "HEAD_SECONDS", 0.05)

    async def main() -> None:
        config = uvicorn.Config(hello, port=0, http=TimeoutProtocol, lifespan="off", log_level="critical")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for first, then in ((b"", b""), (b"GET / HT", b""), (whole, b"GET / HT")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            if then:
                assert b"200 OK" in await reader.readuntil(b"hello")
                writer.write(then)
            assert b"hello" not in await reader.read()  # until the server closes it
            writer.close()
        server.should_exit = True
        await task

    asyncio.run(main())


def test_answers_are_sent_at_once() -> None:
    """Without TCP_NODELAY the body waits until the client has acknowledged the head, which it does 40 ms later."""
    found: list[int] = []

    def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def main() -> None:
        listening = listen(ServeConfig(port=0))
        async with await asyncio.start_server(note, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await reader.read()
            writer.close()

    asyncio.run(main())
    (nodelay,) = found
    assert nodelay
