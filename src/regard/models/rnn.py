"""The encoder–decoder without attention (Sutskever et al. 2014; Cho et al. 2014): the notes' standard Seq2Seq model.

    B sentences   N = B × beam rows   S source   T target   E embedding   D width   L layers   V vocabulary

    h(t) = f(h(t−1), x(t))           the encoder reads the source, word by word
    s(0) = h(S)                      its last state, one vector per layer, is all the decoder receives: the bottleneck
    s(t) = g(s(t−1), y(t−1))         context = "start", Sutskever
    s(t) = g(s(t−1), y(t−1), h(S))   context = "every", Cho: the top layer's last state enters every step
    P(y(t)) = softmax(V s(t))

f and g are stacks of LSTM, GRU or tanh cells of one size, so that the state is passed on unchanged. Cho's model also
has a matrix and tanh between h(S) and s(0), and a maxout before the softmax; neither is here. Teacher forcing runs
encoder and decoder in one fused call each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.config import key
from regard.layers.recurrent import Carry, Cell, Recurrent
from regard.models import outline as draw
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, check_ties, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, repeat_rows


@dataclass(frozen=True)
class RnnConfig:
    cell: Cell = key("lstm", "recurrent cell: lstm, gru or tanh")
    width: int = key(384, "units of a layer, of encoder and decoder")
    layers: int = key(2, "layers of the encoder, and as many of the decoder")
    embedding: int = key(384, "numbers per token read")
    dropout: float = key(0.2, "share of embeddings and layer outputs set to zero in training")
    reverse_source: bool = key(False, "read the source from its last word to its first (Sutskever et al. 2014)")
    context: Literal["start", "every"] = key("start", "where the source enters the decoder: its start, or every step")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "layers", "embedding")
        check_shares(self, "dropout")
        check_ties(self.tie, self.embedding, self.width)


PRESETS = read_presets(RnnConfig, "rnn")


def reading_order(mask: Tensor) -> Tensor:
    """(B, S), True at tokens → the positions (B, S) in reading order: words backwards, EOS and padding in place.

    >>> reading_order(torch.tensor([[True, True, True, True, False]])).tolist()
    [[2, 1, 0, 3, 4]]
    """
    end = mask.sum(dim=1, keepdim=True) - 1  # (B, 1) position of EOS
    place = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(place < end, end - 1 - place, place)


@dataclass(frozen=True)
class RnnMemory(Memory):
    """The decoder reads only `final`; `states` are for inspection, word i at position i."""

    final: Carry  # (L, B, D) after the last token read


@dataclass(frozen=True)
class RnnState(BatchState):
    carry: Carry = per_row(axis=1)  # (L, N, D)
    context: Tensor | None = per_row()  # (N, D) with context = "every"


class Rnn(Model):
    has_attention = False

    def __init__(self, config: RnnConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        self.source_embedding = nn.Embedding(source_size, config.embedding)
        self.target_embedding = nn.Embedding(target_size, config.embedding)
        self.encoder = Recurrent(config.cell, config.embedding, config.width, config.layers, config.dropout)
        inputs = config.embedding + (config.width if config.context == "every" else 0)
        self.decoder = Recurrent(config.cell, inputs, config.width, config.layers, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.width, target_size, bias=False)
        tie_embeddings(self, config.tie, joint, std=config.embedding**-0.5)  # √E times them has unit variance

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        state = self.start(self.encode(batch.src, batch.src_mask))
        logits, _ = self._decode(batch.tgt_in, state)
        return logits  # (B, T, V)

    def encode(self, src: Tensor, mask: Tensor) -> RnnMemory:
        order = reading_order(mask) if self.config.reverse_source else None
        read = src if order is None else src.gather(1, order)
        states, final = self.encoder(self._embed(read, self.source_embedding), mask)
        if order is not None:  # the order is its own inverse: each state goes back to the position of its word
            states = states.gather(1, order[..., None].expand_as(states))
        return RnnMemory(states, mask, final)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> RnnState:
        assert isinstance(memory, RnnMemory)
        carry = repeat_rows(memory.final, beams, axis=1)
        return RnnState(beams, carry, carry.hidden[-1] if self.config.context == "every" else None)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, RnnState)
        logits, carry = self._decode(token[:, None], state)  # T = 1
        return Step(logits[:, 0], replace(state, carry=carry), None)

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        vocabulary = 2.0 * target * self.config.width * self.target_size
        return self.encoder.flops(source) + self.decoder.flops(target) + vocabulary

    def outline(self, source: int, target: int) -> draw.Outline:
        every = self.config.context == "every"
        reads = "s(0) = h(S), and h(S) at every step" if every else "s(0) = h(S)"
        step = "s(t) = g(s(t−1), y(t−1)" + (", h(S))" if every else ")")
        cells = draw.recurrent(self.decoder.stack, target, step, reads)
        cells[0] = replace(cells[0], inputs=("y", "h(S)") if every else ())
        return draw.two_sides(
            [draw.embedding(self.source_embedding, source), *draw.recurrent(self.encoder.stack, source)],
            [draw.embedding(self.target_embedding, target), *cells, *draw.output(self.output, target)],
            "h(S) of each layer, all that the decoder receives",
            backwards=self.config.reverse_source,
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(self, tokens: Tensor, state: RnnState) -> tuple[Tensor, Carry]:
        """tokens (N, T) → logits (N, T, V), and the state after the last token"""
        x = self._embed(tokens, self.target_embedding)
        if state.context is not None:
            context = state.context[:, None].expand(-1, tokens.shape[1], -1)  # (N, T, D)
            x = torch.cat([x, context.to(x.dtype)], dim=-1)  # (N, T, E + D)
        states, carry = self.decoder(x, carry=state.carry)
        return self.output(self.dropout(states)), carry

    def _embed(self, tokens: Tensor, table: nn.Embedding) -> Tensor:
        embedded: Tensor = self.dropout(table(tokens) * math.sqrt(self.config.embedding))  # (N, T, E)
        return embedded
