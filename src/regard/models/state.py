"""Decoding states of tensors: `select`, `keep` and `join`, written once for every architecture.

    B sentences   b rows of each   N = B × b rows; row n belongs to sentence n // b   S source

A state is a frozen dataclass. Each of its fields says how it belongs to rows and sentences; a field that says nothing
is the same for all of them.

    per_row()        (N, …)             what a hypothesis has of its own
    per_sentence()   (B, …), (B, S, …)  what all hypotheses of a sentence share, above all what is read of the source
    inner()          a state, or several, of the models inside

A value is a tensor, a tuple of values, or None where an architecture has no such thing.

>>> @dataclass(frozen=True)
... class Example(BatchState):
...     said: Tensor = per_row()
...     source: Tensor = per_sentence(grows=1)
>>> one = Example(2, torch.tensor([1, 2]), torch.tensor([[7, 8]]))
>>> two = one.join(Example(2, torch.tensor([3, 4]), torch.tensor([[9]])))
>>> two.said.tolist(), two.source.tolist()
([1, 2, 3, 4], [[7, 8], [9, 0]])
>>> two.keep(torch.tensor([1])).said.tolist(), two.select(torch.tensor([1, 1, 2, 3])).said.tolist()
([3, 4], [2, 2, 3, 4])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor


class Belongs(NamedTuple):
    """How a field belongs to rows and sentences."""

    to: str  # "row", "sentence" or "inner"
    axis: int = 0  # of rows or sentences
    grows: int | None = None  # the axis that is padded where two states of different length are joined
    fill: int = 0  # with what


def per_row(axis: int = 0, grows: int | None = None) -> Any:
    return field(metadata={"belongs": Belongs("row", axis, grows)})


def per_sentence(grows: int | None = None, fill: int = 0) -> Any:
    return field(metadata={"belongs": Belongs("sentence", 0, grows, fill)})


def inner() -> Any:
    return field(metadata={"belongs": Belongs("inner")})


@dataclass(frozen=True)
class BatchState:
    """The state of B sentences with `beams` rows each. It is pure: what it gives is new, and it stays as it is."""

    beams: int

    def select(self, rows: Tensor) -> Self:
        """Row i becomes this state's row `rows[i]`. With several rows of a sentence, they change places within it."""
        moved = ("row",) if self.beams > 1 else ("row", "sentence")
        changed: dict[str, Any] = {}
        for name, belongs in self._fields():
            value = getattr(self, name)
            if belongs.to == "inner":
                changed[name] = _each_state(value, lambda state: state.select(rows))
            elif belongs.to in moved:
                changed[name] = picked(value, rows, belongs.axis)
        return replace(self, **changed)

    def keep(self, sentences: Tensor) -> Self:
        """The given sentences, in this order, each with all its rows."""
        rows = rows_of(sentences, self.beams)
        changed: dict[str, Any] = {}
        for name, belongs in self._fields():
            value = getattr(self, name)
            if belongs.to == "inner":
                changed[name] = _each_state(value, lambda state: state.keep(sentences))
            else:
                changed[name] = picked(value, rows if belongs.to == "row" else sentences, belongs.axis)
        return replace(self, **changed)

    def join(self, other: Self) -> Self:
        """The sentences of both, this one's first."""
        changed: dict[str, Any] = {}
        for name, belongs in self._fields():
            mine, theirs = getattr(self, name), getattr(other, name)
            if belongs.to == "inner" and isinstance(mine, tuple):
                changed[name] = tuple(a.join(b) for a, b in zip(mine, theirs, strict=True))
            elif belongs.to == "inner":
                changed[name] = mine.join(theirs)
            else:
                changed[name] = joined(mine, theirs, belongs)
        return replace(self, **changed)

    def _fields(self) -> list[tuple[str, Belongs]]:
        return [(f.name, f.metadata["belongs"]) for f in fields(self) if "belongs" in f.metadata]


def rows_of(sentences: Tensor, beams: int) -> Tensor:
    """The rows of the given sentences: (M,) → (M·b,)

    >>> rows_of(torch.tensor([2, 0]), 3).tolist()
    [6, 7, 8, 0, 1, 2]
    """
    if beams == 1:
        return sentences
    return (sentences[:, None] * beams + torch.arange(beams, device=sentences.device)).flatten()


def repeated(value: Any, beams: int, axis: int = 0) -> Any:
    """Of each sentence its rows, all alike."""
    return value if beams == 1 else mapped(value, lambda tensor: tensor.repeat_interleave(beams, dim=axis))


def picked(value: Any, index: Tensor, axis: int) -> Any:
    return mapped(value, lambda tensor: tensor.index_select(axis, index))


def mapped(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The value with a function applied to each of its tensors."""
    if value is None:
        return None
    if isinstance(value, tuple):
        parts = [mapped(part, function) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return function(value)


def joined(mine: Any, theirs: Any, belongs: Belongs) -> Any:
    """Both values along the axis of their rows or sentences."""
    if mine is None:
        return None
    if isinstance(mine, tuple):
        parts = [joined(a, b, belongs) for a, b in zip(mine, theirs, strict=True)]
        return type(mine)(*parts) if hasattr(mine, "_fields") else tuple(parts)
    if belongs.grows is not None:
        length = max(mine.shape[belongs.grows], theirs.shape[belongs.grows])
        mine, theirs = (padded(side, belongs.grows, length, belongs.fill) for side in (mine, theirs))
    return torch.cat([mine, theirs], dim=belongs.axis)


def padded(tensor: Tensor, axis: int, length: int, fill: int) -> Tensor:
    missing = length - tensor.shape[axis]
    if not missing:
        return tensor
    return F.pad(tensor, (0, 0) * (tensor.dim() - 1 - axis) + (0, missing), value=fill)


def _each_state(value: Any, function: Callable[[Any], Any]) -> Any:
    return tuple(function(state) for state in value) if isinstance(value, tuple) else function(value)
