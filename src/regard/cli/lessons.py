"""`regard course`: lists the lessons, and opens one in a browser; `regard course export` writes them as files."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regard.cli.options import FlagTable
from regard.cli.subcommands import OuterCommand

USUAL_PORT = 8765  # the same each time, because a browser keeps what it remembers by address
FLAGS = FlagTable("""
--port N 0..65535   The port; 0 for one that is free.
--no-browser        Print the address, and open no browser.
""")
EXPORT_FLAGS = FlagTable("""
--as             What to write: notebook (a folder of Jupyter notebooks, one for each lesson), slides (one file with
                 reveal.js, which needs no network) or html (one page, to read and to print).
--lessons N-M,…  Only these lessons, such as 4 or 1-3,12.  [default: all]
--out PATH       A folder for notebooks, otherwise a file.
                 [default: course-notebooks, course-slides.html or course.html]
""")
inner = typer.Typer(rich_markup_mode=None)


class CourseCommand(OuterCommand):
    """`regard course`, with the subcommand `export`."""

    inner, subcommands = inner, ("export",)


def course(
    number: Annotated[int | None, typer.Argument(metavar="[N]", help="A lesson; without one, they are listed.")] = None,
    port: Annotated[int | None, FLAGS("--port")] = None,
    no_browser: Annotated[bool, FLAGS("--no-browser")] = False,
) -> None:
    """Take the course: twelve lessons on how a translator works.

    Lists the lessons with what you will be able to do; with a number, serves the page to this machine alone and opens
    the lesson in a browser, at port 8765 if that is free. Solved exercises are kept in the user's data folder. Live
    views need PyTorch.

    For teachers `regard course export` writes the lessons as notebooks, slides or a page.

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
        import threading
        import webbrowser

        place = f"{address}/#/lesson?lesson={chosen.number}"
        print(f"lesson {chosen.number}, {chosen.title}: {place}  (Ctrl-C stops it)", file=sys.stderr, flush=True)
        if not no_browser and has_screen():
            threading.Thread(target=webbrowser.open, args=[place], daemon=True).start()

    used = port if port is not None else (USUAL_PORT if is_free(LOOPBACK, USUAL_PORT) else 0)
    serve(ServeConfig(port=used, course=str(user_data())), announce)


@inner.command()
def export(
    form: Annotated[Literal["notebook", "slides", "html"], EXPORT_FLAGS("--as")],
    chosen: Annotated[str | None, EXPORT_FLAGS("--lessons")] = None,
    out: Annotated[Path | None, EXPORT_FLAGS("--out")] = None,
) -> None:
    """Write lessons as notebooks, slides or a page.

    For teachers. Texts, commands with what they print, and exercises are those of the lessons; answers are folded away,
    on slides they appear with the next key. Live views become their captions: show them with regard course N. Notebooks
    run on any machine with regard[torch]; the other two are files that open in a browser and load nothing.

    \b
      regard course export --as notebook --out notebooks
      regard course export --as slides --lessons 1-3,12 --out lecture.html
    """
    from regard.course.lessons.export import chosen_numbers, export_lessons
    from regard.course.lessons.load import lesson, lessons

    numbers = chosen_numbers(chosen, len(lessons())) if chosen else range(1, len(lessons()) + 1)
    for path in export_lessons([lesson(number) for number in numbers], form, out):
        typer.echo(f"{path}: {path.stat().st_size / 1000:,.0f} kB")


def listing(progress: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The lessons with what is done."""
    from regard.course.lessons.load import lessons

    known = progress["lessons"]
    done = sum(one["done"] for one in known.values())
    lines = [f"{done} of {len(lessons())} lessons done. To open one: regard course N"]
    for one in lessons():
        own = known.get(str(one.number), {"done": False, "exercises": []})
        solved = f"{len(own['exercises'])} of {len(one.exercises)} exercises"
        mark = "✓" if own["done"] else " "
        lines += ["", f"{mark} {one.number:2}  {one.title} · {one.minutes} minutes to read · {solved}"]
        lines += [f"      - {objective.replace('`', '').replace('*', '')}" for objective in one.objectives]
    return "\n".join(lines) + "\n"


def has_screen() -> bool:
    """Whether a browser would have a window: not in a plain terminal of Linux, where a text browser would take it."""
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def is_free(host: str, port: int) -> bool:
    import socket

    with contextlib.closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
