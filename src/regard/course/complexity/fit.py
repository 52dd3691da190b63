"""From measurements to exponents: the power law through costs at growing sizes, and the law of a count.

    cost(size) ≈ c · sizeᵖ        so that        log cost ≈ log c + p · log size

p is the slope of a straight line, fitted by least squares on the upper half of the sizes; on the lower half fixed
costs dominate (calling an operation takes microseconds at any size). The distance of the points from the line is part
of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerLaw:
    """cost ≈ c · size^exponent, fitted from the size `since` on; a `residual` of 0.05 is an RMS error of 5 %."""

    exponent: float
    residual: float
    since: int


def power_law(sizes: Sequence[int], costs: Sequence[float]) -> PowerLaw:
    """The exponent by least squares in log–log, on the upper half of the sizes.

    >>> power_law([1, 2, 4, 8], [7, 7, 16, 64])
    PowerLaw(exponent=2.0, residual=0.0, since=4)
    """
    half = len(sizes) // 2
    x = [math.log(size) for size in sizes[half:]]
    y = [math.log(cost) for cost in costs[half:]]
    slope, _, squares = straight_line(x, y)
    return PowerLaw(round(slope, 9), round(math.expm1(math.sqrt(squares / len(x))), 9), sizes[half])


def straight_line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Slope, intercept and the sum of squared residuals of the best line; slope 0 if x does not vary."""
    x_mean, y_mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
    spread = math.fsum((a - x_mean) ** 2 for a in x)
    slope = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread if spread else 0.0
    height = y_mean - slope * x_mean
    return slope, height, math.fsum((b - slope * a - height) ** 2 for a, b in zip(x, y, strict=True))


@dataclass(frozen=True)
class Growth:
    """A count at several n, and the law that fits it best: slope · law(n) + height."""

    lengths: list[int]
    counts: list[int]
    law: str  # 1, log n or n; log to the base k
    slope: float
    height: float  # the intercept


def growth(lengths: Sequence[int], counts: Sequence[int], base: int) -> Growth:
    """The simplest law with the smallest error."""
    laws: dict[str, Callable[[int], float]] = {"1": lambda _: 0.0, "log n": lambda n: math.log(n, base), "n": float}
    fits = {name: straight_line([law(n) for n in lengths], [float(c) for c in counts]) for name, law in laws.items()}
    best = min(fits, key=lambda name: round(fits[name][2], 9))  # the first of equally good ones
    slope, height, _ = fits[best]
    return Growth(list(lengths), list(counts), best, round(slope, 9), round(height, 9))
