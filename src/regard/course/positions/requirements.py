"""The notes' five requirements of a position encoding, each measured for every encoding of `encodings.py`.

For sinusoids PE(p)·PE(p + k) = Σ_i cos(k ω_i) depends only on the distance. This file measures which properties follow
from that and which do not. Whether a trained model uses them is not measured.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.course.positions.encodings import (
    Array,
    DotProducts,
    PositionEncoding,
    bound,
    cosine_sum,
    distance_between,
    make_encodings,
    pair_distances,
    products_of,
    rises,
    rotated,
    sinusoid,
)
from regard.errors import InputError
from regard.layers.positions import sinusoids
from regard.models.base import Model
from regard.models.transformer import Transformer

FAR = 100_000  # positions beyond any sentence
LARGEST = 1.0  # a position's vector must be shorter than a word's


@dataclass(frozen=True)
class RequirementCell:
    """One requirement measured for one encoding."""

    holds: bool
    figure: str


@dataclass(frozen=True)
class Requirement:
    """One of the notes' five requirements, in our words."""

    number: int
    words: str
    measured: str  # meaning of the figure
    cells: dict[str, RequirementCell]  # by encoding
    finding: str  # for sinusoids: where the requirement is met, and where not


@dataclass(frozen=True)
class Positions:
    """Everything that `regard explain positions` shows."""

    width: int
    length: int
    head_size: int
    map: Array  # (L, D) sinusoids
    bits: NDArray[np.int64]  # (L, bits), the fastest first
    products: tuple[DotProducts, ...]  # of sinusoids, rotary, learned
    requirements: tuple[Requirement, ...]
    words_from: str  # the origin of the word vectors that lengths are compared with


def positions(
    width: int = 128,
    length: int = 64,
    head_size: int = 32,
    word: tuple[float, str] | None = None,
    learned: Array | None = None,
) -> Positions:
    """Measures all requirements. `word`: mean length of a word vector and its origin, by default an untrained model."""
    if width < 2:
        raise InputError(f"width must be a whole number from 2 on, but is {width}; try 128")
    if not 4 <= length <= 1024:
        raise InputError(f"length must be from 4 to 1024, but is {length}; try 64")
    if head_size < 2 or head_size % 2:
        raise InputError(f"head_size must be an even number from 2 on, but is {head_size}")
    encodings = make_encodings(width, length, learned)
    norm, origin = word or (math.sqrt(width), "a fresh model, √D times its embeddings")
    at = np.arange(length)
    products = (
        products_of("sinusoid", encodings["sinusoid"].vectors(at, length)),
        products_of(f"rotary, heads of {head_size}", rotated(at, head_size)),
        products_of("learned", encodings["learned"].vectors(at, length)),
    )
    found = (
        unique(encodings, width, length),
        consistent(encodings, width, length),
        generalizes(encodings, length),
        deterministic(encodings, length),
        small(encodings, length, norm, origin, width),
    )
    bits = encodings["binary"].vectors(at, length).astype(np.int64)
    return Positions(width, length, head_size, sinusoid(at, width), bits, products, found, origin)


# ------------------------------------------------------------------------------------------------ the five


