"""What several architectures share: checks of their configurations, and which embedding matrices are one."""

from __future__ import annotations

from typing import Any, Literal

from torch import nn

from regard.config import require

Tie = Literal["auto", "all", "target", "none"]
TIE_HELP = "share embeddings: both with the output, the target's with it, or none (auto: as far as possible)"
MOST_LAYERS = 1000
LARGEST = 2**20  # of any other size


def check_sizes(config: Any, *names: str, least: int = 1) -> None:
    """Sizes are from `least` on, and not absurdly large."""
    for name in names:
        value, most = getattr(config, name), MOST_LAYERS if name.endswith("layers") else LARGEST
        require(value >= least, f"model.{name} must be at least {least}, but is {value}")
        require(value <= most, f"model.{name} must be at most {most:,}, but is {value}")


def check_shares(config: Any, *names: str) -> None:
    """Shares, such as dropout, are from 0 to below 1."""
    for name in names:
        value = getattr(config, name)
        require(0 <= value < 1, f"model.{name} must be at least 0 and below 1, but is {value}")


def check_ties(tie: Tie, embedding: int, width: int) -> None:
    require(
        tie in ("auto", "none") or embedding == width,
        f'model.tie = "{tie}" needs model.embedding = model.width, but they are {embedding} and {width}; '
        'use tie = "auto"',
    )


def tie_matrices(tie: Tie, joint: bool, source: nn.Embedding, target: nn.Embedding, output: nn.Linear) -> None:
    """The output is the target embedding where they are equally wide, and so is the source's in a joint vocabulary."""
    require(tie != "all" or joint, 'model.tie = "all" needs one joint vocabulary; use tie = "target"')
    if tie != "none" and output.weight.shape == target.weight.shape:
        output.weight = target.weight
    if tie == "all" or (tie == "auto" and joint):
        source.weight = target.weight
