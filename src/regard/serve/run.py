"""A server as a process: it listens, serves, and ends when it is told to, after what it has accepted."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import math
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette

from regard.errors import InputError
from regard.serve.memory import use_one_heap
from regard.serve.processes import allow_connections, run_server, run_workers
from regard.serve.settings import ServeConfig
from regard.serve.state.folder import state_folder
from regard.serve.state.store import Store

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
        http="regard.serve.connections:TimedProtocol",
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
