"""A toy architecture in one file: a GRU over the target that attends to the source's embeddings.

    B sentences   N rows   S source   T target   D width   V vocabulary

It shows what an architecture must bring; `test_adding.py` runs everything over it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.config import key
from regard.layers.recurrent import Carry, Recurrent
from regard.layers.scores import Scores, weighted_mean
from regard.models.attention_parts import AttentionParts, ScorePart
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence


@dataclass(frozen=True)
class ToyConfig:
    width: int = key(32, "numbers per token")
    dropout: float = key(0.0, "share of embeddings dropped in training")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width")
        check_shares(self, "dropout")


PRESETS = {"tiny": ToyConfig(width=12), "small": ToyConfig(), "wide": ToyConfig(width=64)}


@dataclass(frozen=True)
class ToyState(BatchState):
    trace: bool
    carry: Carry = per_row(axis=1)  # (1, N, D)
    states: Tensor = per_sentence(grows=1)  # (B, S, D) of the source
    mask: Tensor = per_sentence(grows=1)  # (B, S)


class Toy(Model):
    def __init__(self, config: ToyConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size = config, source_size, target_size
        width = config.width
        self.source_embedding = nn.Embedding(source_size, width)
        self.target_embedding = nn.Embedding(target_size, width)
        self.decoder = Recurrent("gru", width, width)
        self.scores = Scores("scaled", width, width)
        self.join = nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(width, target_size, bias=False)
        tie_embeddings(self, config.tie, joint)

    def forward(self, batch: Batch) -> Tensor:
        logits: Tensor = self.output(self._decode(batch.tgt_in, self._start(batch))[0])
        return logits

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return Memory(self.dropout(self.source_embedding(src)), mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> ToyState:
        return ToyState(beams, trace, self.decoder.zeros(len(memory.mask) * beams), memory.states, memory.mask)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, ToyState)
        states, weights, carry = self._decode(token[:, None], state)
        return Step(self.output(states[:, 0]), replace(state, carry=carry), weights[:, None] if state.trace else None)

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [self._decode(batch.tgt_in, self._start(batch))[1][:, None]])

    def attention_parts(self) -> AttentionParts:
        return {("cross", 0): ScorePart(self.scores, self.join)}

    def flops(self, source: int, target: int) -> float:
        width = self.config.width
        each_word = 2.0 * width * (2 * source + 2 * width + self.target_size)
        return self.decoder.flops(target) + target * each_word

    def _start(self, batch: Batch) -> ToyState:
        return self.start(self.encode(batch.src, batch.src_mask))

    def _decode(self, tokens: Tensor, state: ToyState) -> tuple[Tensor, Tensor, Carry]:
        """(N, T) → states (N, T, D), weights (N, T, S), and the carry after them"""
        tops, carry = self.decoder(self.dropout(self.target_embedding(tokens)), carry=state.carry)
        queries = tops.view(len(state.mask), -1, tops.shape[-1])  # (B, b·T, D): the rows of a sentence side by side
        scores = self.scores(queries, self.scores.prepare(state.states))
        context, weights = weighted_mean(scores, state.mask, state.states)
        together = torch.cat([tops, context.view_as(tops)], dim=-1)
        return self.join(together), weights.view(*tokens.shape, -1), carry
