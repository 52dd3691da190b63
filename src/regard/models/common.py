"""Functions that several architectures share: presets, configuration checks, tied embeddings, encoding by length.

    B sentences   S source tokens of the longest   D width

On a CPU a padded batch is encoded in buckets of sentences of nearly equal length, so that little work goes into
padding: there the time of an encoder is that of its matrix products, and those of one bucket keep a core busy.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from regard.config import require

Tie = Literal["auto", "all", "target", "none"]
TIE_HELP = "share embeddings: both with the output, the target's with it, or none (auto: as far as possible)"
MOST_LAYERS = 1000
LARGEST = 2**20  # maximum of any other size
LEAST_SHARE = 0.85  # minimum ratio of the shortest to the longest sentence of a bucket
LEAST_TOKENS = 256  # minimum tokens of a bucket: products of fewer rows are slower per row
Config = TypeVar("Config")
_PRESETS = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


def read_presets(config: type[Config], architecture: str) -> dict[str, Config]:
    """Reads the presets of an architecture by name, from `presets.toml`."""
    return {name: config(**values) for name, values in _PRESETS[architecture].items()}


def check_sizes(config: Any, *names: str, least: int = 1) -> None:
    """Raises unless the named sizes are at least `least` and not absurdly large."""
    for name in names:
        value, most = getattr(config, name), MOST_LAYERS if name.endswith("layers") else LARGEST
        require(value >= least, f"model.{name} must be at least {least}, but is {value}")
        require(value <= most, f"model.{name} must be at most {most:,}, but is {value}")


def check_shares(config: Any, *names: str) -> None:
    """Raises unless the named shares, such as dropout, are from 0 to below 1."""
    for name in names:
        value = getattr(config, name)
        require(0 <= value < 1, f"model.{name} must be at least 0 and below 1, but is {value}")


def check_ties(tie: Tie, embedding: int, width: int) -> None:
    require(
        tie in ("auto", "none") or embedding == width,
        f'model.tie = "{tie}" needs model.embedding = model.width, but they are {embedding} and {width}; '
        'use tie = "auto"',
    )


def tie_embeddings(model: Any, tie: Tie, joint: bool, std: float | None = None) -> None:
    """Initializes the embeddings of a model with N(0, std²), if given, and shares its matrices: the output layer is the
    target embedding if they are equally wide, and so is the source embedding of a joint vocabulary."""
    source, target, output = model.source_embedding, model.target_embedding, model.output
    if std is not None:
        for table in (source, target):
            nn.init.normal_(table.weight, std=std)
    require(tie != "all" or joint, 'model.tie = "all" needs one joint vocabulary; use tie = "target"')
    if tie != "none" and output.weight.shape == target.weight.shape:
        output.weight = target.weight
    if tie == "all" or (tie == "auto" and joint):
        source.weight = target.weight


def check_kernel(kernel: int) -> None:
    require(kernel % 2 == 1, f"model.kernel must be odd, but is {kernel}; try kernel = {kernel + 1}")


def encode_by_length(encode: Callable[[Tensor, Tensor], Tensor], src: Tensor, mask: Tensor) -> Tensor:
    """Returns `encode` of src (B, S) and its mask, whose padding is at the end, computed in buckets: (B, S, D)."""
    lengths = mask.sum(1).tolist()
    buckets = length_buckets(lengths)
    if len(buckets) == 1:
        return encode(src, mask)
    states: Tensor | None = None
    for bucket in buckets:
        index, longest = torch.tensor(bucket), lengths[bucket[0]]
        some = encode(src[index, :longest], mask[index, :longest])  # (b, s, D)
        if states is None:
            states = some.new_zeros(*src.shape, some.shape[-1])
        states[index, :longest] = some
    assert states is not None
    return states


def length_buckets(lengths: Sequence[int], least_tokens: int = LEAST_TOKENS) -> list[list[int]]:
    """Groups the indices of sentences that are encoded together, the longest of each bucket first.

    >>> length_buckets([5, 40, 38, 6], least_tokens=10)
    [[1, 2], [3, 0]]
    """
    buckets: list[list[int]] = []
    tokens = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not buckets or (tokens >= least_tokens and lengths[index] < LEAST_SHARE * lengths[buckets[-1][0]]):
            buckets.append([])
            tokens = 0
        buckets[-1].append(index)
        tokens += lengths[index]
    return buckets
