"""ByteNet: the contract, a twin written with torch's own layers, the columns, and a task for them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from regard.batch import PAD, Batch, flat_batch, pad_sources
from regard.errors import RecipeError
from regard.models.base import Model
from regard.models.bytenet import PRESETS, ByteNet, ByteNetBlock, ByteNetConfig
from regard.search.search import greedy
from variants import BYTENET as MODELS
from variants import SMALL_BYTENET as SMALL
from variants import V, close, scattered, stepwise


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model)


@torch.inference_mode()
def test_there_is_no_attention_to_show(model: Model, batch: Batch) -> None:
    maps = model.attention(batch)
    assert (maps.encoder, maps.decoder, maps.cross) == ([], [], [])
    assert stepwise(model, batch, trace=True)[1] == [None] * batch.tgt_in.shape[1]


def twin_block(block: ByteNetBlock, x: torch.Tensor, dilation: int, causal: bool) -> torch.Tensor:
    """The paper's block, channels first, by torch's own functions: (1, 2d, T)"""

    def bend(y: torch.Tensor, norm: torch.nn.LayerNorm) -> torch.Tensor:
        return F.relu(F.layer_norm(y.mT, y.shape[1:2], norm.weight, norm.bias)).mT

    y = F.conv1d(bend(x, block.norms[0]), block.narrow.weight[..., None], block.narrow.bias)
    y = F.pad(bend(y, block.norms[1]), (2 * dilation, 0) if causal else (dilation, dilation))
    y = F.conv1d(y, block.convolution.weight.unflatten(1, (-1, 3)), block.convolution.bias, dilation=dilation)
    return x + F.conv1d(bend(y, block.norms[2]), block.widen.weight[..., None], block.widen.bias)


@torch.no_grad()
def test_it_equals_a_twin_of_torchs_own_layers() -> None:
    torch.manual_seed(2)
    model = ByteNet(SMALL, V, V, True).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    batch = flat_batch([[5, 9, 4]], [[7, 3, 8, 8, 5, 6]]).pad()  # 4 tokens, ⌈4.8⌉ = 5 columns, 7 positions above them
    scale = 12**0.5
    x = scale * F.embedding(F.pad(batch.src, (0, 1), value=PAD), model.source_embedding.weight).mT
    for block, dilation in zip(model.encoder, (1, 2, 4, 1), strict=True):
        x = twin_block(block, x, dilation, causal=False)
    columns = F.pad(model.encoder_norm(x.mT).mT, (0, 2))  # zeros under the last two
    y = scale * F.embedding(batch.tgt_in, model.target_embedding.weight).mT + columns
    for block, dilation in zip(model.decoder, (1, 2, 4, 1), strict=True):
        y = twin_block(block, y, dilation, causal=True)
    states = F.relu(model.decoder_norm(y.mT))
    close(model(batch), model.output(states @ model.last.weight.T + model.last.bias))


@torch.no_grad()
def test_a_position_reads_its_own_column_alone() -> None:
    torch.manual_seed(2)
    model = ByteNet(replace(SMALL, width=64), V, V, True).eval()  # so wide that some ReLU is alive everywhere
    batch = flat_batch([[5, 9, 4, 7, 3]], [[7, 3, 8, 8]]).pad()  # 6 tokens, ⌈7.2⌉ = 8 columns
    memory = model.encode(batch.src, batch.src_mask)
    assert memory.states.shape == (1, 8, 128)
    changed = replace(memory, states=memory.states.clone())
    changed.states[:, 2] += 1
    before, after = model.start(memory), model.start(changed)
    for place, token in enumerate(batch.tgt_in[0]):
        a, b = model.step(token[None], before), model.step(token[None], after)
        assert torch.equal(a.log_probs, b.log_probs) == (place < 2)
        before, after = a.state, b.state


@pytest.mark.long
def test_it_learns_to_copy_the_neighbour() -> None:
    """Each word becomes the one after it, the last the first: columns must carry words over."""
    torch.manual_seed(4)
    sentences = [torch.randint(3, V, (int(n),)).tolist() for n in torch.randint(2, 8, (30,))]
    targets = [s[1:] + s[:1] for s in sentences]
    model = ByteNet(ByteNetConfig(width=32, encoder_layers=3, decoder_layers=3, dilations=3, dropout=0.0), V, V, True)
    batch = flat_batch(sentences, targets).pad()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(80):
        loss = F.cross_entropy(model(batch)[batch.tgt_mask], batch.tgt_out[batch.tgt_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    found = greedy(model.eval(), *pad_sources(sentences))
    assert sum(list(h.ids) == t for h, t in zip(found, targets, strict=True)) >= 29


@pytest.mark.parametrize(("preset", "pieces", "millions"), [("tiny", 3200, 1.3), ("small", 8000, 8.4)])
def test_the_small_sizes(preset: str, pieces: int, millions: float) -> None:
    with torch.device("meta"):
        count = ByteNet(PRESETS[preset], pieces, pieces, True).parameter_count()
    assert count / 1e6 == pytest.approx(millions, rel=0.05)


def test_the_paper_sees_hundreds_of_characters() -> None:
    """Six sets of 1, 2, 4, 8, 16 with a kernel of 3: the decoder's position sees 372 before it."""
    config = PRESETS["bytenet"]
    assert sum(config.dilation(layer) * (config.kernel - 1) for layer in range(config.decoder_layers)) == 372


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": 2}, "kernel must be odd, but is 2; try kernel = 3"),
        ({"stretch": 0.5}, "stretch must be between 1 and 10"),
        ({"stretch": 1.234}, "at most two decimals, but is 1.234; try 1.23"),
        ({"extra": -1}, "extra must be at least 0"),
        ({"dilations": 17}, "dilations must be at most 16"),
        ({"width": 0}, "width must be at least 1"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_named(change: dict[str, object], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        ByteNetConfig(**change)  # type: ignore[arg-type]
