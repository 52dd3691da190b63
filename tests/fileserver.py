"""A file server on this machine that can do what real ones do: ranges, missing files, connections that break."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Headers = dict[str, str]


@dataclass
class FileServer:
    files: dict[str, bytes]
    ranges: bool = True
    cut_after: int | None = None  # bytes of an answer before the connection breaks
    lengths: bool = True  # whether an answer says how long it is; if not, it ends where the connection does
    url: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # (name, Range) of every request

    @contextmanager
    def running(self) -> Iterator[FileServer]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/files"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        files = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name, span = self.path.rpartition("/")[2], self.headers["Range"]
                files.asked.append((name, span))
                if name not in files.files:
                    self.send_error(404)
                    return
                self.answer(files.files[name], int(span[6:-1]) if span and files.ranges else None)

            def answer(self, content: bytes, start: int | None) -> None:
                if start is not None and start >= len(content):
                    self.reply(416, {"Content-Range": f"bytes */{len(content)}"}, b"")
                elif start is not None:
                    span = f"bytes {start}-{len(content) - 1}/{len(content)}"
                    self.reply(206, {"Content-Range": span}, content[start:])
                else:
                    self.reply(200, {}, content)

            def reply(self, status: int, headers: Headers, body: bytes) -> None:
                self.send_response(status)
                length = {"Content-Length": str(len(body))} if files.lengths else {}
                for name, value in {**length, **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: files.cut_after])
                self.close_connection = True

            def log_message(self, *words: object) -> None:
                pass

        return Handler
