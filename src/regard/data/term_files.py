"""Glossaries and lists of words to keep from files: text, also compressed, read like a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.text.glossary import Glossary


def read_glossary(path: str | PathLike[str]) -> Glossary:
    """Source, tab, target on each line; # begins a comment line. Its `warnings` say what was listed twice."""
    return _read(path, Glossary.parse, "a term, a tab and its translation on each line")


def read_keep(path: str | PathLike[str]) -> Glossary:
    """One term a line, which stays as it is."""
    return _read(path, Glossary.parse_keep, "one term a line")


def _read(path: str | PathLike[str], parse: Callable[[Iterable[str], str], Glossary], wanted: str) -> Glossary:
    found = parse(read_lines(Path(path)), str(path))
    if not found:
        raise InputError(f"{path} lists no term; it must have {wanted}")
    return found
