"""Connections: one that sends a request too slowly or in tiny parts is closed, and others are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import h11
import pytest
import uvicorn

from regard.serve.http import protocol
from regard.serve.http.protocol import TimeoutProtocol


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(0.1)  # longer than a head may take
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def serve_hello(clients: Callable[[int], Awaitable[None]]) -> None:
    """Run clients of a server, which are given its port."""

    async def main() -> None:
        config = uvicorn.Config(hello, port=0, http=TimeoutProtocol, lifespan="off", log_level="critical")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(clients(server.servers[0].sockets[0].getsockname()[1]), 20)
        server.should_exit = True
        await task

    asyncio.run(main())


def test_a_head_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.05)

    async def send(port: int) -> None:
        whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for first, then in ((b"", b""), (b"GET / HT", b""), (whole, b"GET / HT")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            if then:
                assert b"200 OK" in await reader.readuntil(b"hello")
                writer.write(then)
            assert b"hello" not in await reader.read()  # until the server closes it
            writer.close()

    serve_hello(send)


def test_a_body_that_nobody_reads_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is answered before its body, of which a byte comes now and then."""
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.3)

    async def send(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"hello")
        while not (reader.at_eof() or reader.exception()):  # closed, or reset because a byte was still on its way
            writer.write(b"a")
            await asyncio.sleep(0.02)
        writer.close()

    serve_hello(send)


def test_tiny_chunks_are_refused() -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

    def read(chunk: bytes, count: int) -> int:
        connection = protocol.ChunkLimitConnection(h11.SERVER, protocol.MAX_HEAD_BYTES)
        connection.receive_data(head + (b"%x\r\n%s\r\n" % (len(chunk), chunk)) * count + b"0\r\n\r\n")
        return sum(isinstance(event, h11.Data) for event in iter(connection.next_event, h11.NEED_DATA))

    assert [read(b"a", 1000), read(b"a" * 300, 3000)] == [1000, 3000]
    with pytest.raises(h11.RemoteProtocolError, match="256 bytes"):
        read(b"a", 2000)

    async def send(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"1\r\na\r\n" * 5000)
        assert b"hello" not in await reader.read()  # until the server closes it
        writer.close()

    serve_hello(send)


@pytest.mark.parametrize("most", [10**8, 10**6])
def test_the_body_of_an_answered_request_is_dropped_up_to_a_limit(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends 20 MB before it reads gets its answer, unless that is more than the server drops."""
    monkeypatch.setattr(protocol, "MAX_DROPPED_BYTES", most)

    async def send(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000000\r\n\r\n")
        try:
            for _ in range(200):
                writer.write(b"x" * 100_000)
                await writer.drain()
                await asyncio.sleep(0.002)  # so that the answer comes before the end of the body
            complete = b"hello" in await reader.readuntil(b"hello")
        except (ConnectionError, asyncio.IncompleteReadError):
            complete = False
        writer.close()
        assert complete == (most > 20_000_000)

    serve_hello(send)
