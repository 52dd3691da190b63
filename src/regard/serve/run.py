"""The server process: listens, serves, and stops at a signal.

The first signal closes the listening socket and lets accepted requests finish, for a limited time whatever still runs;
the second one ends the process at once. The exit code is 0, or 130 if a second signal interrupted requests. A worker
process that dies is replaced by its parent.
"""

from __future__ import annotations

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
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from regard.errors import InputError, RegardError
from regard.serve.pool import use_single_arena
from regard.serve.settings import ServeConfig
from regard.serve.state.server_state import state_folder
from regard.serve.state.store import Store
from regard.workers import usable_cores

SETTINGS = "REGARD_SERVE_SETTINGS"  # environment variable with the settings for worker processes
GRACE_SECONDS = 5  # from a signal to the forced end, beyond the timeout of a request
CLOSE_SECONDS = 2  # of these, to close models and state after the last request
HUNG_SECONDS = 60  # after which a worker that does not respond to its parent is replaced
BACKLOG = 2048
METRICS = "PROMETHEUS_MULTIPROC_DIR"


def announce(address: str) -> None:
    print(f"regard serves at {address}  (Ctrl-C stops it)", file=sys.stderr, flush=True)


def serve(config: ServeConfig, announce: Callable[[str], object] = announce) -> None:
    """Serve until a signal arrives. `announce` is called with the address when connections are accepted."""
    from regard.serve.pool import ModelPool

    ModelPool(config)  # raises configuration errors once, not in each worker
    with (
        listen(config) as listening,
        state_folder(None if config.state is None else Path(config.state)) as folder,
        metrics_folder(config.workers),
    ):
        Store(folder).close()  # raises before a model is loaded
        run(dataclasses.replace(config, state=str(folder)), listening, announce)


def run(config: ServeConfig, listening: socket.socket, announce: Callable[[str], object] = announce) -> None:
    """Serve on a socket until a signal arrives."""
    address = listening.getsockname()
    os.environ[SETTINGS] = json.dumps(dataclasses.asdict(config))
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    announce(f"http://{host}:{address[1]}")
    raise_file_limit()
    settings = uvicorn.Config(
        "regard.serve.run:worker_app",
        factory=True,
        host=config.host,
        port=address[1],
        workers=config.workers,
        backlog=BACKLOG,
        timeout_graceful_shutdown=math.ceil(config.timeout) + GRACE_SECONDS - CLOSE_SECONDS,
        timeout_keep_alive=15,
        timeout_worker_healthcheck=HUNG_SECONDS,
        server_header=False,
        access_log=False,
        log_level="warning",
        http="regard.serve.http.protocol:TimeoutProtocol",
    )
    if config.workers > 1:
        run_workers(settings, listening)
    else:
        run_server(settings, listening)


def worker_app() -> Starlette:
    """The application of a worker process, with the settings of its parent."""
    from regard.serve.app import create_app

    use_single_arena()
    given: dict[str, Any] = json.loads(os.environ[SETTINGS])
    log_to_standard_error(logging.INFO if given["course"] is None else logging.WARNING)
    stop_with_parent()
    filled: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return create_app(ServeConfig(**filled))


def log_to_standard_error(level: int) -> None:
    """Log one line for every request (INFO), or only for every problem (WARNING)."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("regard.serve")
    log.handlers, log.propagate = [handler], False
    log.setLevel(level)


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
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def start_timer(seconds: float, function: Callable[..., object], *args: object) -> None:
    """Call a function later, unless the process has ended: the loading of a model cannot be cancelled."""
    timer = threading.Timer(seconds, function, args)
    timer.daemon = True
    timer.start()


def stop_seconds(settings: uvicorn.Config) -> int:
    """The time from the first signal to the forced end."""
    return (settings.timeout_graceful_shutdown or 0) + CLOSE_SECONDS


class StoppableServer(uvicorn.Server):
    """Uvicorn's server, which ends some time after the first signal whatever still runs, and soon after any second one,
    not only after SIGINT."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # do not log cancelled tasks
            start_timer(EXIT_SECONDS, os._exit, INTERRUPTED)
        else:
            start_timer(stop_seconds(self.config), os._exit, 0)
        self.should_exit = True


class WorkerSupervisor(Multiprocess):
    """Uvicorn's supervisor of workers, which kills them at a second signal, or if they have not ended in time."""

    stopping = killed = interrupted = False

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        for number in STOP_SIGNALS:
            signal.signal(number, self.handle_stop)

    def handle_stop(self, number: int, frame: FrameType | None) -> None:
        if not self.stopping:  # the time runs from here: the supervisor may be waiting for a worker that hangs
            start_timer(stop_seconds(self.config), self.kill_all)
        self.stopping = True
        self.signal_queue.append(number)

    def handle_hup(self) -> None:  # uvicorn would restart the workers
        self.should_exit.set()

    def terminate_all(self) -> None:
        for listening in self.sockets:  # the copy of this process, which would let clients connect to nobody
            listening.close()
        super().terminate_all()

    def kill_all(self) -> None:
        self.killed = True
        for worker in self.processes:
            worker.process.kill()

    def join_all(self) -> None:
        self.signal_queue.clear()
        for worker in self.processes:
            while worker.process.is_alive():
                worker.process.join(0.1)
                if self.killed or self.signal_queue:  # again after the timer: a worker may have been replaced since
                    self.interrupted = bool(self.signal_queue)
                    self.kill_all()


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
    if not workers.killed and any(
        worker.exitcode not in (0, -signal.SIGTERM, -signal.SIGINT) for worker in workers.processes
    ):
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
