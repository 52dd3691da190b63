"""The listening socket."""

from __future__ import annotations

import asyncio
import socket

from regard.serve.run import listen
from regard.serve.settings import ServeConfig


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
