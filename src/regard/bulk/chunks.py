"""The input of a file translation, cut into chunks. Where a chunk ends depends on the file alone, so that every run,
whatever its number of processes, cuts it in the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

LINES = 2000  # lines of a chunk, at most: enough to sort into full batches
BYTES = 1 << 20  # from this size on a chunk takes no further line
LONGEST = 16 << 20  # bytes from which on a paragraph of wrapped lines is cut at the end of a line


@dataclass(frozen=True)
class FileChunk:
    """Whole lines of a file, or whole rows of a table."""

    number: int  # from 0
    first: int  # how many texts come before it: lines, paragraphs or rows
    first_line: int  # the number of its first line, from 1
    texts: int
    lines: int
    data: Any  # the bytes of its lines, or a table of rows

    def __str__(self) -> str:
        """
        >>> print(FileChunk(1, 2000, 2001, 1500, 1500, b""))
        lines 2,001 to 3,500
        """
        return f"lines {self.first_line:,} to {self.first_line + self.lines - 1:,}"


def line_chunks(lines: Iterable[bytes], wrapped: bool = False) -> Iterator[FileChunk]:
    """Chunks of lines. With `wrapped` a text is a paragraph (the lines up to a blank one) or a blank line, and a chunk
    holds whole paragraphs."""
    number = first = texts = size = 0
    first_line = 1
    held: list[bytes] = []
    inside = False  # a paragraph has begun and not ended
    for line in lines:
        blank = wrapped and not line.decode("utf-8", "replace").strip()
        full = len(held) >= LINES or size >= BYTES
        if held and full and (not wrapped or blank or not inside or size >= LONGEST):
            yield FileChunk(number, first, first_line, texts, len(held), b"".join(held))
            number, first, first_line = number + 1, first + texts, first_line + len(held)
            held, texts, size, inside = [], 0, 0, False
        texts += blank or not (wrapped and inside)
        inside = not blank
        held.append(line)
        size += len(line)
    yield FileChunk(number, first, first_line, texts, len(held), b"".join(held))


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Lines up to the next blank one as one text; a blank line is a text of its own."""
    some: list[str] = []
    for line in lines:
        if line.strip():
            some.append(line)
            continue
        if some:
            yield "\n".join(some)
        some = []
        yield line
    if some:
        yield "\n".join(some)
