"""The Transformer (Vaswani et al. 2017), post-norm as in the notes or pre-norm, with three kinds of positions and,
optionally, a mixture of experts in place of every second feed-forward layer (Lepikhin et al. 2020).

    B sentences   N = B × beam rows   S source   T target   D width   H heads   K head size   V vocabulary

The same decoder is used for teacher forcing, with all target positions at once under a causal mask, and for a step,
with one position and the keys and values of the past. Where several sentences share a row (`batch.Shared`),
masks separate them and each counts its positions from zero. `transformer_layers.py` has the layers and the
configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.batch import Batch, Shared
from regard.layers import positions
from regard.layers.attention import KeyValue, padding_mask
from regard.layers.dropout import Dropout
from regard.layers.positions import Rotation
from regard.layers.residual import LayerNorm, in_working_precision
from regard.models.attention_parts import AttentionParts, MultiHeadPart
from regard.models.base import AttentionMaps, DecoderStack, Memory, RowModel, State, Step
from regard.models.common import encode_by_length, read_presets, tie_embeddings
from regard.models.layer_parts import LayerParts, SideParts, Sublayer
from regard.models.state import BatchState, map_tensors, per_row, per_sentence, repeat_rows
from regard.models.transformer_cache import CachedState, start_cached, step_cached
from regard.models.transformer_layers import DecoderLayer, EncoderLayer, TransformerConfig, compiled

BIAS_COLUMNS = 8  # additional columns of states and output matrix for a bias: a width that is efficient on GPUs


PRESETS = read_presets(TransformerConfig, "transformer")


class Decoded(NamedTuple):
    """The decoder's output, and the keys and values for the next position."""

    states: Tensor  # (N, T, D)
    past: tuple[KeyValue, ...]


@dataclass(frozen=True)
class TransformerState(BatchState):
    """The past of N rows: their own keys and values in every layer, and those of their sources."""

    trace: bool
    length: int  # of the past, the longest of the sentences
    past: tuple[KeyValue | None, ...] = per_row()  # per layer (N, H, length, K); None: no token read
    blank: Tensor | None = per_sentence()  # (B,) positions of the past before a sentence's beginning; None: zeros
    source: tuple[KeyValue, ...] = per_sentence(grows=2)  # per layer (B, H, S, K)
    source_mask: Tensor = per_sentence(grows=1)  # (B, S)

    def join(self, other: Self) -> Self:
        length = max(self.length, other.length)
        sides = [side._preceded_by(length - side.length) for side in (self, other)]
        return super(TransformerState, sides[0]).join(sides[1])

    def _preceded_by(self, missing: int) -> Self:
        """Returns this state with its past padded at the beginning by `missing` positions."""
        none = torch.zeros(len(self.source_mask), dtype=torch.long, device=self.source_mask.device)
        blank = (none if self.blank is None else self.blank) + missing
        if not self.length:
            heads, _, size = self.source[0].key.shape[1:]
            nothing = self.source[0].key.new_zeros(len(none) * self.beams, heads, missing, size)
            past: tuple[KeyValue | None, ...] = (KeyValue(nothing, nothing),) * len(self.past)
        else:
            past = map_tensors(self.past, lambda tensor: F.pad(tensor, (0, 0, missing, 0)))
        return replace(self, length=self.length + missing, past=past, blank=blank)


