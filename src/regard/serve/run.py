"""The server as a process: it listens, serves, and stops at a signal.

The first signal lets accepted requests finish, the second one ends the process at once. The exit code is 0, or 130
where a second signal cut requests off. A worker process that dies is replaced by its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import math
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from regard.errors import InputError, RegardError
from regard.serve.pool import use_one_heap
from regard.serve.settings import ServeConfig
from regard.serve.state.server_state import state_folder
from regard.serve.state.store import Store
from regard.workers import usable_cores

SETTINGS = "REGARD_SERVE_SETTINGS"  # how worker processes are told
GRACE = 5  # seconds that accepted requests have after a signal, beyond the longest that a request may take
HUNG = 60  # seconds after which a worker that does not answer its parent is replaced; a busy machine is slow
BACKLOG = 2048
LARGEST_HEAD = 64 * 1024  # bytes of a request before its body
METRICS = "PROMETHEUS_MULTIPROC_DIR"


def serve(config: ServeConfig) -> None:
    """Until a signal comes."""
    from regard.serve.pool import ModelPool

    ModelPool(config)  # what is wrong with the models is told once, not by each worker
    with (
        listen(config) as listening,
        state_folder(None if config.state is None else Path(config.state)) as folder,
        metrics_folder(config.workers),
    ):
        Store(folder).close()  # what is wrong with it is told before a model is loaded
        run(dataclasses.replace(config, state=str(folder)), listening)


def run(config: ServeConfig, listening: socket.socket) -> None:
    """Serve at a socket until a signal comes."""
    address = listening.getsockname()
    os.environ[SETTINGS] = json.dumps(dataclasses.asdict(config))
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    print(f"regard serves at http://{host}:{address[1]}  (Ctrl-C stops it)", file=sys.stderr, flush=True)
    allow_connections()
    settings = uvicorn.Config(
        "regard.serve.run:worker_app",
        factory=True,
        host=config.host,
        port=address[1],
        workers=config.workers,
        backlog=BACKLOG,
        timeout_graceful_shutdown=math.ceil(config.timeout) + GRACE,
        timeout_keep_alive=15,
        timeout_worker_healthcheck=HUNG,
        server_header=False,
        access_log=False,
        log_level="warning",
        http="regard.serve.run:TimedProtocol",
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    if config.workers > 1:
        run_workers(settings, listening)
    else:
        run_server(settings, listening)


def worker_app() -> Starlette:
    """The application of this process, by the settings that the first process was given."""
    from regard.serve.app import create_app

    use_one_heap()
    log_to_standard_error()
    given: dict[str, Any] = json.loads(os.environ[SETTINGS])
    filled: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return create_app(ServeConfig(**filled))


def log_to_standard_error() -> None:
    """One line for every request, and for what goes wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("regard.serve")
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)


@contextlib.contextmanager
def metrics_folder(workers: int) -> Iterator[None]:
    """Where workers count together; one process counts in its memory."""
    if workers == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="regard-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ[METRICS] = folder
        try:
            yield
        finally:
            del os.environ[METRICS]


def listen(config: ServeConfig) -> socket.socket:
    """A socket at the address, so that one that is taken is told before a model is loaded."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # Named as TCP, since asyncio sends at once (TCP_NODELAY) only where it is; else a client that keeps its connection
    # waits 40 ms for the second packet of every answer.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((config.host, config.port))
    except OSError as problem:
        made.close()
        raise InputError(
            f"cannot listen at {config.host}, port {config.port}: {problem.strerror or problem}", parameter="port"
        ) from None
    made.listen(BACKLOG)
    made.set_inheritable(True)
    return made


# ── signals and processes ─────────────────────────────────────────────────────────────────────────────────────────────


MOST_FILES = 65_536  # open connections and files of a process, where the system allows so many
AT_ONCE = 2.0  # seconds from the second signal to the end, whatever still runs
INTERRUPTED = 130
THREADS = "OMP_NUM_THREADS"


class ServedProcess(uvicorn.Server):
    """Uvicorn's server, ended by any second signal, not by SIGINT alone."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # tasks that are cut off are no news
            timer = threading.Timer(AT_ONCE, os._exit, [INTERRUPTED])  # a search or a loading model cannot be stopped
            timer.daemon = True
            timer.start()
        self.should_exit = True


class ServedWorkers(Multiprocess):
    """Uvicorn's parent of workers, which kills them at a second signal."""

    interrupted = False

    def handle_hup(self) -> None:  # uvicorn would replace the workers, and outlive the terminal
        self.should_exit.set()

    def join_all(self) -> None:
        self.signal_queue.clear()
        for worker in self.processes:
            while worker.process.is_alive():
                worker.process.join(0.1)
                if self.signal_queue and not self.interrupted:
                    self.interrupted = True
                    for other in self.processes:
                        other.process.kill()


def run_server(settings: uvicorn.Config, listening: socket.socket) -> None:
    """Serve in this process until a signal comes."""
    server = ServedProcess(settings)
    with hang_up_ends(server):
        server.run(sockets=[listening])
    if not server.started:
        raise RegardError("the server could not start; the lines above say why")
    if server.force_exit:
        raise KeyboardInterrupt


def run_workers(settings: uvicorn.Config, listening: socket.socket) -> None:
    """Serve in several processes until a signal comes. They divide the cores among themselves."""
    os.environ.setdefault(THREADS, str(max(1, usable_cores() // settings.workers)))
    workers = ServedWorkers(settings, sockets=[listening])
    workers.run()
    if workers.interrupted:
        raise KeyboardInterrupt
    if any(worker.exitcode not in (0, -signal.SIGTERM, -signal.SIGINT) for worker in workers.processes):
        raise RegardError("a worker could not start, or did not end by itself; the lines above say why")


@contextlib.contextmanager
def hang_up_ends(server: ServedProcess) -> Iterator[None]:
    """A terminal that is closed ends the server like any signal, unless the caller ignores it, as nohup does."""
    number = getattr(signal, "SIGHUP", None)  # not on Windows
    if number is None or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(number, before)


def allow_connections() -> None:
    """Raise the number of open files to what the system allows this process; a shell often allows 1,024."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


# ── connections ───────────────────────────────────────────────────────────────────────────────────────────────────────


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
