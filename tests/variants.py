"""Small models of every architecture and option, for the contract test and for each model's own tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor, nn

from regard.batch import EOS, Batch
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.bytenet import ByteNet, ByteNetConfig
from regard.models.convs2s import ConvS2S, ConvS2SConfig
from regard.models.deep_att import DeepAtt, DeepAttConfig
from regard.models.ensemble import Ensemble
from regard.models.gnmt import GNMT, GNMTConfig
from regard.models.moe import Moe, MoeConfig
from regard.models.rnn import Rnn, RnnConfig
from regard.models.rnn_attention import RnnAttention, RnnAttentionConfig
from regard.models.state import BatchState, per_row, repeat_rows
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.search.alignment_heads import AlignmentHeads
from regard.search.steering import LexiconSteered, RuleSteered
from regard.search.token_lexicon import IdTable

V = 23


def stepwise(model: Model, batch: Batch, trace: bool = False) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    state = model.start(model.encode(batch.src, batch.src_mask), trace=trace)
    rows, seen = [], []
    for token in batch.tgt_in.unbind(1):
        step = model.step(token, state)
        state = step.state
        rows.append(step.log_probs)
        seen.append(step.attention)
    return torch.stack(rows, dim=1), seen


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


SMALL_BYTENET = ByteNetConfig(width=6, encoder_layers=4, decoder_layers=4, dilations=3)

BYTENET: dict[str, Callable[[], Model]] = {
    "plain": lambda: ByteNet(SMALL_BYTENET, V, V, True),
    "wide": lambda: ByteNet(replace(SMALL_BYTENET, kernel=5, stretch=1.55, extra=2, tie="target"), V, V, False),
    "narrow": lambda: ByteNet(replace(SMALL_BYTENET, stretch=1.0, tie="none"), V, V, False),
}


SMALL_CONVS2S = ConvS2SConfig(width=12, embedding=10, encoder_layers=2, decoder_layers=3, max_positions=16)

CONVS2S: dict[str, Callable[[], Model]] = {
    "plain": lambda: ConvS2S(SMALL_CONVS2S, V, V, True),
    "normalized": lambda: ConvS2S(replace(SMALL_CONVS2S, weight_norm=True, tie="none"), V, V, False),
    "wide": lambda: ConvS2S(replace(SMALL_CONVS2S, kernel=5, max_positions=12, tie="target"), V, V, False),
}


SMALL_DEEP_ATT = DeepAttConfig(width=8, embedding=6, encoder_layers=3, decoder_layers=3)

DEEP_ATT: dict[str, Callable[[], DeepAtt]] = {
    "three and three layers": lambda: DeepAtt(SMALL_DEEP_ATT, V, V, True),
    "two and four, untied": lambda: DeepAtt(
        replace(SMALL_DEEP_ATT, encoder_layers=2, decoder_layers=4, tie="none"), V, V, False
    ),
    "one and one": lambda: DeepAtt(
        replace(SMALL_DEEP_ATT, encoder_layers=1, decoder_layers=1, tie="target"), V, V, True
    ),
}


SMALL_GNMTS = GNMTConfig(width=12, layers=4)

GNMTS: dict[str, Callable[[], GNMT]] = {
    "four layers": lambda: GNMT(SMALL_GNMTS, V, V, True),
    "as in the paper": lambda: GNMT(replace(SMALL_GNMTS, output_context=False, tie="none"), V, V, False),
    "one layer": lambda: GNMT(replace(SMALL_GNMTS, layers=1, tie="target"), V, V, True),
}


SMALL_MOE = MoeConfig(width=16, cells=16, inner=24, experts=4)

MOE_KINDS: dict[str, MoeConfig] = {
    "general": SMALL_MOE,
    "additive": replace(SMALL_MOE, score="additive", encoder_layers=3, decoder_layers=3),
    "dot": replace(SMALL_MOE, score="dot", decoder_layers=1, experts=5, expert_choice=3),
    "projected": replace(SMALL_MOE, cells=40, score="scaled", tie="none"),
    "noisy": replace(SMALL_MOE, noise=True),
}

MOE: dict[str, Callable[[], Moe]] = {
    name: lambda config=config: Moe(config, V, V, True) for name, config in MOE_KINDS.items()
}

# torch has no fast kernel for an LSTM's projection on a CPU, and says so.
PROJECTS = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")


PLAIN = RnnConfig(width=12, layers=2, embedding=12, dropout=0.0)

ATTENTION = RnnAttentionConfig(
    width=12, encoder_width=6, encoder_layers=2, decoder_layers=2, embedding=12, alignment=10, dropout=0.0
)


NOTES: dict[str, Any] = {  # the notes' own model: equations 4 to 8
    "cell": "tanh",
    "bidirectional": False,
    "start": "end",
    "attend": "before",
    "readout": "state",
    "biases": False,
    "encoder_width": 12,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "tie": "none",
}


def plain(joint: bool = True, **change: Any) -> Callable[[], Model]:
    return lambda: Rnn(replace(PLAIN, **change), V, V, joint)


def attending(joint: bool = True, **change: Any) -> Callable[[], Model]:
    return lambda: RnnAttention(replace(ATTENTION, **change), V, V, joint)


WITHOUT_ATTENTION = ("lstm", "gru-every", "tanh", "lstm-reversed")  # of the following
RNN: dict[str, Callable[[], Model]] = {
    "lstm": plain(),
    "gru-every": plain(cell="gru", context="every", joint=False),
    "tanh": plain(cell="tanh"),
    "lstm-reversed": plain(context="every", reverse_source=True, embedding=9),
    "after": attending(),
    "after-dot-gru": attending(score="dot", cell="gru", encoder_layers=1),
    "after-scaled": attending(score="scaled", joint=False),
    "after-general": attending(score="general", encoder_width=5, embedding=9),
    "after-coverage": attending(coverage=True),
    "feeding": attending(input_feeding=True),
    "feeding-coverage-gru": attending(input_feeding=True, coverage=True, cell="gru", decoder_layers=1),
    "before": attending(attend="before"),
    "before-general-gru": attending(attend="before", score="general", cell="gru", encoder_width=7, tie="none"),
    "before-coverage": attending(attend="before", coverage=True, decoder_layers=1),
    "notes": attending(joint=False, **NOTES),
    "end-lstm": attending(bidirectional=False, start="end", encoder_width=12),
}


SMALL_ENSEMBLE = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=3, norm="post")

PRE_NORM = replace(SMALL_ENSEMBLE, norm="pre", decoder_layers=1, activation="gelu")

FOUR_HEADS = replace(SMALL_ENSEMBLE, heads=4, positions="rotary", decoder_layers=2)


@dataclass(frozen=True)
class BlindState(BatchState):
    gist: Tensor = per_row()  # (N, D)


class Blind(Model):
    """No attention: the mean of the source words and the last target word. It does not say its source vocabulary."""

    def __init__(self, target_size: int = V) -> None:
        super().__init__()
        self.words, self.last = nn.Embedding(V, 8), nn.Embedding(target_size, 8)
        self.output = nn.Linear(8, target_size)
        self.target_size = target_size

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return Memory(self.words(src) * mask[..., None], mask)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> BlindState:
        return BlindState(beams, repeat_rows(memory.states.sum(1) / memory.mask.sum(1, keepdim=True), beams))

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, BlindState)
        return Step(self.output(torch.tanh(state.gist + self.last(token))), state, None)

    def forward(self, batch: Batch) -> Tensor:
        gist = self.start(self.encode(batch.src, batch.src_mask)).gist
        return self.output(torch.tanh(gist[:, None] + self.last(batch.tgt_in)))

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        return 2.0 * target * 8 * self.target_size


M = TypeVar("M", bound=nn.Module)


def scattered(model: M, std: float = 0.3) -> M:
    """Away from the zeros of a fresh model, where mistakes can hide; ready to be asked."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std)
    return model.eval()