class Transformer(RowModel):
    def __init__(self, config: TransformerConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        self.source_embedding = nn.Embedding(source_size, config.width)
        self.target_embedding = nn.Embedding(target_size, config.width)
        self.encoder = nn.ModuleList(EncoderLayer(config, i) for i in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config, i) for i in range(config.decoder_layers))
        pre = config.norm == "pre"
        self.encoder_norm = LayerNorm(config.width) if pre else nn.Identity()
        self.decoder_norm = LayerNorm(config.width) if pre else nn.Identity()
        if config.positions == "learned":
            self.max_positions = config.max_positions
            self.source_positions = nn.Embedding(config.max_positions, config.width)
            self.target_positions = nn.Embedding(config.max_positions, config.width)
        self.add_positions = positions.AddedPositions()
        self.dropout = Dropout(config.dropout)
        self.output = nn.Linear(config.width, target_size, bias=config.output_bias)
        self._initialize()
        tie_embeddings(self, config.tie, joint)

    def _initialize(self) -> None:
        """Initializes: Glorot for matrices, zeros for biases, N(0, 1/D) for embeddings (times √D: unit variance)."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.width**-0.5)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        logits: Tensor = self.output(self._states(batch))  # (B, T, V)
        return logits

    def states(self, batch: Batch) -> Tensor:
        """(B, T, D); if the output has a bias, (B, T, D + BIAS_COLUMNS) with ones in the first additional column."""
        states = self._states(batch)
        if not self.config.output_bias:
            return states
        extra = states.new_zeros(*states.shape[:2], BIAS_COLUMNS)
        extra[..., 0] = 1.0
        return torch.cat([states, extra], dim=-1)

    @property
    def output_matrix(self) -> Tensor:
        """(V, D), or (V, D + BIAS_COLUMNS) with the bias in the first additional column."""
        if not self.config.output_bias:
            return self.output.weight
        bias = nn.functional.pad(self.output.bias[:, None], (0, BIAS_COLUMNS - 1))  # (V, BIAS_COLUMNS)
        return torch.cat([self.output.weight, bias], dim=1)

    def _states(self, batch: Batch) -> Tensor:
        """Returns the input of the output projection, (B, T, D)."""
        if batch.shared is not None:
            return self._states_in_rows(batch, batch.shared)
        memory = self._encode(batch.src, batch.src_mask)
        return self._decode(batch.tgt_in, self._begin(memory), real=batch.tgt_mask).states

    def _states_in_rows(self, batch: Batch, shared: Shared) -> Tensor:
        whole = batch.src.is_cuda and not self.config.experts  # a mixture needs the loads on the host
        read: Callable[..., Tensor] = compiled(EncoderLayer.in_rows) if whole else EncoderLayer.in_rows
        write: Callable[..., Tensor] = compiled(DecoderLayer.in_rows) if whole else DecoderLayer.in_rows
        x = self._embed(batch.src, self.source_embedding, "source", shared.src_position)  # (B, S, D)
        rotation = self._rotation(shared.src_position)
        for reader in self.encoder_layers():
            x = read(reader, x, shared.src_sentence, rotation)
        memory = self.encoder_norm(x)
        x = self._embed(batch.tgt_in, self.target_embedding, "target", shared.tgt_position)  # (B, T, D)
        rotation = self._rotation(shared.tgt_position)
        for writer in self.decoder_layers():
            x = write(writer, x, memory, shared.tgt_sentence, shared.src_sentence, rotation)
        states: Tensor = self.decoder_norm(x)
        return states

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        if src.device.type != "cpu" or torch.is_grad_enabled() or self.config.experts:
            return self._encode(src, mask)
        return Memory(encode_by_length(lambda some, real: self._encode(some, real).states, src, mask), mask)

    def start(
        self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None
    ) -> TransformerState | CachedState:
        if room is not None:
            return start_cached(self.decoder_layers(), memory, beams, room, trace)
        return self._begin(memory, trace, beams)

    def step(self, token: Tensor, state: State) -> Step:
        if isinstance(state, CachedState):
            return self._step_cached(token, state)
        assert isinstance(state, TransformerState)
        cross: list[Tensor] | None = [] if state.trace else None
        own: list[Tensor] | None = [] if state.trace else None
        decoded = self._decode(token[:, None], state, own, cross)  # T = 1
        logits = self.output(decoded.states[:, 0])  # (N, V)
        attention = None
        if cross is not None:
            attention = torch.stack([w.transpose(1, 2).flatten(0, 1) for w in cross], dim=1)  # (B, H, b, S) → (N, H, S)
        back = tuple(w[:, :, 0] for w in own or ())  # each (N, H, t)
        return Step(logits, replace(state, length=state.length + 1, past=decoded.past), attention, back)

    def _step_cached(self, token: Tensor, state: CachedState) -> Step:
        x, rotation = self.embed_target(token.view(-1, state.beams), state.position())  # (B, b, D)
        x, cross = step_cached(self.decoder_layers(), x, state, rotation)
        logits = self.output(self.decoder_norm(x).flatten(0, 1))  # (N, V)
        return Step(logits, state, torch.stack(cross, dim=1) if cross else None)  # (N, L, H, S)

    def embed_source(self, tokens: Tensor, position: Tensor) -> tuple[Tensor, Rotation | None]:
        """Returns the encoder's input (B, S, D) for tokens (B, S) at positions (S,), and the rotation of its heads."""
        return self._embed(tokens, self.source_embedding, "source", position), self._rotation(position)

    def embed_target(
        self, tokens: Tensor, position: Tensor, sinusoids: Tensor | None = None
    ) -> tuple[Tensor, Rotation | None]:
        """Returns the decoder's input (B, T, D) for tokens (B, T) at positions (T,) or (B, T), and the rotation of its
        heads. If the sinusoids of all positions (…, D) are given, they are looked up."""
        return self._embed(tokens, self.target_embedding, "target", position, sinusoids), self._rotation(position)

    def attention(self, batch: Batch) -> AttentionMaps:
        maps = AttentionMaps([], [], [])
        memory = self._encode(batch.src, batch.src_mask, maps.encoder)
        self._decode(batch.tgt_in, self._begin(memory), maps.decoder, maps.cross)
        return maps

    def attention_parts(self) -> AttentionParts:
        parts: AttentionParts = {}
        rotary = self.config.positions == "rotary"
        for i, encoder in enumerate(self.encoder_layers()):
            parts["encoder", i] = MultiHeadPart(encoder.attention, encoder.around_attention, rotary=rotary)
        for i, decoder in enumerate(self.decoder_layers()):
            parts["decoder", i] = MultiHeadPart(decoder.attention, decoder.around_attention, None, True, rotary)
            parts["cross", i] = MultiHeadPart(decoder.cross, decoder.around_cross, self.encoder_norm)
        return parts

    def decoder_stack(self) -> DecoderStack:
        return DecoderStack(self.decoder_layers(), self.decoder_norm, self.output)

    def layer_parts(self) -> LayerParts:
        attention = self.attention_parts()

        def of_attention(kind: Literal["encoder", "decoder", "cross"], i: int) -> Sublayer:
            part = cast(MultiHeadPart, attention[kind, i])
            return Sublayer("cross" if kind == "cross" else "attention", part, part.residual)

        def of_layer(layer: EncoderLayer | DecoderLayer) -> Sublayer:
            return Sublayer("feed_forward", layer.feed_forward, layer.around_feed_forward)

        encoder = [(of_attention("encoder", i), of_layer(one)) for i, one in enumerate(self.encoder_layers())]
        decoder = [
            (of_attention("decoder", i), of_attention("cross", i), of_layer(one))
            for i, one in enumerate(self.decoder_layers())
        ]
        pre, learned = self.config.norm == "pre", self.config.positions == "learned"
        tables = (self.source_positions, self.target_positions) if learned else (None, None)
        return LayerParts(
            SideParts(self.source_embedding, tables[0], tuple(encoder), self.encoder_norm if pre else None),
            SideParts(self.target_embedding, tables[1], tuple(decoder), self.decoder_norm if pre else None),
            self.output,
            math.sqrt(self.config.width),
            self.config.positions,
            None if self.config.positions == "rotary" else self.add_positions,
        )

    def flops(self, source: int, target: int) -> float:
        """Counts no operations for embeddings, which are lookups; masked scores count in full, as in the equation."""
        width = self.config.width

        def attention(queries: int, keys: int) -> float:
            projections = 2 * width * width * (2 * queries + 2 * keys)  # query and output, key and value
            return projections + 2 * 2 * queries * keys * width  # QKᵀ and the mean of the values, all heads together

        total = 2.0 * target * width * self.target_size  # the output projection
        for encoder in self.encoder_layers():
            total += attention(source, source) + encoder.feed_forward.flops(source)
        for decoder in self.decoder_layers():
            total += attention(target, target) + attention(target, source) + decoder.feed_forward.flops(target)
        return total

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _encode(self, src: Tensor, mask: Tensor, record: list[Tensor] | None = None) -> Memory:
        position = torch.arange(src.shape[1], device=src.device)
        x, rotation = self.embed_source(src, position)
        seen = padding_mask(mask)
        for layer in self.encoder:
            x = layer(x, seen, rotation, record)
        return Memory(self.encoder_norm(x), mask)

    def _begin(self, memory: Memory, trace: bool = False, beams: int = 1) -> TransformerState:
        source = tuple(layer.cross.project_keys_values(memory.states) for layer in self.decoder_layers())
        return TransformerState(beams, trace, 0, (None,) * len(source), None, source, memory.mask)

    def _decode(
        self,
        tokens: Tensor,  # (N, T)
        state: TransformerState,
        self_record: list[Tensor] | None = None,
        cross_record: list[Tensor] | None = None,
        real: Tensor | None = None,
    ) -> Decoded:
        position = torch.arange(state.length, state.length + tokens.shape[1], device=tokens.device)
        own_mask, source_mask = None, padding_mask(state.source_mask)
        if state.blank is not None:
            blank = repeat_rows(state.blank, state.beams)[:, None]  # (N, 1)
            own_mask = padding_mask(torch.arange(state.length + 1, device=tokens.device) >= blank)
            position = position - blank  # (N, 1)
        x, rotation = self.embed_target(tokens, position)
        present: list[KeyValue] = []
        for layer, past, source in zip(self.decoder_layers(), state.past, state.source, strict=True):
            x, kv = layer(x, past, own_mask, source, source_mask, rotation, self_record, cross_record, real)
            present.append(kv)
        return Decoded(self.decoder_norm(x), tuple(present))

    def _embed(
        self, tokens: Tensor, table: nn.Embedding, side: str, position: Tensor, sinusoids: Tensor | None = None
    ) -> Tensor:
        config = self.config
        x = table(tokens) * math.sqrt(config.width)  # (N, T, D)
        if config.positions == "sinusoidal":
            known = positions.sinusoids(position, config.width) if sinusoids is None else sinusoids[position]
            x = self.add_positions(x, known)
        elif config.positions == "learned":
            table = self.source_positions if side == "source" else self.target_positions
            x = self.add_positions(x, positions.learned(position, table))
        embedded: Tensor = self.dropout(in_working_precision(x))
        return embedded

    def _rotation(self, position: Tensor) -> Rotation | None:
        if self.config.positions != "rotary":
            return None
        return positions.rotation(position, self.config.width // self.config.heads)

    def encoder_layers(self) -> list[EncoderLayer]:
        return cast(list[EncoderLayer], list(self.encoder))

    def decoder_layers(self) -> list[DecoderLayer]:
        return cast(list[DecoderLayer], list(self.decoder))
