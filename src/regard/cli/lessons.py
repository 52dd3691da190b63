"""`regard course`: lists the lessons, and opens one in a browser."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import webbrowser
from typing import Annotated

import typer

from regard.cli.options import FlagTable

USUAL_PORT = 8765  # the same each time, because a browser keeps what it remembers by address
FLAGS = FlagTable("""
--port N 0..65535   The port; 0 for one that is free.
--no-browser        Print the address, and open no browser.
""")


def course(
    number: Annotated[int | None, typer.Argument(metavar="[N]", help="A lesson; without one, they are listed.")] = None,
    port: Annotated[int | None, FLAGS("--port")] = None,
    no_browser: Annotated[bool, FLAGS("--no-browser")] = False,
) -> None:
    """Take the course: twelve lessons on how a translator works.

    Lists the lessons with what you will be able to do; with a number, serves the page to this machine alone and opens
    the lesson in a browser, at port 8765 if that is free. Solved exercises are kept in the user's data folder. Live
    views need PyTorch.

    \b
      regard course
      regard course 4
    """
    from regard.course.lessons.load import lesson
    from regard.course.lessons.progress import read_progress
    from regard.files import user_data

    progress = read_progress(user_data())
    if number is None:
        typer.echo(listing(progress), nl=False)
        return
    chosen = lesson(number)
    from regard.serve.run import serve
    from regard.serve.settings import LOOPBACK, ServeConfig

    def announce(address: str) -> None:
        place = f"{address}/#/lesson?lesson={chosen.number}"
        print(f"lesson {chosen.number}, {chosen.title}: {place}  (Ctrl-C stops it)", file=sys.stderr, flush=True)
        if not no_browser and has_screen():
            threading.Thread(target=webbrowser.open, args=[place], daemon=True).start()

    used = port if port is not None else (USUAL_PORT if is_free(LOOPBACK, USUAL_PORT) else 0)
    serve(ServeConfig(port=used, course=str(user_data())), announce)


def listing(progress: dict[str, dict[str, dict[str, object]]]) -> str:
    """The lessons with what is done."""
    from regard.course.lessons.load import lessons

    known = progress["lessons"]
    done = sum(one["done"] is True for one in known.values())
    lines = [f"{done} of {len(lessons())} lessons done. To open one: regard course N"]
    for one in lessons():
        own = known.get(str(one.number), {"done": False, "exercises": []})
        solved = f"{len(own['exercises'])} of {len(one.exercises)} exercises"  # type: ignore[arg-type]
        mark = "✓" if own["done"] else " "
        lines += ["", f"{mark} {one.number:2}  {one.title} · {one.minutes} minutes · {solved}"]
        lines += [f"      - {objective.replace('`', '').replace('*', '')}" for objective in one.objectives]
    return "\n".join(lines) + "\n"


def has_screen() -> bool:
    """Whether a browser would have a window: not in a plain terminal of Linux, where a text browser would take it."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def is_free(host: str, port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
