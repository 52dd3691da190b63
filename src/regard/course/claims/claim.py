"""What a claim is, and what an experiment finds.

What counts as "shown" is a number that stands in the claim, set before the experiment is run. A verdict is one of

    shown               what was measured passed what was asked for, with every seed
    not shown           it did not; that is no proof of the contrary
    the notes are wrong what the notes print is not what their own formula gives
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regard.course.claims.learning import School

SHOWN, NOT_SHOWN = "shown", "not shown"


@dataclass(frozen=True)
class Finding:
    """What an experiment measured, and what follows."""

    verdict: str
    figure: str  # the numbers the verdict comes from, in one or two lines
    header: list[str] = field(default_factory=list)  # a table of more numbers
    rows: list[list[str]] = field(default_factory=list)
    remark: str = ""  # what else was seen, surprises above all


@dataclass(frozen=True)
class Claim:
    name: str
    says: str  # the claim
    experiment: str  # what is done
    asked: str  # what must be measured for "shown"
    test: Callable[[School], Finding]


def judge(passed: bool) -> str:
    return SHOWN if passed else NOT_SHOWN


def over_seeds(values: Sequence[float], form: str = "{:.1f}") -> str:
    """The mean of what several seeds gave, with the least and the greatest: [70, 74, 75] is "73.0 (70.0 to 75.0)"."""
    mean, *ends = (form.format(x) for x in (sum(values) / len(values), min(values), max(values)))
    return mean if len(values) == 1 else f"{mean} ({ends[0]} to {ends[1]})"
