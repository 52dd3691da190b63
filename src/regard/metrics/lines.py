"""Lines to be scored: as many references as hypotheses, and sacreBLEU's own tokenisers to split them.

What every metric needs before it counts. This file scores nothing and reads no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from regard.config import nearest
from regard.errors import InputError


@cache
def tokenizer(name: str) -> Any:
    """sacreBLEU's tokeniser, kept: it remembers lines it has split, and references come again and again."""
    from sacrebleu.metrics.bleu import BLEU

    if name not in BLEU.TOKENIZERS:
        raise unknown("tokeniser", name, BLEU.TOKENIZERS)
    try:
        return BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f'tokeniser "{name}" needs something that is not installed: {reason}') from None


def unknown(what: str, given: str, known: Iterable[str]) -> InputError:
    names = list(known)
    hint = nearest(str(given), names)
    return InputError(
        f'unknown {what} "{given}"; {hint}' + ("" if "known:" in hint else f" (known: {', '.join(names)})")
    )


def checked_lines(
    hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Hypotheses, and reference streams as long as they are; or an error that says what is wrong."""
    lines = _texts(hypotheses, "hypotheses")
    if not lines:
        raise InputError("there are no hypotheses to score")
    several = not isinstance(references, str) and any(not isinstance(given, str) for given in references)
    if several:
        streams = [_texts(stream, f"reference stream {n}") for n, stream in enumerate(references, start=1)]
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
    return lines, streams


def _texts(given: Any, what: str) -> list[str]:
    if isinstance(given, str):
        raise InputError(f"{what} must be a list of lines, but is a single string; write [{given[:30]!r}]")
    if not isinstance(given, Iterable):
        raise InputError(f"{what} must be a list of lines, but is {given!r}")
    lines = list(given)
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise InputError(f"{what} must be text, but line {number} is {type(line).__name__}")
    return lines
