"""The report of cleaning a corpus: counts by rule, a few examples of each, and the statistics behind thresholds."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.clean_rules import REASONS, CleanConfig, Row, Rule
from regard.report.table import Table

QUANTILES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, order=True)
class CleanExample:
    """A row with the negated key it was chosen by, so that a heap keeps the rows with the smallest keys."""

    order: float
    row: Row = field(compare=False)
    score: float | None = field(compare=False, default=None)

    def to_dict(self) -> dict[str, Any]:
        return {"texts": list(self.row)} | ({} if self.score is None else {"score": round(self.score, 2)})


@dataclass
class Examples:
    """The few rows with the smallest keys: with a hash as the key, a random sample that is the same in every run."""

    most: int
    kept: list[CleanExample] = field(default_factory=list)

    def offer(self, order: float, row: Row, score: float | None = None) -> None:
        if len(self.kept) < self.most:
            heapq.heappush(self.kept, CleanExample(-order, row, score))
        elif self.most and order < -self.kept[0].order:
            heapq.heapreplace(self.kept, CleanExample(-order, row, score))

    def to_list(self) -> list[dict[str, Any]]:
        return [example.to_dict() for example in sorted(self.kept, key=lambda e: -e.order)]


@dataclass
class CleanReport:
    """Rows read, kept, and dropped by each rule."""

    config: CleanConfig
    languages: tuple[str | None, ...]
    show: int  # number of examples of each rule
    held_out: int = 0  # number of distinct sentences
    read: int = 0
    kept: int = 0
    dropped: dict[Rule, int] = field(default_factory=dict)
    examples: dict[Rule, Examples] = field(default_factory=dict)
    doubtful: Examples = field(default_factory=lambda: Examples(0))  # kept rows with the lowest scores
    sample: Examples = field(default_factory=lambda: Examples(0))  # a random sample of the kept rows
    figures: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.doubtful, self.sample = Examples(self.show), Examples(self.show)

    def drop(self, rule: Rule, order: float, row: Row, score: float | None = None) -> None:
        self.dropped[rule] = self.dropped.get(rule, 0) + 1
        self.examples.setdefault(rule, Examples(self.show)).offer(order, row, score)

    def scores(self, scores: NDArray[np.float32]) -> None:
        judged = scores[~np.isnan(scores)]
        if len(judged):
            values = np.quantile(judged, QUANTILES).tolist()
            self.figures["scores"] = {f"{q:g}": round(v, 3) for q, v in zip(QUANTILES, values, strict=True)}
        self.figures["not_scored"] = len(scores) - len(judged)

    def to_dict(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "kept": self.kept,
            "languages": list(self.languages),
            "held_out_sentences": self.held_out,
            "rules": [
                {"rule": name(rule), "reason": REASONS[rule], "dropped": count, "examples": self._examples(rule)}
                for rule, count in self._rows()
            ],
            "kept_with_least_score": self.doubtful.to_list(),
            "kept_at_random": self.sample.to_list(),
            "figures": self.figures,
            "config": asdict(self.config),
        }

    def _rows(self) -> list[tuple[Rule, int]]:
        return [(rule, self.dropped.get(rule, 0)) for rule in Rule if rule is not Rule.NONE]

    def _examples(self, rule: Rule) -> list[dict[str, Any]]:
        return self.examples[rule].to_list() if rule in self.examples else []

    def table(self) -> Table:
        """Returns the number of rows that each rule dropped, in the order of the rules; a row is counted once."""
        left = self.read
        rows = [["read", f"{left:,}", "", ""]]
        for rule, count in self._rows():
            if count:
                rows.append([name(rule), f"−{count:,}", f"{count / max(1, left):.2%}", REASONS[rule]])
                left -= count
        rows.append(["kept", f"{self.kept:,}", f"{self.kept / max(1, self.read):.2%}", "of what was read"])
        return Table(["", "rows", "of the rest", ""], rows, left=(0, 3))

    def text(self) -> str:
        """Returns the table and the examples as text."""
        parts = [self.table().text()]
        for rule, _ in self._rows():
            if rule in self.examples:
                parts.append(f"{name(rule)}\n" + _lines(self._examples(rule)))
        if self.doubtful.kept:
            parts.append("kept with the least score\n" + _lines(self.doubtful.to_list()))
        return "\n\n".join(parts)


def name(rule: Rule) -> str:
    """
    >>> name(Rule.HELD_OUT_INSIDE)
    'held out inside'
    """
    return rule.name.lower().replace("_", " ")


def _lines(examples: Iterable[dict[str, Any]]) -> str:
    return "\n".join(
        "  " + " ⇥ ".join(e["texts"]) + (f"   ({e['score']:.2f})" if "score" in e else "") for e in examples
    )
