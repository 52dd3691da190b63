"""What the models in the box should reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from general.speed import WAYS


class SearchItem(NamedTuple):
    direction: str
    test: str
    least: float  # of the card's figure: BLEU, or the share of pronoun pairs
    above: str = ""  # whose figure it is, which must be exceeded

    def text(self) -> str:
        return f"> {self.least:g}" if self.above else f"≥ {self.least:g}"

    def met(self, found: float) -> bool:
        return found > self.least if self.above else found >= self.least


GOALS = (
    SearchItem("en-fr", "flores-devtest", 33),
    SearchItem("fr-en", "flores-devtest", 32),
    SearchItem("en-de", "flores-devtest", 24),
    SearchItem("de-en", "flores-devtest", 29),
    SearchItem("en-es", "flores-devtest", 20),
    SearchItem("es-en", "flores-devtest", 21),
    SearchItem("en-fr", "newstest2014", 27),
    SearchItem("en-fr", "tatoeba v2021-08-07", 50.5, "OPUS-MT"),
    SearchItem("en-fr", "tatoeba test", 54.6),
    SearchItem("en-fr", "grammar test", 99),
    SearchItem("en-fr", "grammar compositional", 99),
    SearchItem("en-fr", "pronoun pairs", 98),
)
MOST_BYTES = 32_000_000  # of all that is in the box
MOST_LATENCY = 1.5  # times that of the model in the box before


def goal_of(direction: str, test: str) -> SearchItem | None:
    return next((goal for goal in GOALS if (goal.direction, goal.test) == (direction, test)), None)


def judged(results: Mapping[str, Any], box_bytes: int | None = None) -> Iterator[str]:
    """A line for each goal: what was wanted, what was found."""
    for goal in GOALS:
        tests = results.get(goal.direction, {}).get("tests", {})
        test = tests.get(goal.test, {})
        metrics, way = (test["metrics"], "") if "metrics" in test else (test.get("ctranslate2"), " in 8 bits")
        wanted = f"{goal.direction:<6} {goal.test:<22} {goal.text()}{f' ({goal.above})' if goal.above else ''}"
        if not metrics:
            yield f"{wanted}: not measured"
            continue
        found = metrics[0]["score"]
        yield f"{wanted}: {found:.2f}{way}, {'met' if goal.met(found) else 'missed'}"
    if box_bytes is not None:
        verdict = "met" if box_bytes <= MOST_BYTES else "missed"
        yield f"bytes of the box ≤ {MOST_BYTES / 1e6:g} MB: {box_bytes / 1e6:.1f} MB, {verdict}"
    for direction, found in results.items():
        for text, ways in found.get("speed", {}).get("latency", {}).items():
            for way in (way for way in WAYS if "ratio" in ways[way]):
                ratio = ways[way]["ratio"]
                verdict = "met" if ratio <= MOST_LATENCY else "missed"
                wanted = f"{direction:<6} {text}, {way}: latency ≤ {MOST_LATENCY:g} times the other's"
                yield f"{wanted}: {ratio:.2f}, {verdict}"
