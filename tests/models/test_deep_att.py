"""Deep-Att: the contract, and the equations against a plain loop that never heard of torch's LSTM."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import Batch, flat_batch
from regard.errors import RecipeError
from regard.layers.recurrent import Recurrent
from regard.models.deep_att import PRESETS, Column, DeepAtt, DeepAttConfig, linear_block, reverse
from variants import DEEP_ATT as MODELS
from variants import SMALL_DEEP_ATT as SMALL
from variants import close


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> DeepAtt:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────


def twice(model: DeepAtt, source: int, target: int) -> int:
    """What is computed a second time: half of f, the whole of it at the encoder's tops."""
    config = model.config
    size = 2 * config.width  # numbers in a half
    below = 2 * config.encoder_layers - 2
    inputs = [config.embedding] * 2 + [3 * config.width] * below  # of both columns' layers, lowest first
    halves = sum(inputs) + sum(inputs[-2:])  # the two tops give both halves
    bottom = config.embedding + config.memory
    return 2 * size * (source * halves + target * (bottom + 3 * config.width * (config.decoder_layers - 1)))


def test_flops_are_what_is_counted(model: DeepAtt) -> None:
    """In double precision, where torch's LSTM on the CPU is made of products the counter can see."""
    pair = flat_batch([[5, 6, 7, 8]], [[9, 10]]).pad()
    with FlopCounterMode(display=False) as counter:
        model.double()(pair)
    unseen = 2 * 5 * 3 * model.config.width  # v·tanh(…): a matrix by a vector
    assert model.flops(5, 3) == counter.get_total_flops() + unseen - twice(model, 5, 3)


# ── the equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def layer_by_hand(layer: Recurrent, x: list[Tensor], backward: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Blocks f and r of one layer over a sentence: every f_t and h_t."""
    w, u, b, b_u = layer.weights(0)
    width = u.shape[1]
    feeds = [w @ x_t + b for x_t in x]
    hidden, cell = torch.zeros(width).to(u), torch.zeros(width).to(u)
    outputs: dict[int, Tensor] = {}
    for t in reversed(range(len(x))) if backward else range(len(x)):
        i, f, g, o = (feeds[t] + u @ hidden + b_u).split(width)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        outputs[t] = hidden
    return feeds, [outputs[t] for t in range(len(x))]


