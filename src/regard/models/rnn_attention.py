"""The recurrent encoder–decoder with attention (Bahdanau et al. 2015; Luong et al. 2015), which removes the bottleneck
of a single sentence vector.

    B sentences   N = B × beam rows   S source   T target   V vocabulary
    E embedding   D width   L layers   K width of an annotation h(i)   A width of the additive score

    h(i) = [h→(i); h←(i)]                          the encoder is bidirectional: word i in its context
    α(t, i) = softmax over i of score(s, h(i))     the weight of word i at step t (layers/scores.py)
    c(t) = Σᵢ α(t, i) h(i)                         the context: a mean of the source, a new one for every target word
    attend = "before"   s = s(t−1), then s(t) = f(s(t−1), y(t−1), c(t))             Bahdanau, the notes
    attend = "after"    s(t) = f(s(t−1), y(t−1)), then s = s(t)                     Luong
    input_feeding       s(t) = f(s(t−1), y(t−1), ŝ(t−1))                            Luong, section 3.3
    ŝ(t) = tanh(W[c(t); s(t)])                     P(y(t)) = softmax(V ŝ(t)); with readout = "state", softmax(V s(t))
    coverage            vᵀ tanh(W₁h(i) + W₂s + w Σ α(<t, i))                        Tu et al. 2016; See et al. 2017

The preset "notes" is the notes' own model (file 003, equations 4 to 8): tanh cells without biases, an encoder that
reads from left to right, s(0) = h(S), attend = "before", readout = "state". Two things are added to the equations: v,
without which the score is not one number, and the factor √E on embeddings, which only changes their initial scale. The
notes write [c, y] where the code has [y; c]: the same up to the order of W's columns.

The decoder starts from tanh(W[h→(S); h←(1)]); Bahdanau takes h←(1) alone. With "after" and neither input feeding nor
coverage, teacher forcing is one fused call and one attention for all positions. "before" and input feeding run step by
step: the cell needs the context, and the context needs the cell. With coverage each attention needs those before it.

Not here: Bahdanau's maxout readout of s(t−1), y(t−1) and c(t), which ŝ(t) replaces; Luong's local attention; the
coverage loss of See et al.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.config import key, require
from regard.layers.recurrent import Carry, Cell, Recurrent
from regard.layers.scores import Score, Scores, weighted_mean
from regard.models import outline as draw
from regard.models.attention_parts import AttentionParts, ScorePart
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, check_ties, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence, repeat_rows


@dataclass(frozen=True)
class RnnAttentionConfig:
    cell: Cell = key("lstm", "recurrent cell: lstm, gru or tanh")
    width: int = key(384, "units of a decoder layer")
    encoder_width: int = key(192, "units of each of the encoder's directions")
    encoder_layers: int = key(2, "encoder layers")
    bidirectional: bool = key(True, "the encoder reads both ways, not from left to right alone")
    start: Literal["bridge", "end"] = key(
        "bridge", "the decoder's first state: a layer over the encoder's last states, or these states themselves"
    )
    decoder_layers: int = key(2, "decoder layers")
    embedding: int = key(384, "numbers per token read")
    score: Score = key("additive", "how a decoder state is compared with a source word")
    alignment: int = key(384, "units of the additive score")
    attend: Literal["before", "after"] = key(
        "after", "attend before the cell's step (Bahdanau; slow), or after it (Luong)"
    )
    input_feeding: bool = key(False, "the last attentional vector enters the next step (Luong; slow)")
    readout: Literal["attentional", "state"] = key(
        "attentional", "what the output layer reads: tanh(W[c; s]), or the state s alone (the notes)"
    )
    biases: bool = key(True, "biases in cells, score and start; the notes have none")
    coverage: bool = key(False, "the additive score depends on the weight that each word has had so far (slow)")
    dropout: float = key(0.2, "share of embeddings and layer outputs set to zero in training")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "encoder_width", "encoder_layers", "decoder_layers", "embedding", "alignment")
        check_shares(self, "dropout")
        check_ties(self.tie, self.embedding, self.width)
        require(
            self.score in ("additive", "general") or self.width == self.annotation,
            f'model.score = "{self.score}" needs model.width = {"2 × " if self.bidirectional else ""}'
            f'model.encoder_width, but they are {self.width} and {self.encoder_width}; use score = "general"',
        )
        same = (self.encoder_width, self.encoder_layers) == (self.width, self.decoder_layers)
        require(
            self.start == "bridge" or (same and not self.bidirectional),
            'model.start = "end" needs model.bidirectional = false and an encoder of the decoder\'s width and '
            'layers; use start = "bridge"',
        )
        require(
            self.readout == "attentional" or self.attend == "before",
            'model.readout = "state" needs model.attend = "before", but it is "after", where the context would reach '
            "nothing",
        )
        require(
            not self.input_feeding or self.attend == "after",
            'model.input_feeding = true needs model.attend = "after", but it is "before", which feeds the context',
        )
        require(
            not self.coverage or self.score == "additive",
            f'model.coverage = true needs model.score = "additive", but it is "{self.score}"',
        )

    @property
    def annotation(self) -> int:
        """K: the width of h(i), all directions together."""
        return self.encoder_width * (2 if self.bidirectional else 1)


PRESETS = read_presets(RnnAttentionConfig, "rnn-attention")


@dataclass(frozen=True)
class RnnAttentionMemory(Memory):
    final: Carry  # (L, B, D) after the last token read; with two directions (L·2, B, D)


@dataclass(frozen=True)
class RnnAttentionState(BatchState):
    """The decoder state of N rows, and the B sentences they attend to."""

    trace: bool
    carry: Carry = per_row(axis=1)  # (L, N, D)
    fed: Tensor | None = per_row()  # (N, D) ŝ(t−1), with input feeding
    coverage: Tensor | None = per_row(grows=1)  # (N, S) sum of the weights so far
    values: Tensor = per_sentence(grows=1)  # (B, S, K) the encoder's output for each word
    prepared: Tensor = per_sentence(grows=1)  # (B, S, ·) the part of the score that depends on it alone
    mask: Tensor = per_sentence(grows=1)  # (B, S)


class AttentionContext(NamedTuple):
    context: Tensor  # (N, T, K)
    weights: Tensor  # (N, T, S)
    coverage: Tensor | None  # (N, S) with these weights added


class CellInput(NamedTuple):
    joined: Tensor  # (N, E + K)
    context: Tensor  # (N, 1, K)


class ContextInput(nn.Module):
    """[y; c]: the input of the cell. A module without weights, so that hooks can observe it."""

    def forward(self, word: Tensor, context: Tensor) -> CellInput:
        """(N, E), (N, 1, K)"""
        return CellInput(_beside(word, context[:, 0]), context)


class RnnAttentionDecoded(NamedTuple):
    attentional: Tensor  # (N, T, D) ŝ, or s with readout = "state"
    weights: Tensor  # (N, T, S)
    state: RnnAttentionState


class RnnAttention(Model):
    def __init__(self, config: RnnAttentionConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        annotation = config.annotation  # K
        self.source_embedding = nn.Embedding(source_size, config.embedding)
        self.target_embedding = nn.Embedding(target_size, config.embedding)
        sizes = (config.embedding, config.encoder_width, config.encoder_layers)
        self.encoder = Recurrent(config.cell, *sizes, config.dropout, config.bidirectional, config.biases)
        fed = {"before": annotation, "after": config.width if config.input_feeding else 0}[config.attend]
        sizes = (config.embedding + fed, config.width, config.decoder_layers)
        self.decoder = Recurrent(config.cell, *sizes, config.dropout, biases=config.biases)
        self.parts = 2 if config.cell == "lstm" else 1  # hidden, and cell where there is one
        first = self.parts * config.decoder_layers * config.width
        self.bridge = nn.Linear(annotation, first, bias=config.biases) if config.start == "bridge" else None
        self.scores = Scores(config.score, config.width, annotation, config.alignment, config.biases)
        self.of_coverage = nn.Parameter(torch.zeros(config.alignment)) if config.coverage else None  # w
        attentional = config.readout == "attentional"
        self.combine = nn.Linear(annotation + config.width, config.width, bias=False) if attentional else None
        self.enter = ContextInput()
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.width, target_size, bias=False)
        tie_embeddings(self, config.tie, joint, std=config.embedding**-0.5)  # √E times them has unit variance

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        state = self.start(self.encode(batch.src, batch.src_mask))
        logits: Tensor = self.output(self.dropout(self._decode(batch.tgt_in, state).attentional))
        return logits  # (B, T, V)

    def encode(self, src: Tensor, mask: Tensor) -> RnnAttentionMemory:
        states, end = self.encoder(self._embed(src, self.source_embedding), mask)
        return RnnAttentionMemory(self.dropout(states), mask, end)

    def start(
        self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None
    ) -> RnnAttentionState:
        assert isinstance(memory, RnnAttentionMemory)
        config = self.config
        carry = repeat_rows(self._first(memory.final), beams, axis=1)
        covered = torch.zeros_like(memory.mask, dtype=memory.states.dtype) if config.coverage else None
        return RnnAttentionState(
            beams=beams,
            carry=carry,
            fed=torch.zeros_like(carry.hidden[-1]) if config.input_feeding else None,
            coverage=repeat_rows(covered, beams),
            values=memory.states,
            prepared=self.scores.prepare(memory.states),
            mask=memory.mask,
            trace=trace,
        )

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, RnnAttentionState)
        decoded = self._decode(token[:, None], state)  # T = 1
        logits = self.output(decoded.attentional[:, 0])  # (N, V)
        weights = decoded.weights[:, None] if state.trace else None  # (N, 1, S) → (N, 1, 1, S)
        return Step(logits, decoded.state, weights)

    def attention(self, batch: Batch) -> AttentionMaps:
        state = self.start(self.encode(batch.src, batch.src_mask))
        weights = self._decode(batch.tgt_in, state).weights
        return AttentionMaps([], [], [weights[:, None]])  # one layer of one head: (B, 1, T, S)

    def attention_parts(self) -> AttentionParts:
        reader = self.enter if self.combine is None else self.combine
        return {("cross", 0): ScorePart(self.scores, reader, True, self.of_coverage)}

    def flops(self, source: int, target: int) -> float:
        config, pairs = self.config, source * target
        width, annotation = config.width, config.annotation
        score = {
            "additive": (source * annotation + target * width + pairs) * config.alignment,
            "general": (source * annotation + pairs) * width,
            "dot": pairs * width,
            "scaled": pairs * width,
        }[config.score]
        bridge = 0 if self.bridge is None else annotation * self.bridge.out_features
        combine = 0 if self.combine is None else annotation + width
        outputs = target * (combine + self.target_size) * width
        products = bridge + score + pairs * annotation + outputs
        return self.encoder.flops(source) + self.decoder.flops(target) + 2.0 * products

    def outline(self, source: int, target: int) -> draw.Outline:
        config = self.config
        more = () if self.of_coverage is None else (self.of_coverage,)
        attend = draw.scores(self.scores, target, source, config.annotation, "h(1) … h(S)", more)
        before = config.attend == "before"
        inputs = "y(t−1), c(t)" if before else "y(t−1), ŝ(t−1)" if config.input_feeding else "y(t−1)"
        start = "s(0) = h(S)" if self.bridge is None else ""
        cells = draw.recurrent(self.decoder.stack, target, f"s(t) = f(s(t−1), {inputs})", start)
        layers: list[draw.OutlineLayer | draw.Block] = [*cells, attend]
        if before:
            layers = [draw.asked_by_cell(attend, *cells)]
        elif config.input_feeding:
            layers[0] = replace(cells[0], inputs=("y", "ŝ(t−1)"))
        if self.combine is not None:
            combine = draw.linear(self.combine, target, "Combine", "ŝ = tanh(W [c; s])")
            layers.append(replace(combine, inputs=("c", "s")))
        bridge = None
        if self.bridge is not None:
            ends = ("h→(S)", "h←(1)") if config.bidirectional else ("h(S)",)
            bridge = draw.linear(self.bridge, 1, "Bridge", f"s(0) = tanh(W [{'; '.join(ends)}])")
            bridge = replace(bridge, inputs=ends)
        return draw.two_sides(
            [draw.embedding(self.source_embedding, source), *draw.recurrent(self.encoder.stack, source)],
            [draw.embedding(self.target_embedding, target), *layers, *draw.output(self.output, target)],
            "h(1) … h(S), one for each token",
            bridge,
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _first(self, end: Carry) -> Carry:
        """s(0) (L, B, D) from the encoder's final state: the state itself, or tanh(W[h→(S); h←(1)]) of its top layer"""
        if self.bridge is None:
            return end
        config = self.config
        top = end.hidden[-2 if config.bidirectional else -1 :].transpose(0, 1).flatten(1)  # (1 or 2, B, ·) → (B, K)
        first = self.bridge(top).tanh().view(len(top), self.parts, config.decoder_layers, config.width)
        hidden, *cell = first.permute(1, 2, 0, 3).contiguous()  # (B, 1 or 2, L, D) → hidden (L, B, D), cell (L, B, D)
        return Carry(hidden, cell[0] if cell else None)

    def _decode(self, tokens: Tensor, state: RnnAttentionState) -> RnnAttentionDecoded:
        """tokens (N, T): all target positions, or one"""
        x = self._embed(tokens, self.target_embedding)
        if self.config.attend == "before" or self.config.input_feeding:
            return self._decode_by_step(x, state)
        tops, carry = self.decoder(x, carry=state.carry)
        attended = self._attend(tops, state)
        return RnnAttentionDecoded(
            self._combine(attended.context, tops),
            attended.weights,
            replace(state, carry=carry, coverage=attended.coverage),
        )

    def _decode_by_step(self, x: Tensor, state: RnnAttentionState) -> RnnAttentionDecoded:
        """Decodes position by position, if each step needs the attention of the last: x (N, T, E)."""
        tops, contexts, weights, fed = [], [], [], []
        for word in x.unbind(dim=1):  # (N, E)
            top, attended, state = self._advance(word, state)
            tops.append(top)
            contexts.append(attended.context)
            weights.append(attended.weights)
            if state.fed is not None:
                fed.append(state.fed)
        if fed:
            attentional = torch.stack(fed, dim=1)  # (N, T, D)
        else:  # no step needs it: computed for all positions at once
            attentional = self._combine(torch.cat(contexts, dim=1), torch.stack(tops, dim=1))
        return RnnAttentionDecoded(attentional, torch.cat(weights, dim=1), state)

    def _advance(self, word: Tensor, state: RnnAttentionState) -> tuple[Tensor, AttentionContext, RnnAttentionState]:
        """Reads one word (N, E): returns s(t) (N, D), its context, and the next state."""
        if state.fed is None:  # Bahdanau: attend, then step
            attended = self._attend(state.carry.hidden[-1][:, None], state)
            top, carry = self.decoder.step(self.enter(word, attended.context).joined, state.carry)
            return top, attended, replace(state, carry=carry, coverage=attended.coverage)
        top, carry = self.decoder.step(_beside(word, state.fed), state.carry)  # Luong: step, then attend
        attended = self._attend(top[:, None], state)
        fed = self._combine(attended.context[:, 0], top)
        return top, attended, replace(state, carry=carry, coverage=attended.coverage, fed=fed)

    def _attend(self, queries: Tensor, state: RnnAttentionState) -> AttentionContext:
        """Attends with queries (N, T, D) at once, or in sequence with coverage, which depends on earlier queries."""
        if state.coverage is None:
            beside = queries.view(len(state.mask), -1, queries.shape[-1])  # (B, b·T, D): beams as further queries
            context, weight = weighted_mean(self.scores(beside, state.prepared), state.mask, state.values)
            shape = queries.shape[:2]
            return AttentionContext(context.view(*shape, -1), weight.view(*shape, -1), None)
        assert self.of_coverage is not None
        coverage, contexts, weights = state.coverage, [], []
        source = repeat_rows((state.prepared, state.mask, state.values), state.beams)  # (N, S, ·), (N, S), (N, S, K)
        for query in queries.split(1, dim=1):  # (N, 1, D)
            prepared = source[0] + coverage[..., None] * self.of_coverage  # (N, S, A)
            context, weight = weighted_mean(self.scores(query, prepared), *source[1:])
            coverage = coverage + weight[:, 0]
            contexts.append(context)
            weights.append(weight)
        return AttentionContext(torch.cat(contexts, dim=1), torch.cat(weights, dim=1), coverage)

    def _combine(self, context: Tensor, top: Tensor) -> Tensor:
        """ŝ = tanh(W[c; s]), or s itself"""
        if self.combine is None:
            return top
        attentional: Tensor = self.combine(_beside(context, top)).tanh()
        return attentional

    def _embed(self, tokens: Tensor, table: nn.Embedding) -> Tensor:
        embedded: Tensor = self.dropout(table(tokens) * math.sqrt(self.config.embedding))  # (N, T, E)
        return embedded


def _beside(a: Tensor, b: Tensor) -> Tensor:
    """[a; b]; under autocast the two may have different precisions."""
    return torch.cat([a, b.to(a.dtype)], dim=-1)
