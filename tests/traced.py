"""The attention that a search had on its way to a hypothesis, to compare with the maps of a forced pass.

A wrapper that keeps the contract (`models/base.py`) stores the attention of each step under the tokens before it. Its
state carries those tokens, so they are reordered with the beam, and the rows of a hypothesis are found by its own
tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batch import pad_sources
from regard.bundle.card import DecodeConfig
from regard.explain.trace import forced_maps
from regard.models.base import AttentionMaps, Memory, Model, ModelWrapper, State, Step
from regard.models.state import BatchState, inner, per_row
from regard.search.engine import Hypothesis
from regard.search.search import beam_search


@torch.inference_mode()
def searched_maps(
    model: Model, source: Sequence[int], config: DecodeConfig, nbest: int = 0
) -> tuple[Hypothesis, AttentionMaps]:
    """A hypothesis of the search and the maps that the search itself had on its way to it."""
    traced = _TracedModel(model)
    src, mask = (t.to(model.device) for t in pad_sources([source]))
    (found,) = beam_search(traced, src, mask, config.beam, config.length_penalty)
    ids = found[nbest].ids
    prefixes = [ids[:t] for t in range(len(ids) + 1)]
    rows = [traced.seen[prefix] for prefix in prefixes if prefix in traced.seen]
    if len(rows) < len(prefixes):  # cut off at its length limit: the search made no step after its last token
        rows.append(_last_row(forced_maps(model, source, ids)))
    layers = [torch.stack(layer, dim=1)[None] for layer in zip(*(row.cross for row in rows), strict=True)]
    own = [_lower_triangle(layer)[None] for layer in zip(*(row.decoder for row in rows), strict=True)]
    return found[nbest], AttentionMaps(forced_maps(model, source, []).encoder, own, layers)


@dataclass(frozen=True)
class _StepAttention:
    """The attention of one row of one step."""

    cross: tuple[Tensor, ...]  # per layer (H, S)
    decoder: tuple[Tensor, ...]  # per layer (H, t + 1)


@dataclass(frozen=True)
class _TracedState(BatchState):
    model: State = inner()
    read: Tensor = per_row()  # (N, t) BOS and the tokens before this step


class _TracedModel(ModelWrapper):
    """A model for one search over one sentence that stores each step's attention under the tokens before it."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.seen: dict[tuple[int, ...], _StepAttention] = {}

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> _TracedState:
        nothing = torch.empty(len(memory.mask) * beams, 0, dtype=torch.long, device=memory.mask.device)
        return _TracedState(beams, self.model.start(memory, trace=True, beams=beams), nothing)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, _TracedState)
        step = self.model.step(token, state.model)
        read = torch.cat([state.read, token[:, None]], dim=1)  # (N, t)
        for row, (_, *said) in enumerate(read.tolist()):
            cross = step.attention[row].unbind() if step.attention is not None else ()  # each (H, S)
            self.seen[tuple(said)] = _StepAttention(tuple(cross), tuple(layer[row] for layer in step.decoder))
        return step._replace(state=_TracedState(state.beams, step.state, read))


def _last_row(maps: AttentionMaps) -> _StepAttention:
    return _StepAttention(tuple(m[0, :, -1] for m in maps.cross), tuple(m[0, :, -1] for m in maps.decoder))


def _lower_triangle(rows: Sequence[Tensor]) -> Tensor:
    """Rows (H, 1), (H, 2), … (H, T) → (H, T, T), zero above the diagonal."""
    return torch.stack([torch.nn.functional.pad(row, (0, len(rows) - row.shape[1])) for row in rows], dim=1)