def joined(feeds: list[Tensor], hidden: list[Tensor]) -> list[Tensor]:
    return [torch.cat([f[: len(f) // 2], h]) for f, h in zip(feeds, hidden, strict=True)]


@torch.no_grad()
def by_hand(model: DeepAtt, source: Tensor, target: Tensor) -> Tensor:
    """The docstring's equations for one sentence."""
    tops = []
    for number, column in enumerate(model.columns):
        x = list(model.source_embedding(source))
        for depth, layer in enumerate(column.layers):
            feeds, hidden = layer_by_hand(layer, x, backward=(depth + number) % 2 == 1)
            x = joined(feeds, hidden)
        tops.append((feeds, hidden))
    (f, h), (f_other, h_other) = tops
    memory = [model.interface(torch.cat(parts)) for parts in zip(h, h_other, f, f_other, strict=True)]
    scores, (w, u, b, b_u) = model.bottom.scores, model.bottom.recurrent.weights(0)
    hidden_t, cell_t = torch.zeros(model.config.width), torch.zeros(model.config.width)
    feeds, hidden = [], []
    for word in model.target_embedding(target):
        query = scores.of_query(hidden_t)
        weights = torch.stack([scores.v @ torch.tanh(scores.of_key(m) + query) for m in memory]).softmax(0)
        context = sum(a * m for a, m in zip(weights, memory, strict=True))
        feeds.append(w @ torch.cat([word, context]) + b)
        i, f_t, g, o = (feeds[-1] + u @ hidden_t + b_u).chunk(4)
        cell_t = torch.sigmoid(f_t) * cell_t + torch.sigmoid(i) * torch.tanh(g)
        hidden_t = torch.sigmoid(o) * torch.tanh(cell_t)
        hidden.append(hidden_t)
    for layer in model.decoder:
        feeds, hidden = layer_by_hand(layer, joined(feeds, hidden), backward=False)
    return torch.stack([model.output(model.readout(x)) for x in joined(feeds, hidden)])


@torch.inference_mode()
def test_it_is_the_papers_equations(model: DeepAtt, batch: Batch) -> None:
    forced = model(batch)
    for row in range(len(batch)):
        expected = by_hand(model, batch.src[row][batch.src_mask[row]], batch.tgt_in[row][batch.tgt_mask[row]])
        close(forced[row][batch.tgt_mask[row]], expected)


def test_a_row_is_turned_about_by_its_own_length() -> None:
    x = torch.tensor([[[1], [2], [3]], [[4], [5], [0]]])
    mask = torch.tensor([[True, True, True], [True, True, False]])
    assert reverse(x, mask)[..., 0].tolist() == [[3, 2, 1], [5, 4, 0]]
    assert torch.equal(reverse(reverse(x, mask), mask), x)


@torch.inference_mode()
def test_columns_see_the_whole_sentence_from_two_layers_on() -> None:
    """One layer sees one side of a word. The next reads the other way, and so sees both."""
    torch.manual_seed(4)
    x, mask = torch.randn(1, 5, 6), torch.ones(1, 5, dtype=torch.bool)
    for layers, begins_backward, sees in ((1, False, [0, 1, 2]), (1, True, [2, 3, 4]), (2, False, range(5))):
        column = Column(replace(SMALL, encoder_layers=layers), begins_backward).eval()
        before = column(x, mask)[0][0, 2]
        for word in range(5):
            changed = x.clone()
            changed[0, word] += 1
            assert torch.equal(column(changed, mask)[0][0, 2], before) == (word not in sees), (layers, word)


def test_the_fast_forward_path_is_linear_and_untouched_by_dropout() -> None:
    """With LSTMs that say nothing, what reaches the top is one matrix times the words, in training too."""
    torch.manual_seed(4)
    column = Column(replace(SMALL, dropout=0.9), False).train()
    matrix = torch.eye(SMALL.embedding)
    for layer in column.layers:
        w, u, b, b_u = layer.weights(0)
        with torch.no_grad():
            u.zero_()
            b.zero_()
            b_u.zero_()
        if matrix.shape[0] > SMALL.embedding:
            w.data[:, 2 * SMALL.width :] = 0  # deaf to h
        matrix = (w[:, : matrix.shape[0]] @ matrix)[
            : 4 * SMALL.width if layer is column.layers[-1] else 2 * SMALL.width
        ]
    x = torch.randn(2, 4, SMALL.embedding)
    _, f = column(x, torch.ones(2, 4, dtype=torch.bool))
    close(f, x @ matrix.T)


def test_the_gradient_of_a_column() -> None:
    torch.manual_seed(0)
    column = Column(DeepAttConfig(width=2, embedding=3, encoder_layers=3, decoder_layers=1, dropout=0.0), True).double()
    mask = torch.tensor([[True, True, True], [True, True, False]])
    x = torch.randn(2, 3, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: column(x, mask), [x])
    (layer, *_) = column.layers
    assert torch.autograd.gradcheck(lambda x: linear_block(x, layer, 4), [x])


# ── sizes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sizes() -> None:
    assert PRESETS["deep-att"].memory == 1280  # the paper's context vector
    with torch.device("meta"):
        tiny = DeepAtt(PRESETS["tiny"], 3_200, 3_200, True).parameter_count()
    assert tiny == pytest.approx(1e6, rel=0.05)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"width": 0}, "width must be at least 1, but is 0"),
        ({"width": 7}, "width must be even, but is 7"),
        ({"embedding": 0}, "embedding must be at least 1"),
        ({"encoder_layers": 0}, "encoder_layers must be at least 1"),
        ({"decoder_layers": -1}, "decoder_layers must be at least 1, but is -1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_named(change: dict[str, object], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        DeepAttConfig(**change)  # type: ignore[arg-type]
