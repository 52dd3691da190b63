"""Shared search fields: how every search removes finished sentences from its tensors and adds new ones.

    B sentences   b rows of each   N = B × b rows

A search adds its own fields: `replace(self, **kept(self, sentences), total=…)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypedDict

import torch
from torch import Tensor

from regard.errors import InputError
from regard.models.state import FieldAxis, join_tensors
from regard.search.engine import SearchRequest
from regard.search.history import Ends, History
from regard.search.options import SearchOptions

MEMO = FieldAxis("sentence", 0, grows=2)


class HasMemo(Protocol):
    """A search with a memo: tensors that a variant keeps for each row."""

    width: int
    memo: dict[str, Tensor]  # (B, b, …)

    @property
    def step(self) -> Tensor: ...  # (B,)


class SharedSearchFields(TypedDict):
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


def kept(search: TensorSearch, sentences: Tensor) -> SharedSearchFields:
    """Returns the shared fields of the given sentences (M,), in this order."""
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


def concatenated(mine: TensorSearch, theirs: TensorSearch) -> SharedSearchFields:
    """Returns the shared fields of both searches, first the sentences of `mine`, then those of `theirs`."""
    return {
        "step": torch.cat([mine.step, theirs.step]),
        "limit": torch.cat([mine.limit, theirs.limit]),
        "prefix": joined_prefixes(mine.prefix, theirs.prefix, len(mine.step), len(theirs.step)),
        "token": torch.cat([mine.token, theirs.token]),
        "history": mine.history.join(theirs.history),
        "ends": mine.ends.join(theirs.ends),
        "done": torch.cat([mine.done, theirs.done]),
        "memo": concatenated_memos(mine, theirs),
    }


def concatenated_memos(mine: HasMemo, theirs: HasMemo) -> dict[str, Tensor]:
    """Concatenates the memos of two searches; an entry that one of them does not have yet is filled with zeros."""
    found = {}
    for name in {**mine.memo, **theirs.memo}:
        like = mine.memo.get(name, theirs.memo.get(name))
        assert like is not None
        first, second = (
            side.memo.get(name, like.new_zeros(len(side.step), side.width, *like.shape[2:])) for side in (mine, theirs)
        )
        found[name] = join_tensors(first, second, MEMO if like.dim() > 2 else MEMO._replace(grows=None))
    return found


LENGTH_RATIO, EXTRA_LENGTH = 2.0, 20  # tokens of a translation per source token, and in addition
NO_TOKEN = -1  # after the end of a prefix


class SearchItem(NamedTuple):
    place: int  # index among the requests
    request: SearchRequest
    limit: int  # maximal number of output tokens, EOS counted


def length_limit(request: SearchRequest, most: int | None = None, options: SearchOptions | None = None) -> int:
    """Returns the maximal number of tokens of a translation. It depends only on the sentence's own source, constraint
    and prefix, on the length options, and on the model's number of positions (`most`), of which BOS takes the first.

    >>> length_limit(SearchRequest((5, 6, 7))), length_limit(SearchRequest((5, 6, 7)), most=16)
    (28, 15)
    >>> length_limit(SearchRequest((5, 6, 7)), options=SearchOptions(4, 0.6, max_length=9))
    10
    """
    least, longest = (options.min_length, options.max_length) if options else (0, None)
    for name, tokens in (("prefix", len(request.prefix)), ("min_length", least)):
        if most is not None and tokens >= most - 1:
            raise InputError(
                f"{name} must leave room for EOS: this model generates at most {most - 2} tokens, not {tokens}"
            )
    if longest is not None:
        limit = longest + 1
    else:
        limit = int(LENGTH_RATIO * (len(request.ids) + 1)) + EXTRA_LENGTH
        if request.constraint is not None:
            limit += request.constraint.needs + request.constraint.margin + 1
        limit = max(limit, len(request.prefix) + EXTRA_LENGTH, least + EXTRA_LENGTH if least else 0)
    return limit if most is None else min(limit, most - 1)


def padded_prefixes(prefixes: Sequence[Sequence[int]], device: torch.device) -> Tensor | None:
    """Returns the prefixes as (B, P), padded with NO_TOKEN, or None if no sentence has one."""
    if not any(prefixes):
        return None
    longest = max(map(len, prefixes))
    return torch.tensor([[*prefix, *[NO_TOKEN] * (longest - len(prefix))] for prefix in prefixes], device=device)


def joined_prefixes(mine: Tensor | None, theirs: Tensor | None, own: int, other: int) -> Tensor | None:
    """Concatenates the prefixes of `own` and `other` sentences."""
    like = mine if mine is not None else theirs
    if like is None:
        return None
    first, second = (
        like.new_full((count, 1), NO_TOKEN) if side is None else side for side, count in ((mine, own), (theirs, other))
    )
    both: Tensor = join_tensors(first, second, FieldAxis("sentence", 0, grows=1, fill=NO_TOKEN))
    return both


def prefix_tokens_at(prefix: Tensor, step: Tensor) -> Tensor:
    """Returns the token that each sentence must generate at its step (B,); NO_TOKEN after its prefix."""
    last = prefix.shape[1] - 1
    return prefix.gather(1, step.clamp(max=last)[:, None])[:, 0].masked_fill(step > last, NO_TOKEN)
