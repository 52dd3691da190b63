"""A Transformer with one idea taken away, for as long as a `with` lasts. Nobody needs such a model to translate, so
models have no flags for it: parts are replaced from outside, in training and in translation alike.
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
def replaced(home: Any, name: str, part: Any) -> Iterator[None]:
    whole = getattr(home, name)
    setattr(home, name, part)
    try:
        yield
    finally:
        setattr(home, name, whole)


def without_positions() -> AbstractContextManager[None]:
    """Zeros are added in place of sinusoids."""

    def nowhere(position: Tensor, width: int) -> Tensor:
        return torch.zeros(*position.shape, width, device=position.device)

    return replaced(positions, "sinusoids", nowhere)


def without_mask() -> AbstractContextManager[None]:
    """Decoder positions see the words that they are to predict. In translation there are none yet to see."""
    forward = MultiHeadAttention.forward

    def seeing(
        self: MultiHeadAttention,
        query: Tensor,
        seen: KeyValue,
        mask: Tensor | None = None,
        causal: bool = False,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        return forward(self, query, seen, mask, False, record)

    return replaced(MultiHeadAttention, "forward", seeing)


@contextmanager
def without_scaling() -> Iterator[None]:
    """softmax(QKᵀ) V: queries come √d_k times as large, which undoes the division."""
    plain, fused = attention.attend, attention.attend_fused

    def larger(q: Tensor) -> Tensor:
        return q * math.sqrt(q.shape[-1])

    with (
        replaced(attention, "attend", lambda q, *rest, **named: plain(larger(q), *rest, **named)),
        replaced(attention, "attend_fused", lambda q, *rest, **named: fused(larger(q), *rest, **named)),
    ):
        yield


VARIANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "whole": nullcontext,
    "without positions": without_positions,
    "without mask": without_mask,
    "without scaling": without_scaling,
}
