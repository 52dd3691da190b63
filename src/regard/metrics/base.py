"""The interface of every metric: counts per line that add up, and a score computed from their sum.

    texts ─ stats ─▶ (lines, k) ─ sum over lines ─▶ (k,) ─ score ─▶ a number with its signature

A corpus, a bucket of lines and a bootstrap resample are all sums of rows, so texts are counted once. Significance
tests and buckets (`significance.py`, `buckets.py`) use only this interface. `METRICS` of the package lists the
metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.config import nearest
from regard.errors import InputError

# One list of lines, or several such lists (streams); a stream may lack a line (None) that another stream has.
References = Sequence[str] | Sequence[Sequence[str | None]]
Stream = list[str | None]


@dataclass(frozen=True)
class Stats:
    """The statistics of a text: counts, one row per line."""

    rows: NDArray[Any]  # (lines, k)
    references: int | None  # per line; None if lines have different numbers of references

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, lines: Any) -> Stats:
        """Returns the counts of the lines that a numpy index selects; a repeated line counts again."""
        return Stats(self.rows[lines].reshape(-1, self.rows.shape[1]), self.references)

    def total(self) -> NDArray[Any]:
        """Returns the sum over all lines: (k,)."""
        sums: NDArray[Any] = self.rows.sum(axis=0)
        return sums


@dataclass(frozen=True, repr=False)
class Score:
    name: str
    score: float  # from 0 to 100; TER can exceed 100
    signature: str

    def text(self, width: int = 2) -> str:
        """Formats the score with `width` digits after the decimal point."""
        return f"{self.name} = {self.score:.{width}f}"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self}, {self.signature})"

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary for JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


class Metric(Protocol):
    """A metric with its options."""

    @property
    def name(self) -> str: ...

    @property
    def higher_is_better(self) -> bool: ...

    def stats(self, hypotheses: Sequence[str], references: References) -> Stats:
        """Counts the statistics of each line."""
        ...

    def score(self, stats: Stats) -> Score:
        """The score of all lines in `stats` together."""
        ...

    def scores(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """(…, k) → (…): the scores of many sums at once."""
        ...

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        """The signature as in sacreBLEU; `test` adds resampling, for example {"bs": 1000, "seed": 12345}."""
        ...


def format_signature(references: int | None, test: Mapping[str, int] | None, **parts: object) -> str:
    """Formats a signature in sacreBLEU's order. The version is that of sacreBLEU, whose tokenizers are used."""
    from sacrebleu import __version__

    all_parts = {"nrefs": references or "var", **(test or {}), **parts, "version": __version__}
    return "|".join(f"{name}:{part}" for name, part in all_parts.items())


# ── checks of the lines to score ──────────────────────────────────────────────────────────────────────────────────────


def unknown(what: str, given: str, known: Iterable[str]) -> InputError:
    names = list(known)
    hint = nearest(str(given), names)
    return InputError(
        f'unknown {what} "{given}"; {hint}' + ("" if "known:" in hint else f" (known: {', '.join(names)})")
    )


def checked_lines(hypotheses: Sequence[str], references: References) -> tuple[list[str], list[Stream]]:
    """Returns the hypotheses and the reference streams; raises InputError unless every hypothesis has a reference."""
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
    """The number of references of each line; None if lines have different numbers ("var" in sacreBLEU)."""
    if all(None not in stream for stream in streams):
        return len(streams)
    counts = {sum(reference is not None for reference in some) for some in zip(*streams, strict=True)}
    return counts.pop() if len(counts) == 1 else None


def looks_tokenized(lines: Sequence[str]) -> bool:
    """Whether the lines seem tokenized, by sacreBLEU's test: at least 100 of them end in " ."."""
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
