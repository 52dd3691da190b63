"""The server process: listens, serves, and stops at a signal.

The first signal lets accepted requests finish, the second one ends the process at once. The exit code is 0, or 130 if a
second signal interrupted requests. A worker process that dies is replaced by its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import math
import multiprocessing
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
from regard.serve.pool import use_single_arena
from regard.serve.settings import ServeConfig
from regard.serve.state.server_state import state_folder
from regard.serve.state.store import Store
from regard.workers import usable_cores

SETTINGS = "REGARD_SERVE_SETTINGS"  # environment variable with the settings for worker processes
GRACE_SECONDS = 5  # for accepted requests after a signal, beyond the timeout of a request
HUNG_SECONDS = 60  # after which a worker that does not respond to its parent is replaced
BACKLOG = 2048
MAX_HEAD_BYTES = 64 * 1024  # of a request before its body
METRICS = "PROMETHEUS_MULTIPROC_DIR"


def serve(config: ServeConfig) -> None:
    """Serve until a signal arrives."""
    from regard.serve.pool import ModelPool

    ModelPool(config)  # raises configuration errors once, not in each worker
    with (
        listen(config) as listening,
        state_folder(None if config.state is None else Path(config.state)) as folder,
        metrics_folder(config.workers),
    ):
        Store(folder).close()  # raises before a model is loaded
        run(dataclasses.replace(config, state=str(folder)), listening)


def run(config: ServeConfig, listening: socket.socket) -> None:
    """Serve on a socket until a signal arrives."""
    address = listening.getsockname()
    os.environ[SETTINGS] = json.dumps(dataclasses.asdict(config))
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    print(f"regard serves at http://{host}:{address[1]}  (Ctrl-C stops it)", file=sys.stderr, flush=True)
    raise_file_limit()
    settings = uvicorn.Config(
        "regard.serve.run:worker_app",
        factory=True,
        host=config.host,
        port=address[1],
        workers=config.workers,
        backlog=BACKLOG,
        timeout_graceful_shutdown=math.ceil(config.timeout) + GRACE_SECONDS,
        timeout_keep_alive=15,
        timeout_worker_healthcheck=HUNG_SECONDS,
        server_header=False,
        access_log=False,
        log_level="warning",
        http="regard.serve.run:HeadTimeoutProtocol",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    if config.workers > 1:
        run_workers(settings, listening)
    else:
        run_server(settings, listening)


def worker_app() -> Starlette:
    """The application of a worker process, with the settings of its parent."""
    from regard.serve.app import create_app

    use_single_arena()
    log_to_standard_error()
    stop_with_parent()
    given: dict[str, Any] = json.loads(os.environ[SETTINGS])
    filled: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return create_app(ServeConfig(**filled))


def log_to_standard_error() -> None:
    """Log one line for every request and every problem."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("regard.serve")
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)


@contextlib.contextmanager
def metrics_folder(workers: int) -> Iterator[None]:
    """A folder for the metrics of several workers; a single process keeps them in memory."""
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
    """Return a listening socket; raises before a model is loaded if the address is in use."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # With an explicit IPPROTO_TCP, since asyncio sets TCP_NODELAY only then; without it a client with a persistent
    # connection waits 40 ms for the second packet of every response.
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


MAX_FILES = 65_536  # maximum open connections and files of a process
EXIT_SECONDS = 2.0  # from the second signal to the forced end
INTERRUPTED = 130
THREADS = "OMP_NUM_THREADS"


class StoppableServer(uvicorn.Server):
    """Uvicorn's server, which ends at any second signal, not only at SIGINT."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # do not log cancelled tasks
            timer = threading.Timer(
                EXIT_SECONDS, os._exit, [INTERRUPTED]
            )  # a search or the loading of a model cannot be cancelled
            timer.daemon = True
            timer.start()
        self.should_exit = True


class WorkerSupervisor(Multiprocess):
    """Uvicorn's supervisor of workers, which kills them at a second signal."""

    interrupted = False

    def handle_hup(self) -> None:  # uvicorn would restart the workers
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
    """Serve in this process until a signal arrives."""
    server = StoppableServer(settings)
    with stop_on_hangup(server):
        server.run(sockets=[listening])
    if not server.started:
        raise RegardError("the server could not start; the lines above say why")
    if server.force_exit:
        raise KeyboardInterrupt


def run_workers(settings: uvicorn.Config, listening: socket.socket) -> None:
    """Serve in several processes until a signal arrives. The cores are divided among them."""
    os.environ.setdefault(THREADS, str(max(1, usable_cores() // settings.workers)))
    workers = WorkerSupervisor(settings, sockets=[listening])
    workers.run()
    if workers.interrupted:
        raise KeyboardInterrupt
    if any(worker.exitcode not in (0, -signal.SIGTERM, -signal.SIGINT) for worker in workers.processes):
        raise RegardError("a worker could not start, or did not end by itself; the lines above say why")


def stop_with_parent() -> None:
    """Stop a worker, which holds the listening socket, when its parent is killed."""
    if (parent := multiprocessing.parent_process()) is not None:

        def wait() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=wait, daemon=True).start()


@contextlib.contextmanager
def stop_on_hangup(server: StoppableServer) -> Iterator[None]:
    """Stop the server when its terminal is closed, unless SIGHUP is ignored, as by nohup."""
    number = getattr(signal, "SIGHUP", None)  # not on Windows
    if number is None or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(number, before)


def raise_file_limit() -> None:
    """Raise the limit of open files as far as the system allows; a shell often sets 1,024."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


# ── connections: one that sends no request, or its head too slowly, is closed ─────────────────────────────────────────


HEAD_SECONDS = 15.0


class HeadTimeoutProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the head of every request. Uvicorn closes an idle connection, but keeps one
    without a complete first head forever; h11 limits the size of the head."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:  # a part of the next head, on a persistent connection
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
