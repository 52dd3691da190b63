"""GNMT, the deep LSTM translator (Wu et al. 2016), and its decoder layer that has to run step by step.

    B sentences   N = B × beam rows   S source   T target   D width   K memory width   V vocabulary

    m¹_s = [LSTM→(x_s), LSTM←(x_s)]                      the bottom encoder layer reads both ways
    mˡ_s = LSTM(mˡ⁻¹_s)  (+ mˡ⁻¹_s for l ≥ 3)             the others read forward; residual sums from the third layer on
    a_t  = softmax_s v·tanh(W₁ m_s + W₂ h¹_{t−1})         additive attention over the top of the encoder
    c_t  = Σ_s a_ts m_s
    h¹_t = LSTM([y_t, c_t])                              y_t is the last word, `tgt_in[t]`
    hˡ_t = LSTM([hˡ⁻¹_t, c_t])  (+ hˡ⁻¹_t for l ≥ 3)
    P(next word) = softmax(W hᴸ_t), or of a linear map of [hᴸ_t, c_t] when model.output_context is set

The query is the bottom decoder layer's output of the step before, so c_t depends only on that layer. Only this layer
is looped over T; the upper layers then have all their inputs and run fused. That was the paper's reason for it.

Only the bottom encoder layer needs the padding mask. The others read forward and reach the padding after the last real
token; their output there is masked in the attention.

Not here: the paper's quantized inference, its reward refinement, its split over devices, and its length and coverage
penalties, which belong to search. The decoder starts from zeros; the paper does not say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.config import key, require
from regard.layers.recurrent import Carry, Recurrent
from regard.layers.scores import Scores, weighted_mean
from regard.models import outline as draw
from regard.models.attention_parts import AttentionParts, ScorePart
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence


@dataclass(frozen=True)
class GNMTConfig:
    width: int = key(256, "numbers per token: embeddings and LSTM cells alike")
    layers: int = key(4, "layers of the encoder, and as many of the decoder")
    residual_from: int = key(3, "first layer, counted from 1, whose input is added to its output; at least 3")
    dropout: float = key(0.2, "share of each layer's input set to zero in training")
    output_context: bool = key(True, "give the attention's context to the output too (the paper does not)")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "layers")
        require(
            self.residual_from >= 3,
            f"model.residual_from must be at least 3, but is {self.residual_from}; layer 2 reads twice its own width",
        )
        check_shares(self, "dropout")


PRESETS = read_presets(GNMTConfig, "gnmt")


# ── the layer that runs step by step ────────────────────────────────────────────────────────────────────────────────


class AttentiveSource(NamedTuple):
    """The keys and values that the queries of a sentence's rows attend to."""

    keys: Tensor  # (B, S, D) W₁ m
    values: Tensor  # (B, S, K) m
    mask: Tensor  # (B, S)

    def context(self, scores: Scores, query: Tensor) -> tuple[Tensor, Tensor]:
        """query (N, D) → context (N, 1, K), weights (N, 1, S); the rows of a sentence are its queries"""
        context, weights = weighted_mean(
            scores(query.view(len(self.mask), -1, query.shape[-1]), self.keys), self.mask, self.values
        )
        return context.flatten(0, 1)[:, None], weights.flatten(0, 1)[:, None]


class AttentiveOutput(NamedTuple):
    """Output of an attentive layer over T positions, and the state after it."""

    hidden: Tensor  # (N, T, D)
    context: Tensor  # (N, T, K)
    weights: Tensor  # (N, T, S)
    carry: Carry


class AttentiveLSTM(nn.Module):
    """h_t = LSTM([x_t, c_t]) with c_t the context of the query h_{t−1}: a loop that cannot be fused."""

    def __init__(self, inputs: int, memory: int, width: int) -> None:
        super().__init__()
        self.memory, self.width = memory, width
        self.scores = Scores("additive", width, memory, width)
        self.recurrent = Recurrent("lstm", inputs + memory, width)

    def prepare(self, memory: Memory) -> AttentiveSource:
        keys = self.scores.prepare(memory.states)
        values = memory.states.to(keys.dtype)  # one type, so that no step has to convert them
        return AttentiveSource(keys, values, memory.mask)

    def forward(self, x: Tensor, carry: Carry, source: AttentiveSource) -> AttentiveOutput:
        steps = []
        for word in x.unbind(1):  # (N, E)
            context, weights = source.context(self.scores, carry.hidden[0])  # query: the step before
            hidden, carry = self.recurrent.step(torch.cat([word, context[:, 0]], dim=-1), carry)
            steps.append((hidden[:, None], context, weights))
        hidden, context, weights = (torch.cat(parts, dim=1) for parts in zip(*steps, strict=True))  # (N, T, ·)
        return AttentiveOutput(hidden, context, weights, carry)

    def flops(self, source: int, target: int) -> float:
        """Operations of the keys once, and of query, scores, context and cell at each position."""
        attention = 2.0 * self.width * self.width + 2.0 * source * (self.width + self.memory)
        return 2.0 * source * self.memory * self.width + target * attention + self.recurrent.flops(target)


@dataclass(frozen=True)
class AttentiveState(BatchState):
    """The state of N rows of a stack whose bottom layer is attentive and whose upper layers are fused LSTMs."""

    trace: bool
    bottom: Carry = per_row(axis=1)
    upper: tuple[Carry, ...] = per_row(axis=1)
    source: AttentiveSource = per_sentence(grows=1)


# ── the model ───────────────────────────────────────────────────────────────────────────────────────────────────────


class AttentiveDecoded(NamedTuple):
    """The decoder's output and the next state."""

    states: Tensor  # (N, T, D)
    weights: Tensor  # (N, T, S)
    state: AttentiveState


