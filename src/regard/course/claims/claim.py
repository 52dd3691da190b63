"""A claim of the notes, and the result of its experiment.

The criterion for "shown" is part of the claim and is fixed before the experiment runs. A verdict is one of

    shown               the measurement meets the criterion with every seed
    not shown           it does not; that is no proof of the contrary
    the notes are wrong the notes' own formula does not give what they print
    rounded             it does, but for the last digit printed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regard.course.claims.experiment import ExperimentSetup

SHOWN, NOT_SHOWN = "shown", "not shown"


@dataclass(frozen=True)
class ClaimResult:
    """What an experiment measured, and the verdict."""

    verdict: str
    figure: str  # the numbers behind the verdict, in one or two lines
    header: list[str] = field(default_factory=list)  # a table with more numbers
    rows: list[list[str]] = field(default_factory=list)
    remark: str = ""  # other observations, above all surprises


@dataclass(frozen=True)
class Claim:
    name: str
    statement: str
    experiment: str  # what is done
    criterion: str  # for "shown"
    test: Callable[[ExperimentSetup], ClaimResult]


def judge(passed: bool) -> str:
    return SHOWN if passed else NOT_SHOWN


def over_seeds(values: Sequence[float], form: str = "{:.1f}") -> str:
    """The mean over seeds with minimum and maximum: [70, 74, 75] is "73.0 (70.0 to 75.0)"."""
    mean, *ends = (form.format(x) for x in (sum(values) / len(values), min(values), max(values)))
    return mean if len(values) == 1 else f"{mean} ({ends[0]} to {ends[1]})"
