"""One sentence of a search: what is asked for it, how long it may become, and how it must begin.

B sentences   P tokens of the longest prefix
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.decode.engine import SearchRequest
from regard.decode.options import SearchOptions
from regard.errors import InputError
from regard.models.state import Belongs, joined

RATIO, EXTRA = 2.0, 20  # tokens of a translation for each of its source, and beyond
NO_TOKEN = -1  # after the end of a prefix


class Goal(NamedTuple):
    place: int  # among the requests
    request: SearchRequest
    limit: int  # tokens that may be said, EOS counted


def length_limit(request: SearchRequest, most: int | None = None, options: SearchOptions | None = None) -> int:
    """The most tokens of a translation. It depends on its own source alone, on what a constraint needs in addition, on
    how it must begin and how long it must be, and on how many positions the model has (`most`): BOS takes the first.

    >>> length_limit(SearchRequest((5, 6, 7))), length_limit(SearchRequest((5, 6, 7)), most=16)
    (28, 15)
    >>> length_limit(SearchRequest((5, 6, 7)), options=SearchOptions(4, 0.6, max_length=9))
    10
    """
    least, longest = (options.min_length, options.max_length) if options else (0, None)
    for name, tokens in (("prefix", len(request.prefix)), ("min_length", least)):
        if most is not None and tokens >= most - 1:
            raise InputError(
                f"{name} must leave room for an end: this model says at most {most - 2} tokens, but it is of {tokens}; "
                "give less"
            )
    if longest is not None:
        limit = longest + 1
    else:
        limit = int(RATIO * (len(request.ids) + 1)) + EXTRA
        if request.constraint is not None:
            limit += request.constraint.needs + request.constraint.margin + 1
        limit = max(limit, len(request.prefix) + EXTRA, least + EXTRA if least else 0)
    return limit if most is None else min(limit, most - 1)


def padded_prefixes(prefixes: Sequence[Sequence[int]], device: torch.device) -> Tensor | None:
    """(B, P), or None where no sentence has one"""
    if not any(prefixes):
        return None
    longest = max(map(len, prefixes))
    return torch.tensor([[*prefix, *[NO_TOKEN] * (longest - len(prefix))] for prefix in prefixes], device=device)


def joined_prefixes(mine: Tensor | None, theirs: Tensor | None, own: int, other: int) -> Tensor | None:
    """Those of `own` and `other` sentences."""
    like = mine if mine is not None else theirs
    if like is None:
        return None
    first, second = (
        like.new_full((count, 1), NO_TOKEN) if side is None else side for side, count in ((mine, own), (theirs, other))
    )
    both: Tensor = joined(first, second, Belongs("sentence", 0, grows=1, fill=NO_TOKEN))
    return both


def due_tokens(prefix: Tensor, step: Tensor) -> Tensor:
    """What each sentence must say at its step (B,); NO_TOKEN after its prefix."""
    last = prefix.shape[1] - 1
    return prefix.gather(1, step.clamp(max=last)[:, None])[:, 0].masked_fill(step > last, NO_TOKEN)
