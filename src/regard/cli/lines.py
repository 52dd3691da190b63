"""Lines of text: read from a file or from standard input, written to a file or to standard output."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import BinaryIO, TextIO

from regard.errors import InputError

STDIN = STDOUT = Path("-")
PAUSE = 0.05  # seconds without a new line after which the lines so far are used


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a file; "-" is standard input. For scores a byte-order mark is a character like others."""
    from regard.data.text_files import decode_lines
    from regard.data.text_files import read_lines as read_file

    if path != STDIN:
        return read_file(path, keep_bom)
    if sys.stdin.isatty():
        print("regard: reading lines from the terminal; end with Ctrl-D", file=sys.stderr)
    return decode_lines(_standard_input(), "standard input", keep_bom)


def _standard_input() -> BinaryIO:
    """Standard input past `sys.stdin`: Python aborts if a thread still waits in that when the process ends."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # no file, as in a notebook
        return sys.stdin.buffer


def as_they_come(lines: Iterator[str], most: int) -> Iterator[list[str]]:
    """Lists of at most so many lines. A list ends where the next line lets wait for itself: who pipes one line in gets
    one list of it, and who pipes a file in gets full ones."""
    waiting: Queue[str | Exception | None] = Queue(2 * most)

    def read() -> None:
        try:
            for line in lines:
                waiting.put(line)
            waiting.put(None)
        except Exception as problem:
            waiting.put(problem)

    threading.Thread(target=read, daemon=True).start()
    ended = False
    while not ended:
        chunk: list[str] = []
        while len(chunk) < most:
            try:
                item = waiting.get(timeout=PAUSE if chunk else None)
            except Empty:
                break
            if isinstance(item, Exception):
                raise item
            if item is None:
                ended = True
                break
            chunk.append(item)
        if chunk:
            yield chunk


def check_output(path: Path | None, input: Path | None) -> None:
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"--out {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"--out {path} cannot be written: {path.parent} is not a folder")
    if input and path.is_file() and input.exists() and path.samefile(input):
        raise InputError(f"--out {path} is the input file; name another")


def write_output(path: Path | None, write_all: Callable[[TextIO], None]) -> None:
    from regard.data.compressed import COMPRESSED
    from regard.files import write_atomically

    if path is None:
        write_all(sys.stdout)
        return

    def write(place: Path) -> None:
        with COMPRESSED.get(path.suffix, open)(place, "wt", encoding="utf-8", newline="\n") as file:
            write_all(file)

    if path.exists() and not path.is_file():
        write(path)  # a pipe or a device: nothing may take its place
    else:
        write_atomically(path.resolve(), write)
