"""Ensembles of several models (Hansen and Salamon 1990; for translation Sutskever et al. 2014).

    P(w | y<t, x) = Σ_m a_m P_m(w | y<t, x)      Σ_m a_m = 1, all equal unless given

    B sentences   N = B × beam rows   T target   V target vocabulary   L layers   H heads   S source

Probabilities are averaged in log space: log Σ_m exp(log a_m + log P_m). An ensemble has the interface of a model, so
search, evaluation and explanation use it as one. Its `forward` returns log-probabilities, which are valid logits, since
log_softmax does not change them.

All members read the same source ids and choose among the same target words, so they must have the same tokenizer. This
file knows only sizes: it refuses vocabularies of different sizes, and cannot detect whether two of one size have the
same words. It does not average the members' weights (`training/average.py` does that), and is not meant for training:
members are trained separately.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.errors import InputError
from regard.models import outline as draw
from regard.models.attention_parts import AttentionParts
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.state import BatchState, inner


def mean_in_log(log_probs: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """log Σ_m a_m exp(log P_m): each (…, V) → (…, V)."""
    return torch.stack([p + math.log(a) for p, a in zip(log_probs, weights, strict=True)]).logsumexp(dim=0)


@dataclass(frozen=True)
class EnsembleMemory(Memory):
    """The memory of every member; `states` are the first member's, since widths and lengths may differ."""

    members: tuple[Memory, ...]


@dataclass(frozen=True)
class EnsembleState(BatchState):
    members: tuple[State, ...] = inner()


class Ensemble(Model):
    """An ensemble of models. `weights` need not sum to 1; they are divided by their sum."""

    def __init__(self, models: Sequence[Model], weights: Sequence[float] | None = None) -> None:
        super().__init__()
        if not models:
            raise InputError("an ensemble needs at least one model, but none is given")
        self.target_size = _one_size("target", [model.target_size for model in models])
        # A model without `source_size` is assumed to know the ids that it is given.
        known = [int(size) for size in (getattr(model, "source_size", None) for model in models) if size is not None]
        self.source_size = _one_size("source", known) if known else None
        self.weights = _normalized([1.0] * len(models) if weights is None else weights, len(models))
        self.members = nn.ModuleList(models)
        self.has_attention = any(model.has_attention for model in models)
        self.max_positions = min((m.max_positions for m in models if m.max_positions is not None), default=None)
        self.training = any(model.training for model in models)  # members in eval mode stay in it

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities (B, T, V)."""
        return mean_in_log([_log_softmax(model(batch)) for model in self.models()], self.weights)

    def encode(self, src: Tensor, mask: Tensor) -> EnsembleMemory:
        members = tuple(model.encode(src, mask) for model in self.models())
        return EnsembleMemory(members[0].states, mask, members)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> EnsembleState:
        assert isinstance(memory, EnsembleMemory)
        pairs = zip(self.models(), memory.members, strict=True)
        return EnsembleState(beams, tuple(model.start(own, trace, beams=beams, room=room) for model, own in pairs))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, EnsembleState)
        steps = [model.step(token, own) for model, own in zip(self.models(), state.members, strict=True)]
        log_probs = mean_in_log([step.log_probs for step in steps], self.weights)  # (N, V)
        seen = _alike([step.attention for step in steps if step.attention is not None], heads=2)
        attention = torch.cat(seen, dim=1) if seen else None  # (N, ΣL, H, S)
        back = tuple(layer for step in steps for layer in step.decoder)
        return Step(log_probs, replace(state, members=tuple(step.state for step in steps)), attention, back)

    def attention(self, batch: Batch) -> AttentionMaps:
        """Returns the layers of all members in order; `cross` has the order and the heads of `step`."""
        maps = [model.attention(batch) for model in self.models()]
        return AttentionMaps(
            encoder=[layer for one in maps for layer in one.encoder],
            decoder=[layer for one in maps for layer in one.decoder],
            cross=_alike([layer for one in maps for layer in one.cross], heads=1),
        )

    def attention_parts(self) -> AttentionParts:
        raise InputError("attention is taken apart in one model, but this is an ensemble; name one of its members")

    def flops(self, source: int, target: int) -> float:
        return sum(model.flops(source, target) for model in self.models())

    def outline(self, source: int, target: int) -> draw.Outline:
        members = tuple(model.outline(source, target) for model in self.models())
        return draw.Outline((), members=members, weights=self.weights)

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def models(self) -> list[Model]:
        return cast(list[Model], list(self.members))


def _alike(maps: list[Tensor], heads: int) -> list[Tensor]:
    """Makes maps concatenable. If members have different numbers of heads, each map becomes the mean of its heads:
    padding with missing heads would give rows that do not sum to 1. `heads` is their axis."""
    if len({weights.shape[heads] for weights in maps}) <= 1:
        return maps
    return [weights.mean(dim=heads, keepdim=True) for weights in maps]


def _log_softmax(logits: Tensor) -> Tensor:
    """log_softmax in float32, or in float64 if the logits are."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=-1)


def _one_size(side: str, sizes: Sequence[int]) -> int:
    if len(set(sizes)) > 1:
        found = ", ".join(str(size) for size in sizes)
        raise InputError(
            f"the models of an ensemble share their {side} vocabulary, but theirs have {found} entries; "
            f"give models that were trained with one tokenizer"
        )
    return sizes[0]


def _normalized(weights: Sequence[float], count: int) -> tuple[float, ...]:
    found = ", ".join(f"{weight:g}" for weight in weights)
    if len(weights) != count:
        raise InputError(f"an ensemble of {count} needs {count} weights, but {len(weights)} are given ({found})")
    if not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise InputError(f"weights of an ensemble must be above 0, but are {found}; leave out a model of no weight")
    return tuple(weight / sum(weights) for weight in weights)
