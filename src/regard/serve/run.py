"""A server as a process: it listens, serves, and ends when it is told to, after what it has accepted."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette

from regard.errors import InputError
from regard.serve.settings import ServeConfig

SETTINGS = "REGARD_SERVE_SETTINGS"  # how worker processes are told
GRACE = 30  # seconds that accepted requests have after a signal
BACKLOG = 2048


def serve(config: ServeConfig) -> None:
    """Until a signal comes."""
    listening = listen(config)
    address = listening.getsockname()
    os.environ[SETTINGS] = json.dumps(dataclasses.asdict(config))
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    print(f"regard serves at http://{host}:{address[1]}  (Ctrl-C stops it)", file=sys.stderr, flush=True)
    settings = uvicorn.Config(
        "regard.serve.run:worker_app",
        factory=True,
        host=config.host,
        port=address[1],
        workers=config.workers,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=15,
        server_header=False,
        access_log=False,
        log_level="warning",
        http="h11",
    )
    if config.workers > 1:
        from uvicorn.supervisors import Multiprocess

        Multiprocess(settings, sockets=[listening]).run()
    else:
        uvicorn.Server(settings).run(sockets=[listening])


def worker_app() -> Starlette:
    """The application of this process, by the settings that the first process was given."""
    from regard.serve.app import create_app

    given: dict[str, Any] = json.loads(os.environ[SETTINGS])
    filled: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return create_app(ServeConfig(**filled))


def listen(config: ServeConfig) -> socket.socket:
    """A socket at the address, so that one that is taken is told before a model is loaded."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
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
