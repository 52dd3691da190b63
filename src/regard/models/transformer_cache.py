"""The decoding state of a Transformer during search: memory is allocated once and written in place.

    B sentences   b beams   N = B·b rows   S source   R room, in tokens   H heads   K head size   D = H·K width

Keys and values of the source are stored once for each sentence: its beams are the queries of one attention. Keys and
values of the past are (N, R, H, K), so that a token is D contiguous numbers. Each sentence has its own length, so that
sentences can join later.

When beams are reordered, most of their tokens are the same: they have common ancestors. `writer` is the beam that wrote
each token of a row. Only the tokens whose writer changes are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers.attention import KeyValue, MultiHeadAttention, attend, attend_fused
from regard.layers.feedforward import FeedForward
from regard.layers.moe import MixtureOfExperts
from regard.layers.positions import Rotation, rotate
from regard.layers.residual import Residual
from regard.models.base import Memory
from regard.models.state import FieldAxis, join_tensors, rows_of, select_index


class DecoderParts(Protocol):
    """The parts of a decoder layer that a step uses."""

    attention: MultiHeadAttention
    cross: MultiHeadAttention
    feed_forward: FeedForward | MixtureOfExperts
    around_attention: Residual
    around_cross: Residual
    around_feed_forward: Residual


@dataclass(frozen=True)
class JoinedMatrix:
    """Several linear maps of one input, computed as one product."""

    weight: Tensor  # (D, nD)
    bias: Tensor  # (nD,)

    @classmethod
    def of(cls, *maps: torch.nn.Linear) -> JoinedMatrix:
        return cls(torch.cat([m.weight.T for m in maps], dim=1), torch.cat([m.bias for m in maps]))

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.T, self.bias)


def query_key_value(attention: MultiHeadAttention) -> JoinedMatrix:
    return JoinedMatrix.of(attention.query, attention.key, attention.value)


@dataclass
class CachedState:
    """The past of B sentences with b rows each. `step`, `select`, `keep` and `join` modify it in place."""

    beams: int
    trace: bool
    projections: tuple[JoinedMatrix, ...]  # per layer: query, key and value of a new token at once
    length: Tensor  # (B,) tokens read so far
    longest: int  # the largest of them
    even: bool  # whether all are equal
    writer: Tensor  # (N, R) the beam that wrote each token of a row
    past: list[KeyValue]  # per layer (at least N, R, H, K)
    source: tuple[KeyValue, ...]  # per layer (B, H, S, K)
    source_mask: Tensor  # (B, 1, 1, S)

    @property
    def rows(self) -> int:
        return len(self.writer)

    @property
    def room(self) -> int:
        return self.writer.shape[1]

    def select(self, rows: Tensor) -> CachedState:
        if self.beams == 1:
            return self
        written = self.writer[:, : self.longest]  # (N, t)
        wanted = written.index_select(0, rows)
        row, time = (wanted != written).nonzero(as_tuple=True)
        into, out_of = row * self.room + time, rows[row] * self.room + time
        for kv in self.past:
            for cells in kv:
                flat = cells.view(-1, *cells.shape[2:])  # (N·R, H, K)
                flat[into] = flat[out_of]
        written.copy_(wanted)
        return self

    def keep(self, sentences: Tensor) -> CachedState:
        rows = rows_of(sentences, self.beams)
        for kv in self.past:
            for cells in kv:
                cells[: len(rows), : self.longest] = cells[rows, : self.longest]
        self.source = select_index(self.source, sentences, 0)
        self.source_mask = self.source_mask[sentences]
        self.length, self.writer = self.length[sentences], self.writer[rows]
        if not self.even:
            shortest, self.longest = (int(x) for x in self.length.aminmax()) if len(sentences) else (0, 0)
            self.even = shortest == self.longest
        return self

    def join(self, other: CachedState) -> CachedState:
        assert self.beams == other.beams
        mine, theirs = self.rows, other.rows
        room = max(self.room, other.room)
        for i, (kv, new) in enumerate(zip(self.past, other.past, strict=True)):
            wide = KeyValue(*(_with_room(cells, mine, mine + theirs, self.longest, room) for cells in kv))
            for cells, some in zip(wide, new, strict=True):
                cells[mine : mine + theirs, : other.longest] = some[:theirs, : other.longest]
                cells[mine : mine + theirs, other.longest : self.longest] = 0.0  # unused, but multiplied by 0
                cells[:mine, self.longest : other.longest] = 0.0
            self.past[i] = wide
        self.source = join_tensors(self.source, other.source, FieldAxis("sentence", grows=2))
        self.source_mask = join_tensors(self.source_mask, other.source_mask, FieldAxis("sentence", grows=3))
        self.even = self.even and other.even and self.longest == other.longest
        self.longest = max(self.longest, other.longest)
        self.length = torch.cat([self.length, other.length])
        self.writer = join_tensors(self.writer, other.writer, FieldAxis("row", grows=1))
        return self

    # ── a step ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_token(self) -> Tensor | None:
        """Adds one more token to each row, and returns the mask (N, 1, 1, t) of what a row may attend to, or None for
        everything."""
        if self.longest == self.room:
            raise RuntimeError(f"a state with room for {self.room} tokens was given one more")
        beam = torch.arange(self.beams, device=self.writer.device).repeat(len(self.length))  # (N,)
        if self.even:
            self.writer[:, self.longest] = beam
        else:
            self.writer[self._every_row(), self._row_length()] = beam
        self.longest += 1
        if self.even:
            return None
        time = torch.arange(self.longest, device=self.length.device)
        return (time <= self._row_length()[:, None])[:, None, None]  # (N, t) → (N, 1, 1, t)

    def append(self, layer: int, key: Tensor, value: Tensor) -> KeyValue:
        """Appends the key and value (N, H, K) of a token to each row's past, and returns all, each (N, H, t, K)."""
        rows = self.rows
        for cells, new in zip(self.past[layer], (key, value), strict=True):
            if self.even:
                cells[:rows, self.longest - 1] = new
            else:
                cells[:rows, self.longest - 1] = 0.0
                cells[self._every_row(), self._row_length()] = new
        return KeyValue(*(cells[:rows, : self.longest].transpose(1, 2) for cells in self.past[layer]))

    def end_token(self) -> None:
        self.length = self.length + 1

    def position(self) -> Tensor:
        """Returns the position of the next token: (1,) for all sentences, or (B, 1)."""
        return self.length[:1] if self.even else self.length[:, None]

    def _row_length(self) -> Tensor:
        return self.length.repeat_interleave(self.beams) if self.beams > 1 else self.length  # (N,)

    def _every_row(self) -> Tensor:
        return torch.arange(self.rows, device=self.writer.device)


