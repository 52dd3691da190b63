"""Decoding states of tensors: `select`, `keep` and `join`, written once for every architecture.

    B sentences   b rows of each   N = B × b rows; row n belongs to sentence n // b   S source

A state is a frozen dataclass. Each of its fields declares how it relates to rows and sentences; a field without such a
declaration is the same for all of them.

    per_row()        (N, …)             values of one hypothesis
    per_sentence()   (B, …), (B, S, …)  values that all hypotheses of a sentence share, such as those of the source
    inner()          a state, or several, of the models inside

A value is a tensor, a tuple of values, or None if an architecture does not have it.

>>> @dataclass(frozen=True)
... class Example(BatchState):
...     tokens: Tensor = per_row()
...     source: Tensor = per_sentence(grows=1)
>>> one = Example(2, torch.tensor([1, 2]), torch.tensor([[7, 8]]))
>>> two = one.join(Example(2, torch.tensor([3, 4]), torch.tensor([[9]])))
>>> two.tokens.tolist(), two.source.tolist()
([1, 2, 3, 4], [[7, 8], [9, 0]])
>>> two.keep(torch.tensor([1])).tokens.tolist(), two.select(torch.tensor([1, 1, 2, 3])).tokens.tolist()
([3, 4], [2, 2, 3, 4])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor


class FieldAxis(NamedTuple):
    """How a field relates to rows and sentences."""

    owner: str  # "row", "sentence" or "inner"
    axis: int = 0  # the axis of rows or sentences
    grows: int | None = None  # the axis that is padded if two states of different length are joined
    fill: int = 0  # the padding value


def per_row(axis: int = 0, grows: int | None = None) -> Any:
    return field(metadata={"axis": FieldAxis("row", axis, grows)})


def per_sentence(grows: int | None = None, fill: int = 0) -> Any:
    return field(metadata={"axis": FieldAxis("sentence", 0, grows, fill)})


def inner() -> Any:
    return field(metadata={"axis": FieldAxis("inner")})


@dataclass(frozen=True)
class BatchState:
    """The state of B sentences with `beams` rows each. It is immutable: all methods return new states."""

    beams: int

    def select(self, rows: Tensor) -> Self:
        """Returns the state whose row i is row `rows[i]`; with several rows per sentence, one of the same sentence."""
        moved = ("row",) if self.beams > 1 else ("row", "sentence")
        return self._map(
            lambda state: state.select(rows),
            lambda value, axis: select_index(value, rows, axis.axis) if axis.owner in moved else value,
        )

    def keep(self, sentences: Tensor) -> Self:
        """Returns the state of the given sentences, in this order, each with all its rows."""
        rows = rows_of(sentences, self.beams)
        return self._map(
            lambda state: state.keep(sentences),
            lambda value, axis: select_index(value, rows if axis.owner == "row" else sentences, axis.axis),
        )

    def _map(self, inner: Callable[[Any], Any], own: Callable[[Any, FieldAxis], Any]) -> Self:
        """Applies `inner` to the states within this one, and `own` to every other field."""
        values = [(name, getattr(self, name), axis) for name, axis in self._fields()]
        changed = {n: _each_state(v, inner) if axis.owner == "inner" else own(v, axis) for n, v, axis in values}
        return replace(self, **changed)

    def join(self, other: Self) -> Self:
        """Returns the state of the sentences of both, this one's first."""
        changed: dict[str, Any] = {}
        for name, field_axis in self._fields():
            mine, theirs = getattr(self, name), getattr(other, name)
            if field_axis.owner == "inner" and isinstance(mine, tuple):
                changed[name] = tuple(a.join(b) for a, b in zip(mine, theirs, strict=True))
            elif field_axis.owner == "inner":
                changed[name] = mine.join(theirs)
            else:
                changed[name] = join_tensors(mine, theirs, field_axis)
        return replace(self, **changed)

    def _fields(self) -> list[tuple[str, FieldAxis]]:
        return [(f.name, f.metadata["axis"]) for f in fields(self) if "axis" in f.metadata]


def rows_of(sentences: Tensor, beams: int) -> Tensor:
    """Returns the rows of the given sentences: (M,) → (M·b,)

    >>> rows_of(torch.tensor([2, 0]), 3).tolist()
    [6, 7, 8, 0, 1, 2]
    """
    if beams == 1:
        return sentences
    return (sentences[:, None] * beams + torch.arange(beams, device=sentences.device)).flatten()


def repeat_rows(value: Any, beams: int, axis: int = 0) -> Any:
    """Repeats each sentence of a value for its `beams` rows."""
    return value if beams == 1 else map_tensors(value, lambda tensor: tensor.repeat_interleave(beams, dim=axis))


def select_index(value: Any, index: Tensor, axis: int) -> Any:
    return map_tensors(value, lambda tensor: tensor.index_select(axis, index))


def map_tensors(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Applies a function to each tensor of a value."""
    if value is None:
        return None
    if isinstance(value, tuple):
        parts = [map_tensors(part, function) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return function(value)


def join_tensors(mine: Any, theirs: Any, field_axis: FieldAxis) -> Any:
    """Concatenates two values along the axis of their rows or sentences."""
    if mine is None:
        return None
    if isinstance(mine, tuple):
        parts = [join_tensors(a, b, field_axis) for a, b in zip(mine, theirs, strict=True)]
        return type(mine)(*parts) if hasattr(mine, "_fields") else tuple(parts)
    if field_axis.grows is not None:
        length = max(mine.shape[field_axis.grows], theirs.shape[field_axis.grows])
        mine, theirs = (pad_to(side, field_axis.grows, length, field_axis.fill) for side in (mine, theirs))
    return torch.cat([mine, theirs], dim=field_axis.axis)


def pad_to(tensor: Tensor, axis: int, length: int, fill: int) -> Tensor:
    missing = length - tensor.shape[axis]
    if not missing:
        return tensor
    return F.pad(tensor, (0, 0) * (tensor.dim() - 1 - axis) + (0, missing), value=fill)


def _each_state(value: Any, function: Callable[[Any], Any]) -> Any:
    return tuple(function(state) for state in value) if isinstance(value, tuple) else function(value)
