"""Findings about data: the fault, its frequency, examples, and a remedy.

A finding is serious if training would refuse the data, learn from wrong data, or get a misleading score. The others are
information; a good corpus has some of them too. `findings.toml` has the kinds of faults.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

SHOWN = 3  # maximum examples of a finding
WIDTH = 72  # maximum characters of a line that is shown


@dataclass(frozen=True)
class Kind:
    """A kind of fault in lines or pairs."""

    what: str
    remedy: str
    serious_from: float  # share of the checked lines or pairs
    reported_from: float = 0.0  # share; a model misjudges some pairs of a good corpus


_TABLES = tomllib.loads(files("regard.doctor").joinpath("findings.toml").read_text(encoding="utf-8"))
KINDS = {name: Kind(**table) for name, table in _TABLES.items()}


@dataclass(frozen=True)
class FaultExample:
    where: str  # file:line
    text: str


@dataclass(frozen=True)
class Finding:
    name: str
    part: str  # train, dev or test
    serious: bool
    message: str
    remedy: str
    count: int  # affected lines or pairs
    looked: int  # checked lines or pairs
    places: tuple[FaultExample, ...] = ()


@dataclass
class FaultCounts:
    """Faults so far, each with its count and its first examples."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[FaultExample]] = field(default_factory=dict)
    unequal: list[tuple[Sequence[Path], Sequence[int]]] = field(default_factory=list)  # files, lines of each

    def add(self, name: str, example: Callable[[], FaultExample], count: int = 1) -> None:
        """Counts a fault; `example` is called for the first few."""
        self.counts[name] += count
        shown = self.places.setdefault(name, [])
        if len(shown) < SHOWN:
            shown.append(example())


def finding(
    name: str, part: str, count: int, looked: int, noun: str, places: Sequence[FaultExample], total: int = 0
) -> Finding:
    """Makes the finding of a known kind in `count` of `looked` lines or pairs, which may be a sample of `total`."""
    kind = KINDS[name]
    among = f" of {looked:,} {noun} looked at" if total > looked else f" of {looked:,} {noun}"
    message = f"{count:,}{among} ({share(count, looked)}) {kind.what}"
    serious = count > 0 and count / max(1, looked) >= kind.serious_from
    return Finding(name, part, serious, message, kind.remedy, count, looked, tuple(places[:SHOWN]))


def share(count: int, of: int) -> str:
    """
    >>> share(3, 1000), share(1, 100_000), share(5, 5)
    ('0.3%', 'under 0.1%', '100.0%')
    """
    part = count / max(1, of)
    return "under 0.1%" if 0 < part < 0.0005 else f"{part:.1%}"


def cut_short(text: str, width: int = WIDTH) -> str:
    """Shortens a text to one line; characters that cannot be printed are escaped.

    >>> cut_short("a\\u200bb\\x07")
    'a\\\\u200bb\\\\x07'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "…"
