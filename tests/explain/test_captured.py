"""What is shown is what was looked at: the maps of one forced pass are those the steps of a search gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import variants
from regard.batch import Batch, pack, pad_sources
from regard.decode.greedy import greedy
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.moe import Moe, MoeConfig
from regard.models.transformer import TransformerConfig
from variants import V, close, transformer

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=3)
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: transformer(SMALL),
    "transformer, post-norm": lambda: transformer(replace(SMALL, norm="post")),
    "transformer, rotary": lambda: transformer(replace(SMALL, positions="rotary")),
    "transformer, experts": lambda: transformer(replace(SMALL, experts=3)),
    "moe": lambda: Moe(MoeConfig(width=12, cells=12, inner=16, experts=3), V, V, True),
    "moe, additive": lambda: Moe(MoeConfig(width=12, cells=12, inner=16, experts=3, score="additive"), V, V, True),
}
for family, some in (
    ("convs2s", variants.CONVS2S),
    ("deep-att", variants.DEEP_ATT),
    ("gnmt", variants.GNMTS),
    ("rnn", variants.RNN),
    ("ensemble", variants.ENSEMBLES),
):
    blind = ("lstm", "gru-every", "lstm-reversed") if family == "rnn" else ()
    MODELS |= {f"{family}, {name}": make for name, make in some.items() if name not in blind}


class Watched(Model):
    """A model that keeps what each of its steps looked at."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model, self.target_size = model, model.target_size
        self.seen: list[Tensor] = []  # each (1, L, H, S)

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return self.model.encode(src, mask)

    def start(self, memory: Memory, trace: bool = False) -> State:
        return self.model.start(memory, trace=True)

    def step(self, token: Tensor, state: State) -> Step:
        step = self.model.step(token, state)
        assert step.attention is not None
        self.seen.append(step.attention)
        return step

    def forward(self, batch: Batch) -> Tensor:
        logits: Tensor = self.model(batch)
        return logits

    def attention(self, batch: Batch) -> AttentionMaps:
        return self.model.attention(batch)

    def flops(self, source: int, target: int) -> float:
        return self.model.flops(source, target)


@torch.inference_mode()
@pytest.mark.parametrize("name", MODELS)
def test_a_forced_pass_shows_what_greedy_search_saw(name: str) -> None:
    torch.manual_seed(7)
    model = MODELS[name]().eval()
    for parameter in model.parameters():  # sharper than a fresh model, whose rows are all alike
        torch.nn.init.normal_(parameter, std=0.4)
    for source in ([5, 9, 14, 3, 20], [8], [4, 4, 17]):
        watched = Watched(model)
        (found,) = greedy(watched, *pad_sources([source]))
        cross = model.attention(pack([source], [found.ids]).pad()).cross
        seen = torch.stack(watched.seen, dim=3)  # (1, L, H, T, S)
        forced = torch.stack(cross, dim=1)[:, :, :, : seen.shape[3]]  # without EOS, had the search no room for it
        close(seen, forced)
        close(seen.sum(-1), torch.ones(seen.shape[:-1]))
        assert seen.shape[3] == len(found.log_probs)