def transformer(config: TransformerConfig) -> Transformer:
    return Transformer(config, V, V, True)


ENSEMBLES: dict[str, Callable[[], Ensemble]] = {
    "one": lambda: Ensemble([transformer(SMALL_ENSEMBLE)]),
    "two": lambda: Ensemble([transformer(SMALL_ENSEMBLE), transformer(PRE_NORM)]),
    "weighted": lambda: Ensemble([transformer(SMALL_ENSEMBLE), transformer(PRE_NORM)], [3, 1]),
    "different heads": lambda: Ensemble([transformer(SMALL_ENSEMBLE), transformer(FOUR_HEADS)]),
    "one without attention": lambda: Ensemble([Blind(), transformer(SMALL_ENSEMBLE)]),
    "nested": lambda: Ensemble([Ensemble([transformer(PRE_NORM), Blind()]), transformer(SMALL_ENSEMBLE)]),
}


def some_table() -> IdTable:
    """Three translations of every token, of a mass below 1; none of EOS and of token 5."""
    generator = torch.Generator().manual_seed(11)
    probs = torch.rand(V, 3, generator=generator).softmax(-1) * torch.rand(V, 1, generator=generator)
    probs[[EOS, 5]] = 0.0
    return IdTable(torch.randint(3, V, (V, 3), generator=generator), probs)


def mirrored(source: Sequence[int]) -> Sequence[int] | None:
    """Stands for rules: it can read sources of more than two words only."""
    return source[::-1] if len(source) > 2 else None


HYBRIDS: dict[str, Callable[[], Model]] = {
    "lexicon": lambda: LexiconSteered(transformer(SMALL_ENSEMBLE), some_table(), AlignmentHeads(((1, None),)), 0.3),
    "lexicon, one head": lambda: LexiconSteered(
        transformer(FOUR_HEADS), some_table(), AlignmentHeads(((1, 2), (0, 0))), 0.3
    ),
    "lexicon without attention": lambda: LexiconSteered(plain()(), some_table(), AlignmentHeads(()), 0.3),
    "rules": lambda: RuleSteered(attending()(), mirrored, 0.5),
    "both": lambda: RuleSteered(
        LexiconSteered(ENSEMBLES["two"](), some_table(), AlignmentHeads(((2, None),)), 0.2), mirrored, 0.5
    ),
}
