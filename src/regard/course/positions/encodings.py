"""Position encodings, from the notes' first attempt to those of models, and dot products of two positions.

    L positions   D width   K head size   ω_i = 1 / 10000^(2i/D)

    count      p in every dimension                              the notes' first attempt
    fraction   p / L in every dimension, p from 1 on             their second, 1/50 … 50/50
    binary     the bits of p                                     their third: a float for each bit, 0 or 1 only
    sinusoid   sin(p ω_i), cos(p ω_i)                            their final choice (Vaswani et al. 2017)
    learned    a table of L vectors: randomly initialised, or a trained model's
    rotary     nothing is added; queries and keys are rotated by p ω_i (Su et al. 2021), so only products are comparable

Sinusoids and rotations are those of `layers/positions.py`, in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.layers.positions import frequencies, rotate, rotation, sinusoids

Array = NDArray[np.float64]
SEED = 0


@dataclass(frozen=True)
class PositionEncoding:
    """`vectors(p, L)` are the encodings of positions p (n,) in a sentence of length L: (n, D)."""

    name: str
    vectors: Callable[[NDArray[np.int64], int], Array]
    table: int | None = None  # the number of positions; None: no limit
    samples: tuple[Array, Array] | None = None  # two random initialisations, if it has any


@dataclass(frozen=True)
class DotProducts:
    """Dot products of two positions by their distance k = 0 … L − 1, divided by the mean product at distance 0."""

    name: str
    mean: Array  # (L,) over all pairs at that distance
    least: Array
    most: Array

    @property
    def deviation(self) -> float:
        """The largest difference between products at the same distance."""
        return float((self.most - self.least).max())


def sinusoid(positions: NDArray[np.int64], width: int) -> Array:
    """(n,) → (n, D), computed in double precision from the model's own frequencies."""
    found: Array = sinusoids(torch.from_numpy(positions).double(), width).numpy()
    return found


def rotated(positions: NDArray[np.int64], head_size: int) -> Array:
    """Rotates a query of ones to each position, (n,) → (n, K): products are those of a query and an equal key."""
    ones = torch.ones(1, 1, len(positions), head_size, dtype=torch.float64)
    found: Array = rotate(ones, rotation(torch.from_numpy(positions).double(), head_size))[0, 0].numpy()
    return found


def binary(positions: NDArray[np.int64], bits: int) -> Array:
    """
    >>> binary(np.array([6]), 4).tolist()  # the fastest bit first
    [[0.0, 1.0, 1.0, 0.0]]
    """
    found: Array = (positions[:, None] >> np.arange(bits) & 1).astype(np.float64)
    return found


def make_encodings(width: int, length: int, learned: Array | None) -> dict[str, PositionEncoding]:
    """Returns the encodings by name; `learned` is a model's table of positions, or None for a random one."""
    bits = max(1, math.ceil(math.log2(length)))

    def table(seed: int) -> Array:
        drawn: Array = np.random.default_rng(seed).normal(0, width**-0.5, (length, width))
        return drawn

    samples = table(SEED), table(SEED + 1)
    own = samples[0] if learned is None else learned
    encodings = [
        PositionEncoding("count", lambda p, n: np.repeat(p[:, None].astype(np.float64), width, axis=1)),
        PositionEncoding("fraction", lambda p, n: np.repeat((p[:, None] + 1) / n, width, axis=1)),
        PositionEncoding("binary", lambda p, n: binary(p, bits), table=2**bits),
        PositionEncoding("sinusoid", lambda p, n: sinusoid(p, width)),
        PositionEncoding("learned", lambda p, n: own[p], table=len(own), samples=samples),
    ]
    return {encoding.name: encoding for encoding in encodings}


# ------------------------------------------------------------------------------------------------ products


def products_of(name: str, vectors: Array) -> DotProducts:
    """Returns the dot products of all pairs of these vectors (L, D)."""
    products = vectors @ vectors.T  # (L, L)
    scale = float(np.mean(np.diag(products))) or 1.0
    by_distance = [np.diag(products, k) / scale for k in range(len(vectors))]
    mean, least, most = (np.array([f(row) for row in by_distance]) for f in (np.mean, np.min, np.max))
    return DotProducts(name, mean, least, most)


def bound(difference: float) -> str:
    """Formats a difference; a rounding error as a power of ten above it, as its digits differ between machines.

    >>> bound(3e-14), bound(7e-6), bound(0.62)
    ('under 1e-12', 'under 1e-05', '0.62')
    """
    if difference >= 1e-3:
        return f"{difference:.2g}"
    return f"under {10.0 ** max(-12, math.ceil(math.log10(max(difference, 1e-300)))):.0e}"


def cosine_sum(distance: NDArray[np.int64], width: int) -> Array:
    """Returns Σ_i cos(k ω_i) for distances (n,): equal to PE(p)·PE(p + k) for every p. With an odd width the last sine
    is left out, which has no cosine and whose product depends on p."""
    omega = frequencies(width)[: width // 2].double().numpy()  # (D/2,)
    parts = [
        np.cos(chunk[:, None] * omega).sum(axis=1) for chunk in np.array_split(distance, len(distance) // 4096 + 1)
    ]
    found: Array = np.concatenate(parts)
    return found


def distance_between(distance: NDArray[np.int64], width: int) -> Array:
    """Returns ‖PE(p) − PE(p + k)‖ = √(D − 2 Σ_i cos(k ω_i)), for every p; with an odd width its lower bound."""
    found: Array = np.sqrt(np.maximum(width - width % 2 - 2 * cosine_sum(distance, width), 0.0))
    return found


def rises(values: Array) -> NDArray[np.int64]:
    """Returns the distances at which a product is larger than at the previous distance."""
    return np.flatnonzero(np.diff(values) > 1e-12) + 1


def pair_distances(vectors: Array) -> Array:
    """(L, D) → (L, L)"""
    squares = (vectors**2).sum(axis=1)
    found: Array = np.sqrt(np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0.0))
    return found
