"""Reads lines of text from a file or standard input, and writes them to a file or standard output."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any, BinaryIO

from regard.errors import InputError

STDIN = STDOUT = Path("-")
PAUSE = 0.05  # seconds without a new line after which the available lines are used


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a file; "-" is standard input. `keep_bom`: keep a byte-order mark as a character."""
    from regard.data.text_files import decode_lines
    from regard.data.text_files import read_lines as read_file

    if path != STDIN:
        return read_file(path, keep_bom)
    if sys.stdin.isatty():
        print("regard: reading lines from the terminal; end with Ctrl-D", file=sys.stderr)
    return decode_lines(_standard_input(), "standard input", keep_bom)


def _standard_input() -> BinaryIO:
    """Standard input without `sys.stdin`: Python aborts if a thread still waits in that when the process ends."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # not a file, as in a notebook
        return sys.stdin.buffer


def available_chunks(lines: Iterator[str], most: int) -> Iterator[list[str]]:
    """Yield lists of at most `most` lines, read in a thread. A list ends early if no further line arrives within PAUSE
    seconds, so that a piped line is used before the next one is written."""
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
    """Raise InputError if --out is a folder or the input file, or if its folder does not exist."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"--out {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"--out {path} cannot be written: {path.parent} is not a folder")
    if input and path.is_file() and input.exists() and path.samefile(input):
        raise InputError(f"--out {path} is the input file; name another")


def write_output(path: Path | None, write_all: Callable[[Any], Any], binary: bool = False) -> None:
    """Call `write_all` with a text stream, or a `binary` one: a file, compressed by its suffix, that is created when
    all is written, or standard output if the path is None."""
    from regard.data.compressed import COMPRESSED
    from regard.files import write_atomically

    if path is None:
        sys.stdout.flush()
        write_all(getattr(sys.stdout, "buffer") if binary else sys.stdout)  # noqa: B009 - a terminal's is wrapped
        sys.stdout.flush()
        return
    mode: dict[str, Any] = {"mode": "wb"} if binary else {"mode": "wt", "encoding": "utf-8", "newline": "\n"}

    def write(place: Path) -> None:
        with COMPRESSED.get(path.suffix, open)(place, **mode) as file:
            write_all(file)

    if path.exists() and not path.is_file():
        write(path)  # a pipe or a device is not replaced
    else:
        write_atomically(path.resolve(), write)
