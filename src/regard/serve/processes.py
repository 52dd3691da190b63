"""How the server's processes end: after what they have accepted at the first signal, at once at the second.

A signal that ends a server is no fault: the exit code is 0, and 130 where a second signal cut requests off. A worker
that dies is replaced by its parent; the others go on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from types import FrameType

import uvicorn
from uvicorn.supervisors import Multiprocess

from regard.errors import RegardError
from regard.workers import usable_cores

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
