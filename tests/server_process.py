"""`regard serve` as a process, for tests that kill, starve or overload it."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

MODEL = "en-fr-classic"
REGARD = (sys.executable, "-m", "regard")
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
SOON = 60.0


class Reply(NamedTuple):
    status: int
    body: Any
    headers: dict[str, str]


class ServerProcess:
    def __init__(
        self,
        *flags: str | Path,
        models: Sequence[str | Path] = (MODEL,),
        command: Sequence[str | Path] = REGARD,
        words: Sequence[str | Path] | None = None,  # another command than `serve`
        **options: Any,
    ) -> None:
        words = ["serve", *models, "--port", "0", *flags] if words is None else words
        self.process = subprocess.Popen(
            [*map(str, command), *map(str, words)], stderr=subprocess.PIPE, text=True, **options
        )
        self.lines: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := ADDRESS.search(line):
                self.port = int(found[1])
                break
        else:
            raise RuntimeError(f"the server did not start: {self.lines}")
        self._reader = threading.Thread(target=self.lines.extend, args=[self.process.stderr], daemon=True)
        self._reader.start()

    def ask(self, path: str, body: Any = None, timeout: float = SOON, method: str = "POST") -> Reply:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(connection):
            data = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else method, path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
            kind = answer.headers.get_content_type()
            read = json.loads(said) if kind == "application/json" else said.decode()
            return Reply(answer.status, read, {name.lower(): value for name, value in answer.headers.items()})

    def translate(self, text: str = "The cat is black.", **more: Any) -> Reply:
        return self.ask("/translate", {"q": text, "source": "en", "target": "fr", **more})

    def wait_until(self, holds: Callable[[], bool], seconds: float = SOON) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if holds():
                    return
            time.sleep(0.1)
        raise TimeoutError(self.lines[-20:])

    def metric(self, name: str) -> float:
        """The sum of a measurement over its labels."""
        lines = re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", self.ask("/metrics").body, re.MULTILINE)
        return sum(map(float, lines))

    @property
    def children(self) -> set[int]:
        pid = self.process.pid
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))

    @property
    def memory(self) -> float:
        """MB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * 4096 / 1e6

    def stop(self, *signals: int) -> int:
        """The exit code after these signals, or one SIGTERM."""
        for number, one in enumerate(signals or [signal.SIGTERM]):
            time.sleep(0.5 if number else 0)
            self.process.send_signal(one)
        return self.close()

    def close(self) -> int:
        """The exit code, with all lines read."""
        assert self.process.stderr is not None
        try:
            code = self.process.wait(SOON)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(SOON)
        self.process.stderr.close()
        return code


@contextlib.contextmanager
def running(*flags: str | Path, **options: Any) -> Iterator[ServerProcess]:
    server = ServerProcess(*flags, **options)
    try:
        server.wait_until(lambda: server.ask("/health").status == 200)
        yield server
    finally:
        if server.process.poll() is None:
            server.process.terminate()
        server.close()
