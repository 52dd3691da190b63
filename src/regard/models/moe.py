"""LSTMs with mixtures of experts between them: a small form of the translation system of Shazeer et al. 2017.

    B sentences   N = B × beam rows   S source   T target   D width   V vocabulary

    encoder   embedding → LSTM, both directions → LSTM … → mixture of experts → LSTM
    decoder   embedding → LSTM → attention over the source, x = W[s; c] → mixture of experts → LSTM … → output

The output of every LSTM and every mixture is D wide and added to its input. The query of the attention is the state
after reading the token, and the attention is not fed back into that first LSTM, so teacher forcing runs every layer
over the whole sentence at once. The paper's first decoder layer does receive the attention of the step before.

Also unlike the paper: flat routing only (theirs has two levels from 512 experts on); the balance of Fedus et al. 2021
in place of the importance and load losses; no sigmoid on the mixture's output; a general score for its attention
function; the two directions of the first layer have half the cells each; the decoder starts from zeros. Cells beyond
the width are projected inside the recurrence as there (on a CPU torch warns once that its fast kernel cannot do that).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.batch import Batch
from regard.config import key, require
from regard.layers.moe import MixtureOfExperts, check_experts
from regard.layers.recurrent import Carry
from regard.layers.scores import Score, Scores, weighted_mean
from regard.models import outline as draw
from regard.models.attention_parts import AttentionParts, ScorePart
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence


@dataclass(frozen=True)
class MoeConfig:
    width: int = key(256, "numbers per token between the layers; even")
    cells: int = key(256, "cells of an LSTM; more than the width are projected down to it")
    inner: int = key(512, "units of an expert")
    encoder_layers: int = key(
        2, "LSTM layers of the encoder, the first in both directions; the mixture is before the last"
    )
    decoder_layers: int = key(2, "LSTM layers of the decoder; attention and mixture follow the first")
    experts: int = key(8, "experts of a mixture")
    expert_choice: int = key(2, "experts that serve a token")
    balance: float = key(0.01, "weight of the loss that keeps experts evenly loaded, per mixture")
    noise: bool = key(False, "add noise of a learned amount to the router's scores in training")
    score: Score = key("general", "how well a decoder state fits a source position")
    dropout: float = key(0.1, "share of embeddings and of layer outputs set to zero in training")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "inner", "decoder_layers")
        check_sizes(self, "width", "cells", "encoder_layers", "experts", least=2)
        for name in ("width", "cells"):
            value = getattr(self, name)
            require(value % 2 == 0, f"model.{name} must be even, but is {value}")
        require(
            self.cells >= self.width, f"model.cells must be at least model.width = {self.width}, but is {self.cells}"
        )
        check_experts(self.experts, self.expert_choice, self.balance)
        check_shares(self, "dropout")


PRESETS = read_presets(MoeConfig, "moe")


@dataclass(frozen=True)
class MoeState(BatchState):
    """N rows between two tokens, and the B sentences that they attend to."""

    trace: bool
    carries: tuple[Carry, ...] = per_row(axis=1)  # per LSTM (1, N, D) and (1, N, cells)
    values: Tensor = per_sentence(grows=1)  # (B, S, D) the encoder's output
    mask: Tensor = per_sentence(grows=1)  # (B, S)
    prepared: Tensor = per_sentence(grows=1)  # (B, S, ·) the keys prepared for the score


class MoeDecoded(NamedTuple):
    states: Tensor  # (N, T, D)
    carries: tuple[Carry, ...]
    weights: Tensor  # (N, T, S) attention


class Moe(Model):
    def __init__(self, config: MoeConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        width = config.width
        self.source_embedding = nn.Embedding(source_size, width)
        self.target_embedding = nn.Embedding(target_size, width)
        self.both_ways = make_lstm(width, config.cells // 2, width // 2, bidirectional=True)
        self.encoder = nn.ModuleList(make_lstm(width, config.cells, width) for _ in range(config.encoder_layers - 1))
        self.decoder = nn.ModuleList(make_lstm(width, config.cells, width) for _ in range(config.decoder_layers))
        self.encoder_experts = make_experts(config)
        self.decoder_experts = make_experts(config)
        self.scores = Scores(config.score, width, width)
        self.join = nn.Linear(2 * width, width)  # W of W[s; c]
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(width, target_size, bias=False)
        tie_embeddings(self, config.tie, joint, std=width**-0.5)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        state = self.start(self.encode(batch.src, batch.src_mask))
        logits: Tensor = self.output(self._decode(batch.tgt_in, state, batch.tgt_mask).states)  # (B, T, V)
        return logits

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        x: Tensor = self.dropout(self.source_embedding(src))  # (B, S, D)
        x = x + self.dropout(run_lstm(self.both_ways, x, mask)[0])
        for index, lstm in enumerate(self.encoder):
            if index == len(self.encoder) - 1:
                x = x + self.dropout(self.encoder_experts(x, mask))
            x = x + self.dropout(run_lstm(lstm, x)[0])  # from left to right, padding comes after all tokens
        return Memory(x, mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> MoeState:
        rows = len(memory.mask) * beams
        carries = tuple(no_past(cast(nn.LSTM, lstm), rows) for lstm in self.decoder)
        return MoeState(beams, trace, carries, memory.states, memory.mask, self.scores.prepare(memory.states))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, MoeState)
        decoded = self._decode(token[:, None], state)  # T = 1
        logits = self.output(decoded.states[:, 0])  # (N, V)
        attention = decoded.weights[:, None] if state.trace else None  # (N, 1, S) → (N, L = 1, H = 1, S)
        return Step(logits, replace(state, carries=decoded.carries), attention)

    def attention(self, batch: Batch) -> AttentionMaps:
        state = self.start(self.encode(batch.src, batch.src_mask))
        weights = self._decode(batch.tgt_in, state, batch.tgt_mask).weights
        return AttentionMaps([], [], [weights[:, None]])  # (B, T, S) → (B, H = 1, T, S)

    def attention_parts(self) -> AttentionParts:
        return {("cross", 0): ScorePart(self.scores, self.join)}

    def flops(self, source: int, target: int) -> float:
        """Operations of LSTMs, mixtures, attention, join and output; embeddings are lookups and cost nothing."""
        width, cells = self.config.width, self.config.cells
        square = 2.0 * width * width
        one_lstm = lstm_flops(width, cells, width)
        encoder = source * (2 * lstm_flops(width, cells // 2, width // 2) + len(self.encoder) * one_lstm)
        decoder = target * (len(self.decoder) * one_lstm + 2 * square)  # join reads 2D numbers
        mixtures = self.encoder_experts.flops(source) + self.decoder_experts.flops(target)
        prepare = square * source if self.config.score in ("additive", "general") else 0.0
        ask = square * target if self.config.score == "additive" else 0.0
        pairs = 2 * 2.0 * source * target * width  # the scores, and the mean of the values
        return encoder + decoder + mixtures + prepare + ask + pairs + 2.0 * target * width * self.target_size

    def outline(self, source: int, target: int) -> draw.Outline:
        width = self.config.width

        def plus(block: draw.Block) -> draw.OutlineLayer:
            return draw.layer(block, draw.added(block.shape[0], width), residual=True)

        def layer(module: nn.Module, tokens: int) -> draw.OutlineLayer:
            return plus(*draw.recurrent(cast(nn.LSTM, module), tokens))

        encoder = [layer(one, source) for one in self.encoder]
        encoder.insert(len(encoder) - 1, plus(draw.mixture(self.encoder_experts, source, width)))
        first, *others = (layer(one, target) for one in self.decoder)
        attend = draw.scores(self.scores, target, source, width, "h(1) … h(S)")
        return draw.two_sides(
            [draw.embedding(self.source_embedding, source), layer(self.both_ways, source), *encoder],
            [
                draw.embedding(self.target_embedding, target),
                first,
                attend,
                replace(draw.linear(self.join, target, "Join", "x = W [s; c] + b"), inputs=("s", "c")),
                plus(draw.mixture(self.decoder_experts, target, width)),
                *others,
                *draw.output(self.output, target),
            ],
            "h(1) … h(S), one for each token",
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(self, tokens: Tensor, state: MoeState, real: Tensor | None = None) -> MoeDecoded:
        """Decodes tokens (N, T): all target positions, or one that follows those of the state."""
        x: Tensor = self.dropout(self.target_embedding(tokens))  # (N, T, D)
        carries: list[Carry] = []
        weights = x.new_empty(0)
        for index, (lstm, carry) in enumerate(zip(self.decoder, state.carries, strict=True)):
            out, after = run_lstm(lstm, x, carry=carry)
            carries.append(after)
            x = x + self.dropout(out)
            if index == 0:
                queries = x.view(len(state.mask), -1, x.shape[-1])  # (B, b·T, D): the rows of a sentence side by side
                context, weights = weighted_mean(self.scores(queries, state.prepared), state.mask, state.values)
                weights = weights.view(*tokens.shape, -1)
                x = self.join(torch.cat([x, context.view_as(x)], dim=-1))
                x = x + self.dropout(self.decoder_experts(x, real))
        return MoeDecoded(x, tuple(carries), weights)


def make_lstm(inputs: int, cells: int, outputs: int, bidirectional: bool = False) -> nn.LSTM:
    """Makes one LSTM layer; if there are more cells than outputs, they are projected inside the recurrence."""
    projection = outputs if cells > outputs else 0
    return nn.LSTM(inputs, cells, batch_first=True, bidirectional=bidirectional, proj_size=projection)


def no_past(lstm: nn.LSTM, rows: int) -> Carry:
    """Returns the state of an LSTM before its first token."""
    like = next(lstm.parameters())
    outputs = lstm.proj_size or lstm.hidden_size
    return Carry(like.new_zeros(1, rows, outputs), like.new_zeros(1, rows, lstm.hidden_size))


def make_experts(config: MoeConfig) -> MixtureOfExperts:
    routing = (config.experts, config.expert_choice, config.balance, config.noise)
    return MixtureOfExperts(config.width, config.inner, "relu", *routing)


def run_lstm(
    lstm: nn.Module, x: Tensor, mask: Tensor | None = None, carry: Carry | None = None
) -> tuple[Tensor, Carry]:
    """(N, T, D) → (N, T, D) and the final state; float32 also under autocast, as rounding errors add up in a sentence.

    A mask (N, T) is for two directions: from right to left, reading begins at the last token.
    """
    with torch.autocast(x.device.type, enabled=False):
        x = x.to(next(lstm.parameters()).dtype)
        if mask is None:
            out, end = lstm(x, carry)
        else:
            packed = pack_padded_sequence(x, mask.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
            out, end = lstm(packed)
            out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])
    return out, Carry(*end)


def lstm_flops(inputs: int, cells: int, outputs: int) -> float:
    """Returns the operations per token in one direction: four gates read input and past output; then the projection, if
    there is one."""
    projection = 2.0 * cells * outputs if cells > outputs else 0.0
    return 2.0 * 4 * cells * (inputs + outputs) + projection
