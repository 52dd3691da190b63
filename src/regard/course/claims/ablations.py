"""Ablations of the Transformer, each active inside a `with` block.

They are useful for experiments only, so the models have no options for them: parts are replaced from outside, in
training and in translation alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from regard.layers import attention, positions
from regard.layers.attention import KeyValue, MultiHeadAttention


@contextmanager
def replaced(owner: Any, name: str, part: Any) -> Iterator[None]:
    """Replaces an attribute inside the `with` block."""
    original = getattr(owner, name)
    setattr(owner, name, part)
    try:
        yield
    finally:
        setattr(owner, name, original)


def without_positions() -> AbstractContextManager[None]:
    """Adds zeros instead of sinusoids."""

    def zeros(position: Tensor, width: int) -> Tensor:
        return torch.zeros(*position.shape, width, device=position.device)

    return replaced(positions, "sinusoids", zeros)


def without_mask() -> AbstractContextManager[None]:
    """Lets decoder positions attend to the words that they must predict; in translation those do not exist yet."""
    forward = MultiHeadAttention.forward

    def unmasked(
        self: MultiHeadAttention,
        query: Tensor,
        seen: KeyValue,
        mask: Tensor | None = None,
        causal: bool = False,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        return forward(self, query, seen, mask, False, record)

    return replaced(MultiHeadAttention, "forward", unmasked)


@contextmanager
def without_scaling() -> Iterator[None]:
    """softmax(QKᵀ) V: the queries are multiplied by √d_k, which undoes the division."""
    plain, fused = attention.attend, attention.attend_fused

    def larger(q: Tensor) -> Tensor:
        return q * math.sqrt(q.shape[-1])

    with (
        replaced(attention, "attend", lambda q, *rest, **named: plain(larger(q), *rest, **named)),
        replaced(attention, "attend_fused", lambda q, *rest, **named: fused(larger(q), *rest, **named)),
    ):
        yield


ABLATIONS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "none": nullcontext,
    "without positions": without_positions,
    "without mask": without_mask,
    "without scaling": without_scaling,
}