class Attentive(Model):
    """Base of GNMT and Deep-Att: a bottom decoder layer that attends to the source, and layers above it."""

    bottom: AttentiveLSTM
    decoder: nn.ModuleList
    output: nn.Linear

    @abstractmethod
    def _decode(self, tokens: Tensor, state: AttentiveState) -> AttentiveDecoded: ...

    def forward(self, batch: Batch) -> Tensor:
        logits: Tensor = self.output(self._decode(batch.tgt_in, self._start(batch)).states)  # (B, T, V)
        return logits

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> AttentiveState:
        zeros = self.bottom.recurrent.zeros(len(memory.mask) * beams)  # the state of every layer before the first word
        return AttentiveState(beams, trace, zeros, (zeros,) * len(self.decoder), self.bottom.prepare(memory))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, AttentiveState)
        decoded = self._decode(token[:, None], state)  # T = 1
        logits = self.output(decoded.states[:, 0])  # (N, V)
        attention = decoded.weights[:, None] if state.trace else None  # (N, 1, 1, S): one layer, one head
        return Step(logits, decoded.state, attention)

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [self._decode(batch.tgt_in, self._start(batch)).weights[:, None]])  # H = 1

    def attention_parts(self) -> AttentionParts:
        return {("cross", 0): ScorePart(self.bottom.scores, self.bottom)}

    def _start(self, batch: Batch) -> AttentiveState:
        return self.start(self.encode(batch.src, batch.src_mask))


def attentive_layers(model: Attentive, source: int, target: int) -> list[draw.OutlineLayer | draw.Block]:
    """The embedding, the attention and the bottom layer, whose query is its own output of the step before."""
    bottom, table = model.bottom, cast(nn.Embedding, model.target_embedding)
    attend = draw.scores(bottom.scores, target, source, bottom.memory, "m(1) … m(S)")
    (cell,) = draw.recurrent(bottom.recurrent.stack, target, "h¹(t) = LSTM([y(t−1); c(t)])")
    return [draw.embedding(table, target), draw.asked_by_cell(attend, cell)]


class GNMT(Attentive):
    def __init__(self, config: GNMTConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        width, above = config.width, range(1, config.layers)
        self.memory_width = 2 * width if config.layers == 1 else width
        self.source_embedding = nn.Embedding(source_size, width)
        self.target_embedding = nn.Embedding(target_size, width)
        self.both_ways = Recurrent("lstm", width, width, bidirectional=True)
        self.encoder = nn.ModuleList(Recurrent("lstm", 2 * width if n == 1 else width, width) for n in above)
        self.bottom = AttentiveLSTM(width, self.memory_width, width)
        self.decoder = nn.ModuleList(Recurrent("lstm", width + self.memory_width, width) for _ in above)
        self.dropout = nn.Dropout(config.dropout)
        self.readout = nn.Linear(width + self.memory_width, width) if config.output_context else nn.Identity()
        self.output = nn.Linear(width, target_size, bias=False)
        tie_embeddings(self, config.tie, joint, std=width**-0.5)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        x, _ = self.both_ways(self.dropout(self.source_embedding(src)), mask)  # (B, S, 2D)
        for number, layer in enumerate(self.encoder, start=2):
            y, _ = layer(self.dropout(x))  # (B, S, D)
            x = y + x if number >= self.config.residual_from else y
        return Memory(x, mask)

    def flops(self, source: int, target: int) -> float:
        layers = [(layer, source) for layer in (self.both_ways, *self.encoder)]
        layers += [(layer, target) for layer in self.decoder]
        recurrent = sum(cast(Recurrent, layer).flops(length) for layer, length in layers)
        readout = self.config.width * (self.config.width + self.memory_width) if self.config.output_context else 0
        each_word = 2.0 * (readout + self.config.width * self.target_size)
        return recurrent + self.bottom.flops(source, target) + target * each_word

    def outline(self, source: int, target: int) -> draw.Outline:
        def layers(modules: nn.ModuleList, tokens: int, *inputs: str) -> Iterator[draw.OutlineLayer]:
            what = f"LSTM([{'; '.join(inputs)}])" if inputs else ""
            for number, module in enumerate(modules, start=2):
                (cell,) = draw.recurrent(cast(Recurrent, module).stack, tokens, what)
                cell.inputs = inputs
                residual = number >= self.config.residual_from
                yield draw.layer(cell, *[draw.added(tokens, self.config.width)] * residual, residual=residual)

        below = [draw.embedding(self.source_embedding, source), *draw.recurrent(self.both_ways.stack, source)]
        above = [*attentive_layers(self, source, target), *layers(self.decoder, target, "x", "c")]
        if self.config.output_context:
            read = draw.linear(cast(nn.Linear, self.readout), target, "Readout", "W [h; c] + b")
            above.append(replace(read, inputs=("h", "c")))
        return draw.two_sides(
            [*below, *layers(self.encoder, source)],
            [*above, *draw.output(self.output, target)],
            "m(1) … m(S), one for each token",
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(self, tokens: Tensor, state: AttentiveState) -> AttentiveDecoded:
        attended: AttentiveOutput = self.bottom(self.dropout(self.target_embedding(tokens)), state.bottom, state.source)
        x, upper = attended.hidden, []  # (N, T, D)
        for number, (layer, carry) in enumerate(zip(self.decoder, state.upper, strict=True), start=2):
            y, after = layer(torch.cat([self.dropout(x), attended.context], dim=-1), carry=carry)
            x = y + x if number >= self.config.residual_from else y
            upper.append(after)
        x = self.dropout(x)
        if self.config.output_context:
            x = self.readout(torch.cat([x, attended.context], dim=-1))  # (N, T, D + K) → (N, T, D)
        return AttentiveDecoded(x, attended.weights, replace(state, bottom=attended.carry, upper=tuple(upper)))