def start_cached(
    layers: Sequence[DecoderParts], memory: Memory, beams: int, room: int, trace: bool = False
) -> CachedState:
    sentences, device = len(memory.mask), memory.mask.device
    heads, width = layers[0].attention.heads, memory.states.shape[-1]
    shape = (sentences * beams, room, heads, width // heads)
    return CachedState(
        beams,
        trace,
        tuple(query_key_value(layer.attention) for layer in layers),
        length=torch.zeros(sentences, dtype=torch.long, device=device),
        longest=0,
        even=True,
        writer=torch.zeros(sentences * beams, room, dtype=torch.long, device=device),
        past=[KeyValue(*(memory.states.new_empty(shape) for _ in range(2))) for _ in layers],
        source=tuple(_contiguous(layer.cross.project_keys_values(memory.states)) for layer in layers),
        source_mask=memory.mask[:, None, None],
    )


def step_cached(
    layers: Sequence[DecoderParts], x: Tensor, state: CachedState, rotation: Rotation | None
) -> tuple[Tensor, list[Tensor]]:
    """Decodes one token of each row: x (B, b, D) → (B, b, D), and, if the state is traced, the attention of each layer
    to the source (N, H, S)."""
    seen = state.begin_token()
    record: list[Tensor] = []
    for i, layer in enumerate(layers):

        def self_attend(y: Tensor, i: int = i, layer: DecoderParts = layer) -> Tensor:
            query, key, value = _heads(state.projections[i](y), 3, layer.attention.heads)  # each (B, H, b, K)
            if rotation is not None:
                query, key = rotate(query, rotation), rotate(key, rotation)
            kv = state.append(i, _by_row(key), _by_row(value))
            mean = attend_fused(_by_row(query)[:, :, None], *kv, mask=seen)  # (N, H, 1, K)
            out: Tensor = layer.attention.output(mean.reshape(y.shape))
            return out

        def cross_attend(y: Tensor, i: int = i, layer: DecoderParts = layer) -> Tensor:
            (query,) = _heads(layer.cross.query(y), 1, layer.cross.heads)  # (B, H, b, K)
            if state.trace:
                mean, weights = attend(query, *state.source[i], mask=state.source_mask)
                record.append(_by_row(weights))
            else:
                mean = attend_fused(query, *state.source[i], mask=state.source_mask)
            out: Tensor = layer.cross.output(mean.transpose(1, 2).reshape(y.shape))
            return out

        x = layer.around_attention(x, self_attend)
        x = layer.around_cross(x, cross_attend)
        x = layer.around_feed_forward(x, layer.feed_forward)
    state.end_token()
    return x, record


def _heads(projected: Tensor, count: int, heads: int) -> list[Tensor]:
    """(B, b, count·D) → `count` times (B, H, b, K)"""
    by_head: Tensor = projected.unflatten(-1, (count, heads, -1))
    return list(by_head.permute(2, 0, 3, 1, 4))


def _by_row(x: Tensor) -> Tensor:
    """(B, H, b, …) → (N, H, …)"""
    return x.transpose(1, 2).flatten(0, 1)


def _contiguous(kv: KeyValue) -> KeyValue:
    return KeyValue(*(x.contiguous() for x in kv))


def _with_room(cells: Tensor, live: int, rows: int, written: int, room: int) -> Tensor:
    """Returns cells (…, R, H, K) for `rows` rows and `room` tokens; the old ones if they are large enough."""
    if len(cells) >= rows and cells.shape[1] >= room:
        return cells
    wide = cells.new_empty(max(rows, len(cells)), room, *cells.shape[2:])
    wide[:live, :written] = cells[:live, :written]
    return wide
