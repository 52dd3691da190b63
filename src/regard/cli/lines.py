"""What several commands read: lines from a file or from standard input, and numbers from words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from regard.config import describe, parse
from regard.errors import InputError

STDIN = Path("-")


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a file; of standard input, where "-" stands for a file. To a score a BOM is a letter like others."""
    from regard.data.corpus import decode_lines
    from regard.data.corpus import read_lines as read_file

    if path != STDIN:
        return read_file(path, keep_bom)
    if sys.stdin.isatty():
        print("regard: reading lines from the terminal; end with Ctrl-D", file=sys.stderr)
    return decode_lines(sys.stdin.buffer, "standard input", keep_bom)


def number(flag: str, kind: type) -> Callable[[Any], Any]:
    """A reader of one flag's value, with the same words for a mistake as a recipe has."""

    def read(word: Any) -> Any:
        try:
            return parse(str(word), kind)
        except ValueError:
            raise InputError(f'{flag} must be {describe(kind)}, but is "{word}"') from None

    return read
