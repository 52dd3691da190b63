"""Work in a process of its own, which ends when this one ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pickle import PicklingError
from typing import TypeVar

from regard.errors import RegardError

T = TypeVar("T")


class WorkerKilledError(RegardError):
    """A process of ours ended without an answer."""


def in_new_process(work: Callable[..., T], *given: object) -> T:
    """What `work(*given)` returns, computed in a fresh process. An exception there is raised here.

    KeyboardInterrupt here sends it SIGTERM and waits for it; a second one kills it. If this process is killed, that one
    gets SIGTERM too.
    """
    context = multiprocessing.get_context("spawn")
    connection, other_end = context.Pipe()
    process = context.Process(target=_serve, args=(other_end,))
    process.start()
    other_end.close()
    try:
        connection.send((work, given))
        failed, answer = connection.recv()
        process.join()
    except (EOFError, OSError):
        process.join()
        code = process.exitcode or 0
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        raise WorkerKilledError(f"a process of this command {how}; the usual cause is too little memory") from None
    except KeyboardInterrupt:
        process.terminate()
        process.join()
        raise
    finally:
        process.kill()
        process.join()
        connection.close()
    if failed:
        raise answer
    result: T = answer
    return result


def _serve(connection: Connection) -> None:
    """The other process: receive work, send back what it returns or raises."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches it too; the parent reports it
    end_with_parent()
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        work, given = connection.recv()
        try:
            answer = False, work(*given)
        except Exception as problem:
            problem.add_note("".join(traceback.format_exception(problem)))
            answer = True, problem
        try:
            connection.send(answer)
        except (TypeError, AttributeError, PicklingError):  # an exception that cannot be sent
            connection.send((True, RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))


def end_with_parent() -> None:
    """Send this process SIGTERM when its parent ends, however it ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
