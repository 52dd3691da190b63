"""Ablations of the Transformer, each active inside a `with` block, for every model in the process.

They are useful for experiments only, so the models have no options for them: parts are replaced from outside, in
training and in translation alike. Parts of one loaded model are removed by `explain/ablation.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from regard.layers import attention, positions
from regard.layers.attention import KeyValue, MultiHeadAttention
from regard.models import transformer_cache


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

    with ExitStack() as stack:
        for module in (attention, transformer_cache):  # the second one has its own names, for the steps of a search
            stack.enter_context(replaced(module, "attend", lambda q, *rest, **named: plain(larger(q), *rest, **named)))
            stack.enter_context(
                replaced(module, "attend_fused", lambda q, *rest, **named: fused(larger(q), *rest, **named))
            )
        yield


ABLATIONS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "none": nullcontext,
    "without positions": without_positions,
    "without mask": without_mask,
    "without scaling": without_scaling,
}
