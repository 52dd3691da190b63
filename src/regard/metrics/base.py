"""What every metric has in common: counts per line that add up, and a score computed from their sum.

    texts ─ stats ─▶ (lines, k) ─ sum over lines ─▶ (k,) ─ score ─▶ a number with its signature

A corpus, a bucket of lines and a bootstrap resample are all sums of rows, so texts are counted once. Significance
tests and buckets (`significance.py`, `buckets.py`) use only this interface. `table.py` lists the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# One list of lines, or several such lists (streams); a stream may lack a line (None) that another stream has.
References = Sequence[str] | Sequence[Sequence[str | None]]


@dataclass(frozen=True)
class Stats:
    """Counts, one row per line."""

    rows: NDArray[Any]  # (lines, k)
    references: int | None  # per line; None if lines have different numbers of them

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, lines: Any) -> Stats:
        """The counts of some lines, by any numpy index; a repeated line counts again."""
        return Stats(self.rows[lines].reshape(-1, self.rows.shape[1]), self.references)

    def total(self) -> NDArray[Any]:
        """(k,), of the whole text."""
        sums: NDArray[Any] = self.rows.sum(axis=0)
        return sums


@dataclass(frozen=True, repr=False)
class Score:
    name: str
    score: float  # 0 to 100, but TER may be higher
    signature: str

    def text(self, width: int = 2) -> str:
        """For printing; `width` digits after the point."""
        return f"{self.name} = {self.score:.{width}f}"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self}, {self.signature})"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


class Metric(Protocol):
    """A metric with its options chosen."""

    @property
    def name(self) -> str: ...

    @property
    def higher_is_better(self) -> bool: ...

    def stats(self, hypotheses: Sequence[str], references: References) -> Stats:
        """Counts line by line."""
        ...

    def score(self, stats: Stats) -> Score:
        """Of all lines in `stats` together."""
        ...

    def scores(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """(…, k) → (…): the scores of many sums at once."""
        ...

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        """What sacreBLEU prints for these options; `test` adds resampling, for example {"bs": 1000, "seed": 12345}."""
        ...


def signed(references: int | None, test: Mapping[str, int] | None, parts: Mapping[str, object]) -> str:
    """A signature in sacreBLEU's order; the version is that of the installed sacreBLEU, whose tokenisers are used."""
    from sacrebleu import __version__

    all_parts = {"nrefs": references or "var", **(test or {}), **parts, "version": __version__}
    return "|".join(f"{name}:{part}" for name, part in all_parts.items())
