"""What every search does when sentences leave and enter: their part of the fields that all searches have.

    B sentences   b rows of each   N = B × b rows

A search adds what is its own: `replace(self, **kept(self, sentences), total=…)`.
"""

from __future__ import annotations

from typing import Protocol, TypedDict

import torch
from torch import Tensor

from regard.decode.goal import joined_prefixes
from regard.decode.history import Ends, History
from regard.models.state import Belongs, joined

MEMO = Belongs("sentence", 0, grows=2)


class WithMemo(Protocol):
    """What a variant remembers of each row."""

    width: int
    memo: dict[str, Tensor]  # (B, b, …)

    @property
    def step(self) -> Tensor: ...  # (B,)


class CommonFields(TypedDict):
    """The fields that beam search and sampling have in common."""

    step: Tensor  # (B,)
    limit: Tensor  # (B,)
    prefix: Tensor | None  # (B, P)
    token: Tensor  # (N,)
    history: History
    ends: Ends
    done: Tensor  # (B,)
    memo: dict[str, Tensor]  # (B, b, …)


class TensorSearch(Protocol):
    """A search whose sentences are rows of tensors."""

    width: int
    step: Tensor
    limit: Tensor
    prefix: Tensor | None
    token: Tensor
    history: History
    ends: Ends
    done: Tensor
    memo: dict[str, Tensor]


def kept(search: TensorSearch, sentences: Tensor) -> CommonFields:
    """Of the given sentences (M,), in this order."""
    return {
        "step": search.step[sentences],
        "limit": search.limit[sentences],
        "prefix": None if search.prefix is None else search.prefix[sentences],
        "token": search.token.view(-1, search.width)[sentences].flatten(),
        "history": search.history.keep(sentences),
        "ends": search.ends.keep(sentences),
        "done": search.done[sentences],
        "memo": {name: value[sentences] for name, value in search.memo.items()},
    }


def together(mine: TensorSearch, theirs: TensorSearch) -> CommonFields:
    """Of the sentences of both, the first one's first."""
    return {
        "step": torch.cat([mine.step, theirs.step]),
        "limit": torch.cat([mine.limit, theirs.limit]),
        "prefix": joined_prefixes(mine.prefix, theirs.prefix, len(mine.step), len(theirs.step)),
        "token": torch.cat([mine.token, theirs.token]),
        "history": mine.history.join(theirs.history),
        "ends": mine.ends.join(theirs.ends),
        "done": torch.cat([mine.done, theirs.done]),
        "memo": joined_memos(mine, theirs),
    }


def joined_memos(mine: WithMemo, theirs: WithMemo) -> dict[str, Tensor]:
    """Zeros where one of them has not begun."""
    found = {}
    for name in {**mine.memo, **theirs.memo}:
        like = mine.memo.get(name, theirs.memo.get(name))
        assert like is not None
        first, second = (
            side.memo.get(name, like.new_zeros(len(side.step), side.width, *like.shape[2:])) for side in (mine, theirs)
        )
        found[name] = joined(first, second, MEMO if like.dim() > 2 else MEMO._replace(grows=None))
    return found
