"""The fixed memory of a Transformer's decoding step that is recorded as a CUDA graph, and the recording.

    C places for sentences   b beams   N = C·b rows   S source   R room, in tokens   L layers   D width   V vocabulary

The keys and values of a sentence stay in its slot until it is done. Sentences are dropped, reordered and added by
reassigning slots, and beams are reordered by changing their ancestors (`layers/cache_attention.py`).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.layers.cache_attention import Slots, attend_past, attend_source
from regard.layers.positions import Rotation, rotate, sinusoids
from regard.models.base import FixedLogits
from regard.models.recorded_layers import Sublayer, feed_forward, recorded, through, wide_product
from regard.models.state import rows_of
from regard.models.transformer import Transformer
from regard.models.transformer_cache import query_key_value
from regard.models.transformer_layers import DecoderLayer

ALIGNED = 64  # the columns of the logits in memory are a multiple of this; products of other sizes take far longer


def next_power_of_two(size: int, least: int) -> int:
    """Rounds a size, at least `least`, up to a power of two, so that few shapes occur."""
    return max(least, 1 << (size - 1).bit_length())


class Shape(NamedTuple):
    beams: int
    sentences: int
    source: int
    room: int

    def holds(self, other: Shape) -> bool:
        large = all(a >= b for a, b in zip(self[1:], other[1:], strict=True))
        return self.beams == other.beams and large

    def bytes(self, token: int) -> int:
        """Returns the bytes of keys and values, given `token` bytes per token in all layers; the rest is small."""
        return token * self.sentences * (self.beams * self.room + self.source)

    def within(self, most: int, token: int) -> Shape:
        """Halves the number of sentences, to at least one, until the shape takes at most `most` bytes. Halving makes
        few shapes occur.

        >>> Shape(5, 512, 512, 1024).within(9 << 30, token=12288)  # 8 GiB; of all sentences 33
        Shape(beams=5, sentences=128, source=512, room=1024)
        """
        shape = self
        while shape.sentences > 1 and shape.bytes(token) > most:
            shape = shape._replace(sentences=shape.sentences // 2)
        return shape


class Arena:
    def __init__(self, model: Transformer, shape: Shape, rows: int) -> None:
        self.model, self.shape = model, shape
        beams, sentences, source, room = shape
        weight, config = model.output.weight, model.config
        device, layers, width = weight.device, config.decoder_layers, config.width
        taken = sentences * beams
        self.rows = -(-taken // rows) * rows  # rows of every product
        self.projections = [query_key_value(layer.attention) for layer in model.decoder_layers()]

        def whole_numbers(*size: int, dtype: torch.dtype = torch.int32) -> Tensor:
            return torch.zeros(size, dtype=dtype, device=device)

        self.past = weight.new_zeros(layers, 2, taken, room, width)
        self.source = weight.new_zeros(layers, 2, sentences, source, width)
        self.token = whole_numbers(self.rows, dtype=torch.long)
        self.position = whole_numbers(self.rows, dtype=torch.long)
        matrix = model.output_matrix
        self.vocabulary = len(matrix)
        self.output_matrix = pad(matrix, (0, 0, 0, -len(matrix) % ALIGNED)).contiguous()
        self.sinusoids = sinusoids(torch.arange(room, device=device), width).to(weight.dtype)
        self.slots = Slots(
            beams,
            slot=torch.arange(sentences, dtype=torch.int32, device=device),  # a permutation: those in use come first
            length=whole_numbers(sentences),
            source_length=whole_numbers(sentences) + 1,
            live=whole_numbers(1),
            ancestor=whole_numbers(taken, room),
        )
        self.live_sentences = 0
        self.run = recorded(self._forward, device)
        self.fixed: FixedLogits | None = None  # since the first step

    def step(self, token: Tensor) -> FixedLogits:
        """Returns the logits (all rows, V) after one more token of each active row; they are valid until the next
        step."""
        self.token[: len(token)].copy_(token)
        logits = self.run()
        self.fixed = self.fixed or FixedLogits(logits)
        return self.fixed

    # ── assignment of slots ───────────────────────────────────────────────────────────────────────────────────────────

    def clear(self) -> None:
        self._set_live(0)

    def select(self, rows: Tensor) -> None:
        self.slots.ancestor[: len(rows)] = self.slots.ancestor[rows]

    def keep(self, sentences: Tensor) -> None:
        count, slot = len(sentences), self.slots.slot
        kept = slot[sentences]
        taken = torch.zeros_like(slot).index_fill(0, kept.long(), 1)
        slot[count:] = taken.argsort(stable=True)[: len(taken) - count].to(torch.int32)  # the free ones come first
        slot[:count] = kept
        by_sentence = self.slots.ancestor.view(self.shape.sentences, -1)
        for numbers in (self.slots.length, self.slots.source_length, by_sentence):
            numbers[:count] = numbers[sentences]
        self._set_live(count)

    def add(self, seen: Tensor, source_length: Tensor) -> None:
        """Adds sentences after the others, given the keys and values of their sources (B, S, 2L, D)."""
        begin, end = self.live_sentences, self.live_sentences + len(seen)
        assert end <= self.shape.sentences
        slot = self.slots.slot[begin:end].long()
        self.source.flatten(0, 1)[:, slot, : seen.shape[1]] = seen.permute(2, 0, 1, 3)  # (2L, B, S, D)
        self.slots.length[begin:end] = 0
        self.slots.source_length[begin:end] = source_length.to(torch.int32)
        self._set_live(end)

    def copy_from(self, other: Arena) -> None:
        """Copies the active sentences of a smaller arena."""
        count, beams, theirs = other.live_sentences, self.shape.beams, other.slots
        slot = theirs.slot[:count].long()
        rows = rows_of(slot, beams)
        self.source[:, :, :count, : other.shape.source] = other.source[:, :, slot]
        self.past[:, :, : len(rows), : other.shape.room] = other.past[:, :, rows]
        self.slots.ancestor[: len(rows), : other.shape.room] = theirs.ancestor[: len(rows)]
        self.slots.slot.copy_(torch.arange(self.shape.sentences))
        self.slots.length[:count] = theirs.length[:count]
        self.slots.source_length[:count] = theirs.source_length[:count]
        self._set_live(count)

    def _set_live(self, count: int) -> None:
        self.live_sentences = count
        self.slots.live.fill_(count)

    # ── the step ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _forward(self) -> Tensor:
        beams, sentences = self.shape.beams, self.shape.sentences
        most = self.shape.room if self.model.max_positions is None else min(self.shape.room, self.model.max_positions)
        known = self.slots.length.clamp(max=most - 1)  # the length of an empty slot keeps growing
        self.position[: sentences * beams].view(sentences, beams).copy_(known[:, None])
        x, rotation = self.model.embed_target(self.token[:, None], self.position[:, None], self.sinusoids)
        states = self._through_layers(x[:, 0], rotation)
        self.slots.length.add_(1)
        return wide_product(states, self.output_matrix)[:, : self.vocabulary]

    def _through_layers(self, x: Tensor, rotation: Rotation | None) -> Tensor:
        """x (N, D) → the decoder's output (N, D)"""
        sublayers: list[Sublayer] = []
        for i, layer in enumerate(self.model.decoder_layers()):
            sublayers.append((layer.around_attention.norm, partial(self._attend_past, i, layer, rotation)))
            sublayers.append((layer.around_cross.norm, partial(self._attend_source, i, layer)))
            sublayers.append((layer.around_feed_forward.norm, partial(feed_forward, layer.feed_forward)))
        return through(x, sublayers, self.model.decoder_norm if self.model.config.norm == "pre" else None)

    def _attend_past(self, index: int, layer: DecoderLayer, rotation: Rotation | None, x: Tensor) -> Tensor:
        heads = layer.attention.heads
        query, key, value = self.projections[index](x).chunk(3, dim=-1)  # each (N, D)
        if rotation is not None:
            query, key = (_rotated(some, heads, rotation) for some in (query, key))
        past = (self.past[index, 0], self.past[index, 1])
        mean = attend_past(query, key, value, past, self.slots, heads, note=index == 0)
        out: Tensor = layer.attention.output(mean)
        return out

    def _attend_source(self, index: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        source = (self.source[index, 0], self.source[index, 1])
        mean = attend_source(layer.cross.query(x), source, self.slots, layer.cross.heads)
        out: Tensor = layer.cross.output(mean)
        return out


def _rotated(x: Tensor, heads: int, rotation: Rotation) -> Tensor:
    """Rotates (N, D) head by head."""
    return rotate(x.unflatten(1, (heads, -1))[:, :, None], rotation)[:, :, 0].flatten(1)  # (N, H, 1, K)
