"""What the models in the box should reach, and whether they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from general.speed import WAYS


class Goal(NamedTuple):
    direction: str
    test: str
    least: float  # of the card's figure: BLEU, or the share of pronoun pairs
    above: str = ""  # whose figure it is, which must be exceeded

    def text(self) -> str:
        return f"> {self.least:g}" if self.above else f"≥ {self.least:g}"

    def met(self, found: float) -> bool:
        return found > self.least if self.above else found >= self.least


GOALS = (
    Goal("en-fr", "flores-devtest", 37),
    Goal("fr-en", "flores-devtest", 35),
    Goal("en-de", "flores-devtest", 27.5),
    Goal("de-en", "flores-devtest", 33),
    Goal("en-es", "flores-devtest", 21.5),
    Goal("es-en", "flores-devtest", 22),
    Goal("en-fr", "newstest2014", 30),
    Goal("en-de", "newstest2014", 22),
    Goal("en-es", "tatoeba v2021-08-07", 44),
    Goal("es-en", "tatoeba v2021-08-07", 54),
    Goal("en-fr", "tatoeba v2021-08-07", 50.5, "OPUS-MT"),
    Goal("en-fr", "europarl test", 38.2),  # one less than before general text was learnt
    Goal("fr-en", "europarl test", 40.0),
    Goal("en-de", "europarl test", 27.3),
    Goal("de-en", "europarl test", 34.0),
    Goal("en-es", "europarl test", 40.7),
    Goal("es-en", "europarl test", 41.2),
    Goal("en-fr", "tatoeba test", 54.6),
    Goal("en-fr", "grammar test", 99),
    Goal("en-fr", "grammar compositional", 99),
    Goal("en-fr", "pronoun pairs", 98),
)
MOST_BYTES = 34_000_000  # of the six directions in the wheel, compressed
MOST_LATENCY = 1.5  # times that of the model in the box before


def goal_of(direction: str, test: str) -> Goal | None:
    return next((goal for goal in GOALS if (goal.direction, goal.test) == (direction, test)), None)


def judged(results: Mapping[str, Any], wheel_bytes: int | None = None) -> Iterator[str]:
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
    if wheel_bytes is not None:
        verdict = "met" if wheel_bytes <= MOST_BYTES else "missed"
        yield f"bytes in the wheel ≤ {MOST_BYTES / 1e6:g} MB: {wheel_bytes / 1e6:.1f} MB, {verdict}"
    for direction, found in results.items():
        for text, ways in found.get("speed", {}).get("latency", {}).items():
            for way in (way for way in WAYS if "ratio" in ways[way]):
                ratio = ways[way]["ratio"]
                verdict = "met" if ratio <= MOST_LATENCY else "missed"
                wanted = f"{direction:<6} {text}, {way}: latency ≤ {MOST_LATENCY:g} times the other's"
                yield f"{wanted}: {ratio:.2f}, {verdict}"
