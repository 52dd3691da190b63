"""What may be given as a text or as several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from regard.errors import InputError


def checked_texts(texts: str | Iterable[str], method: str) -> list[str]:
    """One string or several as a list of strings."""
    if isinstance(texts, str):
        texts = [texts]
    wanted = f'{method} takes a string or an iterable of strings, such as ["The cat sleeps."]'
    if texts is None or isinstance(texts, bytes | bytearray | memoryview) or not isinstance(texts, Iterable):
        remedy = '; decode it first: .decode("utf-8")' if isinstance(texts, bytes | bytearray | memoryview) else ""
        raise InputError(f"{wanted}, but was given {_kind(texts)}{remedy}")
    lines = list(texts)
    for number, line in enumerate(lines):
        if not isinstance(line, str):
            raise InputError(f"{wanted}, but item {number} is {_kind(line)}")
    return lines


def checked_prefixes(prefix: str | Sequence[str], texts: object, count: int) -> list[str]:
    """One prefix for each text: the same for all, or as many as there are texts."""
    if isinstance(prefix, str):
        return [prefix] * count
    found = checked_texts(prefix, "prefix")
    if isinstance(texts, str) or len(found) != count:
        raise InputError(f"prefix must be one text, or one for each of the {count} texts, but there are {len(found)}")
    return found


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"
