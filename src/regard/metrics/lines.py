"""Checks of the lines to be scored: as many references as hypotheses, or an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from regard.config import nearest
from regard.errors import InputError
from regard.metrics.base import References

Stream = list[str | None]


def unknown(what: str, given: str, known: Iterable[str]) -> InputError:
    names = list(known)
    hint = nearest(str(given), names)
    return InputError(
        f'unknown {what} "{given}"; {hint}' + ("" if "known:" in hint else f" (known: {', '.join(names)})")
    )


def checked_lines(hypotheses: Sequence[str], references: References) -> tuple[list[str], list[Stream]]:
    """Hypotheses, and reference streams as long as they are; or an error that says what is wrong."""
    lines = _texts(hypotheses, "hypotheses")
    if not lines:
        raise InputError("there are no hypotheses to score")
    several = not isinstance(references, str) and any(not isinstance(given, str) for given in references)
    streams: list[Stream]
    if several:
        streams = [_texts(stream, f"reference stream {n}", gaps=True) for n, stream in enumerate(references, start=1)]
    else:
        streams = [_texts(references, "references")]
    if not any(streams):
        raise InputError("there are no references to score against")
    lengths = [len(stream) for stream in streams]
    for number, length in enumerate(lengths, start=1):
        if length != len(lines):
            what = f"lines in reference stream {number}" if several else "references"
            hint = ""
            if len(streams) == len(lines) and len(set(lengths)) == 1:
                hint = "; give references stream by stream, not line by line: list(zip(*references))"
            raise InputError(f"each hypothesis needs its reference: {len(lines)} hypotheses, {length} {what}{hint}")
    for number, some in enumerate(zip(*streams, strict=True), start=1):
        if all(reference is None for reference in some):
            raise InputError(f"line {number} has no reference in any of {len(streams)} streams; it needs one")
    return lines, streams


def reference_count(streams: Sequence[Stream]) -> int | None:
    """References of each line; None if lines have different numbers of them ("var" in sacreBLEU)."""
    if all(None not in stream for stream in streams):
        return len(streams)
    counts = {sum(reference is not None for reference in some) for some in zip(*streams, strict=True)}
    return counts.pop() if len(counts) == 1 else None


def looks_tokenised(lines: Sequence[str]) -> bool:
    """sacreBLEU's sign of text that was not detokenised: 100 lines end in " ."."""
    return sum(line.endswith(" .") for line in lines) >= 100


def _texts(given: Any, what: str, gaps: bool = False) -> list[Any]:
    if isinstance(given, str):
        raise InputError(f"{what} must be a list of lines, but is a single string; write [{given[:30]!r}]")
    if not isinstance(given, Iterable):
        raise InputError(f"{what} must be a list of lines, but is {given!r}")
    lines = list(given)
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str) and not (gaps and line is None):
            raise InputError(f"{what} must be text, but line {number} is {type(line).__name__}")
    return lines
