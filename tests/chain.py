"""A Markov chain that keeps a model's contract: its best sequences can be computed exactly."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batch import BOS, Batch
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.state import BatchState, per_row, repeat_rows

V = 7


@dataclass(frozen=True)
class Rows(BatchState):
    """The chain's state: which table each row reads, chosen by its sentence's first word."""

    table: Tensor = per_row()  # (N, V, V)


class Chain(Model):
    """P(next | previous), one table for each first source word. No translation model, but a real one by contract."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        scores = torch.randn(V, V, V, generator=generator) * 2
        scores[..., [0, BOS]] = -torch.inf
        self.tables = torch.nn.Parameter(scores.log_softmax(-1))
        self.target_size = V

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return Memory(src[:, :1].float()[..., None], mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> Rows:
        return Rows(beams, repeat_rows(self.tables[memory.states[:, 0, 0].long()], beams))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, Rows)
        return Step(state.table[torch.arange(len(token)), token], state, None)

    def forward(self, batch: Batch) -> Tensor:
        return self.tables[batch.src[:, 0, None], batch.tgt_in]

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        return 0.0  # it only looks things up
