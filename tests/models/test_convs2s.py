"""ConvS2S: the contract, the paper's equations one position at a time, its sizes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from regard.batch import Batch, flat_batch
from regard.errors import RecipeError
from regard.layers.convolution import Convolution
from regard.models.base import Model
from regard.models.convs2s import PRESETS, ConvS2S, ConvS2SConfig, scale_gradient
from variants import CONVS2S as MODELS
from variants import SMALL_CONVS2S as SMALL
from variants import V, close, scattered, stepwise


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model)


@torch.inference_mode()
def test_each_decoder_layer_shows_its_attention(model: Model, batch: Batch) -> None:
    maps = model.attention(batch)
    assert maps.encoder == []
    assert maps.decoder == []
    assert [w.shape for w in maps.cross] == [(3, 1, batch.tgt_in.shape[1], batch.src.shape[1])] * 3
    for weights in maps.cross:
        close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        assert (weights.masked_select(~batch.src_mask[:, None, None].expand_as(weights)) == 0).all()
    log_probs, traced = stepwise(model, batch, trace=True)
    close(log_probs, stepwise(model, batch)[0])  # watching changes nothing
    stepped = torch.stack([a for a in traced if a is not None], dim=3)  # (B, L, H, T, S)
    forced = torch.stack(maps.cross, dim=1)
    mask = batch.tgt_mask[:, None, None].expand(forced.shape[:-1])
    close(stepped[mask], forced[mask])


def linear(layer: Convolution, x: torch.Tensor) -> torch.Tensor:
    return layer.weight @ x + layer.bias


def block(layer: Convolution, states: list[torch.Tensor], at: int, first: int) -> torch.Tensor:
    """√½ · (GLU(b + Σⱼ Wⱼ x(first + j)) + x(at)), one position, by hand."""
    total = layer.bias
    for j in range(layer.kernel):
        if 0 <= first + j < len(states):
            total = total + layer.weight[:, j :: layer.kernel] @ states[first + j]
    a, b = total.chunk(2)
    return math.sqrt(0.5) * (a * torch.sigmoid(b) + states[at])


@torch.no_grad()
def test_it_is_the_papers_equations_position_by_position() -> None:
    torch.manual_seed(2)
    model = ConvS2S(SMALL, V, V, True).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    batch = flat_batch([[5, 9, 4, 4]], [[7, 3, 8]]).pad()
    words, half = model.source_embedding.weight, math.sqrt(0.5)
    e = [words[w] + model.source_positions.weight[j] for j, w in enumerate(batch.src[0])]
    states = [linear(model.encoder_input, x) for x in e]
    for layer in model.encoder:
        states = [block(layer.convolution, states, i, i - 1) for i in range(len(states))]
    z = [linear(model.encoder_output, x) for x in states]
    g = [model.target_embedding.weight[w] + model.target_positions.weight[i] for i, w in enumerate(batch.tgt_in[0])]
    states = [linear(model.decoder_input, x) for x in g]
    for layer in model.decoder:
        states = [block(layer.block.convolution, states, i, i - 2) for i in range(len(states))]
        for i, h in enumerate(states):
            d = linear(layer.query, h) + g[i]
            a = torch.stack([d @ key for key in z]).softmax(0)
            m = len(z)
            c = m * math.sqrt(1 / m) * sum(a[j] * (z[j] + e[j]) for j in range(m))
            states[i] = half * (h + linear(layer.output, c))
    logits = torch.stack([model.output(linear(model.decoder_output, h)) for h in states])
    close(model(batch)[0], logits)


def test_only_a_share_of_the_gradient_flows_back() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = scale_gradient(x, 0.25)
    assert torch.equal(x, y)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.25, 0.25]


@torch.no_grad()
def test_a_fresh_model_keeps_the_variance_through_its_depth() -> None:
    """The paper's reason for √½ and for its initialization: fifteen layers, no normalization."""
    torch.manual_seed(1)
    config = replace(SMALL, width=64, embedding=64, encoder_layers=15, decoder_layers=1, dropout=0.0)
    model = ConvS2S(config, 200, 200, True).eval()
    source = torch.randint(3, 200, (8, 16))
    mask = torch.ones_like(source, dtype=torch.bool)
    embedded = model._embed(source, model.source_embedding, model.source_positions)
    assert 0.3 < (model.encode(source, mask).states.var() / embedded.var()).item() < 3


@pytest.mark.parametrize(("preset", "pieces", "millions"), [("tiny", 3200, 1.2), ("small", 8000, 7.4)])
def test_the_small_sizes(preset: str, pieces: int, millions: float) -> None:
    with torch.device("meta"):
        count = ConvS2S(PRESETS[preset], pieces, pieces, True).parameter_count()
    assert count / 1e6 == pytest.approx(millions, rel=0.05)


def test_the_papers_size() -> None:
    """English–Romanian, counted from the shapes that fairseq's fconv_wmt_en_ro has: 20 convolutions from 512 to 2 × 512
    of kernel 3 a side, linear maps between all parts, each with a bias and, but for the last, the weights' lengths."""
    pieces, width, layers, positions = 40_000, 512, 20, 1024

    def linear(inputs: int, outputs: int) -> int:
        return inputs * outputs + 2 * outputs

    tables = 2 * (pieces + positions) * width
    side = 2 * linear(width, width) + layers * linear(3 * width, 2 * width)
    looks = layers * 2 * linear(width, width)
    with torch.device("meta"):
        count = ConvS2S(PRESETS["convs2s-20"], pieces, pieces, True).parameter_count()
    assert count == tables + 2 * side + looks + width * pieces + pieces


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": 4}, "kernel must be odd, but is 4; try kernel = 5"),
        ({"embedding": 0}, "embedding must be at least 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_named(change: dict[str, object], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        ConvS2SConfig(**change)  # type: ignore[arg-type]