def unique(encodings: dict[str, PositionEncoding], width: int, length: int) -> Requirement:
    at = np.arange(length)
    cells = {}
    for name, encoding in encodings.items():
        gaps = pair_distances(encoding.vectors(at, length))
        least = float(gaps[~np.eye(length, dtype=bool)].min())
        cells[name] = RequirementCell(least > 1e-9, f"{least:.3g}")
    far = np.arange(1, FAR)
    distances = distance_between(far, width)
    nearest = int(far[distances.argmin()])
    narrow = distance_between(far, 2)
    twin = int(far[narrow.argmin()])
    bf16 = torch.from_numpy(sinusoid(np.arange(FAR // 10), width)).bfloat16().float().numpy()
    distinct = len(np.unique(bf16, axis=0))
    sound = distances.min() > 0.01 and distinct == FAR // 10
    finding = (
        f"{'holds' if sound else 'holds in exact numbers only'}: of {FAR:,} positions the nearest two are {nearest:,} "
        f"apart and differ by {'at least ' if width % 2 else ''}{distances.min():.3g}; rounded to bfloat16, "
        f"{distinct:,} of the first {FAR // 10:,} stay different. Many frequencies make it so: with width 2, "
        f"positions {twin} apart differ by {narrow.min():.1g}"
    )
    words = "no two positions share a vector"
    return Requirement(1, words, f"smallest distance of two among {length}", cells, finding)


def consistent(encodings: dict[str, PositionEncoding], width: int, length: int) -> Requirement:
    at = np.arange(length // 2)
    cells = {}
    for name, encoding in encodings.items():
        short, long = (pair_distances(encoding.vectors(at, n)) for n in (length // 2, length))
        change, next_to = float(np.abs(short - long).max()), np.diag(long, 1)
        span = f"{next_to.min():.3g}" + (f"–{next_to.max():.3g}" if np.ptp(next_to) > 1e-6 else "")
        cells[name] = RequirementCell(change <= 1e-9, f"{change:.3g} · {span}")
    words = "two positions are as far apart in a short sentence as in a long one"
    measured = f"change of a distance between sentences of {length // 2} and {length} · distance of neighbours"
    finding = _depends_on_more_than_distance(width, length) if width % 2 else _depends_on_distance(width, length)
    return Requirement(2, words, measured, cells, finding)


def _depends_on_more_than_distance(width: int, length: int) -> str:
    """Returns the finding for an odd width: the last sine has no cosine, so sin² + cos² = 1 does not hold there."""
    products = products_of("sinusoid", sinusoid(np.arange(length), width))
    return (
        "holds, since the length of the sentence does not enter. But the width is odd, and the last sine has no cosine "
        f"beside it: PE(p)·PE(p + k) depends on p as well as on k, and products at one distance differ by "
        f"{bound(products.deviation)} of that at distance 0. With an even width they depend on the distance alone"
    )


def _depends_on_distance(width: int, length: int) -> str:
    vectors = sinusoid(np.arange(length), width)
    expected = cosine_sum(np.abs(np.subtract.outer(np.arange(length), np.arange(length))).ravel(), width)
    double = float(np.abs((vectors @ vectors.T).ravel() - expected).max())
    single = sinusoids(torch.arange(length), width).double().numpy()
    float32 = float(np.abs((single @ single.T).ravel() - expected).max())
    curve = cosine_sum(np.arange(length), width) / (width / 2)
    up = rises(curve)
    later = rises(cosine_sum(np.arange(FAR), width))
    first = f"it first rises at distance {up[0]}" if len(up) else f"up to {length} it only falls"
    if not len(up) and len(later):
        first += f", and first rises at {later[0]:,}"
    return (
        "holds, and more: PE(p)·PE(p + k) = Σ cos(kω) depends on the distance alone, "
        f"with differences {bound(double)} in double precision and {bound(float32)} in the model's. "
        f"It is no measure of distance, though: {first} ({len(up)} of {length - 1} steps go up), and at distance "
        f"{length - 1} it is {curve[-1]:.2f} of its start. And k and −k give the same: before and after look alike"
    )


def generalizes(encodings: dict[str, PositionEncoding], length: int) -> Requirement:
    later = np.array([2 * length - 1, 100 * length])  # in a sentence that ends with the second
    cells = {}
    for name, encoding in encodings.items():
        if encoding.table is not None and encoding.table <= later[0]:
            cells[name] = RequirementCell(False, f"none from {encoding.table} on")
            continue
        largest = float(np.abs(encoding.vectors(later, later[1] + 1)).max())
        cells[name] = RequirementCell(largest <= 1 + 1e-9, f"{largest:,.0f}")
    sinusoids_of = encodings["sinusoid"].vectors
    seen, unseen = sinusoids_of(np.arange(length), length), sinusoids_of(np.arange(length, 2 * length), length)
    gaps = np.sqrt(np.maximum(((unseen[:, None] - seen[None]) ** 2).sum(axis=-1), 0))  # (L, L)
    neighbours = float(np.linalg.norm(seen[1] - seen[0]))
    furthest = float(gaps.min(axis=1).max())
    finding = (
        "holds for the encoding: every position has a vector, with numbers in −1 … 1. Nothing follows for a model: "
        f"of the positions {length} to {2 * length - 1} it has seen none, and they lie up to {furthest:.2g} from the "
        f"nearest it has seen, where neighbours are {neighbours:.2g} apart"
    )
    words = "longer sentences than those seen have vectors too, and no number grows with them"
    return Requirement(3, words, f"largest number up to position {100 * length:,}", cells, finding)


def deterministic(encodings: dict[str, PositionEncoding], length: int) -> Requirement:
    at = np.arange(length // 2)
    cells = {}
    for name, encoding in encodings.items():
        once, again = encoding.samples or (encoding.vectors(at, length // 2), encoding.vectors(at, length))
        change = float(np.abs(once - again).max())
        cells[name] = RequirementCell(change == 0, f"{change:.3g}")
    finding = (
        "holds: a formula of the position alone, without chance. A learned table depends on the run that learnt it, a "
        "fraction on the sentence"
    )
    words = "a position's vector is fixed: no chance in it, and nothing of the sentence"
    measured = f"largest difference of two initialisations, or of sentences of {length // 2} and {length}"
    return Requirement(4, words, measured, cells, finding)


def small(encodings: dict[str, PositionEncoding], length: int, norm: float, origin: str, width: int) -> Requirement:
    at = np.arange(length)
    cells = {}
    for name, encoding in encodings.items():
        ratio = float(np.linalg.norm(encoding.vectors(at, length), axis=1).max()) / norm
        cells[name] = RequirementCell(ratio < LARGEST - 1e-9, f"{ratio:.3g}")
    sinusoid_norm = float(np.linalg.norm(sinusoid(at, width), axis=1).max())
    each = "the longest vector has length" if width % 2 else "each vector has length √(D/2) ="
    finding = (
        f"{'holds' if sinusoid_norm < norm else 'does not hold'}: {each} {sinusoid_norm:.3g}, "
        f"a word {norm:.3g} ({origin}). It is the √D that does it: without that factor a position would be "
        f"{sinusoid_norm / (norm / math.sqrt(width)):.2g} times as long as a word"
    )
    words = "small beside the vector of a word, whose meaning it must not cover"
    return Requirement(5, words, "longest vector, a word's being 1", cells, finding)


# ------------------------------------------------------------------------------------------------ input and output


def positions_of(model: Model, length: int = 64) -> Positions:
    """Measures with a model's own width, heads, word vectors and, if it has one, learned table."""
    if not isinstance(model, Transformer):
        raise InputError(
            "only Transformers encode positions as vectors, but this model is of the class "
            f"{type(model).__name__}; give a Transformer, or no model"
        )
    config = model.config
    words = model.source_embedding.weight.detach().cpu().double() * math.sqrt(config.width)
    learned = model.source_positions.weight.detach().cpu().double().numpy() if config.positions == "learned" else None
    if learned is not None and len(learned) < length:
        raise InputError(f"this model has {len(learned)} learned positions, but length is {length}; give a smaller one")
    word = (float(words.norm(dim=1).mean()), "the model's, √D times its embeddings")
    return positions(config.width, length, config.width // config.heads, word, learned)


def as_dict(found: Positions) -> dict[str, Any]:
    """Returns the measurements as JSON values."""
    return {
        "width": found.width,
        "length": found.length,
        "head_size": found.head_size,
        "requirements": [asdict(requirement) for requirement in found.requirements],
        "products": [{**asdict(one), "deviation": one.deviation} for one in found.products],
        "sinusoids": found.map,
        "binary": found.bits,
    }
