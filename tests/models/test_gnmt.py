"""GNMT: the contract, the equations against a plain loop over torch's own cells, the paper's size."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import Batch, flat_batch
from regard.errors import RecipeError
from regard.layers.recurrent import Carry, Recurrent
from regard.models.base import Memory
from regard.models.gnmt import GNMT, PRESETS, AttentiveLSTM, GNMTConfig
from variants import GNMTS as MODELS
from variants import SMALL_GNMTS as SMALL
from variants import V, close


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> GNMT:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_flops_are_what_is_counted(model: GNMT) -> None:
    """In double precision, where torch's LSTM on the CPU is made of products the counter can see."""
    pair = flat_batch([[5, 6, 7, 8]], [[9, 10]]).pad()
    with FlopCounterMode(display=False) as counter:
        model.double()(pair)
    seen_apart = 2 * pair.tgt_in.shape[1] * pair.src.shape[1] * model.config.width  # v·tanh(…): a matrix by a vector
    assert model.flops(5, 3) == counter.get_total_flops() + seen_apart


# ── the equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def cell_of(layer: Recurrent, backward: bool = False) -> nn.LSTMCell:
    """torch's one-step cell with one direction's weights."""
    end = "_l0_reverse" if backward else "_l0"
    cell = nn.LSTMCell(layer.stack.input_size, layer.stack.hidden_size)
    cell.load_state_dict(
        {n: getattr(layer.stack, n + end) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")},
    )
    return cell


def run(cell: nn.LSTMCell, inputs: list[Tensor]) -> list[Tensor]:
    carry, outputs = None, []
    for x in inputs:
        carry = cell(x, carry)
        outputs.append(carry[0])
    return outputs


@torch.no_grad()
def by_hand(model: GNMT, source: Tensor, target: Tensor) -> Tensor:
    """The docstring's equations for one sentence, one position at a time, all decoder layers inside the loop."""
    words = list(model.source_embedding(source))  # S of (D,)
    ahead = run(cell_of(model.both_ways), words)
    back = run(cell_of(model.both_ways, backward=True), words[::-1])[::-1]
    memory = [torch.cat(pair) for pair in zip(ahead, back, strict=True)]
    for number, layer in enumerate(model.encoder, start=2):
        above = run(cell_of(layer), memory)
        memory = [a + m if number >= 3 else a for a, m in zip(above, memory, strict=True)]
    scores, bottom = model.bottom.scores, cell_of(model.bottom.recurrent)
    cells = [cell_of(layer) for layer in model.decoder]
    carries = [(torch.zeros(model.config.width), torch.zeros(model.config.width)) for _ in range(model.config.layers)]
    logits = []
    for word in model.target_embedding(target):
        query = scores.of_query(carries[0][0])
        weights = torch.stack([scores.v @ torch.tanh(scores.of_key(m) + query) for m in memory]).softmax(0)
        context = sum(w * m for w, m in zip(weights, memory, strict=True))
        carries[0] = bottom(torch.cat([word, context]), carries[0])
        x = carries[0][0]
        for level, cell in enumerate(cells, start=1):
            carries[level] = cell(torch.cat([x, context]), carries[level])
            x = carries[level][0] + x if level >= 2 else carries[level][0]
        logits.append(model.output(model.readout(torch.cat([x, context])) if model.config.output_context else x))
    return torch.stack(logits)


@torch.inference_mode()
def test_it_is_the_papers_equations(model: GNMT, batch: Batch) -> None:
    forced = model(batch)
    for row in range(len(batch)):
        expected = by_hand(model, batch.src[row][batch.src_mask[row]], batch.tgt_in[row][batch.tgt_mask[row]])
        close(forced[row][batch.tgt_mask[row]], expected)


@torch.inference_mode()
def test_residual_sums_begin_where_they_are_told_to(batch: Batch) -> None:
    """Where the layers from the third on are silent, the sums hand the second through; without sums nothing is left."""
    model = GNMT(replace(SMALL, layers=4, residual_from=3), V, V, True).eval()
    for layer in model.encoder[1:]:
        for parameter in layer.parameters():
            parameter.zero_()
    handed_on = model.encode(batch.src, batch.src_mask).states
    two = GNMT(replace(SMALL, layers=2), V, V, True).eval()
    two.load_state_dict({n: p for n, p in model.state_dict().items() if n in two.state_dict()})
    close(handed_on[batch.src_mask], two.encode(batch.src, batch.src_mask).states[batch.src_mask])
    never = GNMT(replace(SMALL, layers=4, residual_from=5), V, V, True).eval()
    never.load_state_dict(model.state_dict())
    assert (never.encode(batch.src, batch.src_mask).states == 0).all()


def test_the_gradient_of_the_looped_layer() -> None:
    torch.manual_seed(0)
    layer = AttentiveLSTM(3, 4, 2).double()
    mask = torch.tensor([[True, True, True], [True, False, False]])

    def looked(x: Tensor, states: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        out = layer(x, Carry(hidden, cell), layer.prepare(Memory(states, mask)))
        return out.hidden, out.context, out.weights

    inputs = [torch.randn(s, dtype=torch.double, requires_grad=True) for s in ((2, 3, 3), (2, 3, 4), *[(1, 2, 2)] * 2)]
    assert torch.autograd.gradcheck(looked, inputs)


# ── sizes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_papers_size() -> None:
    """278 million parameters with 32,000 pieces a side, as Shazeer et al. (2017, table 2) give it for this model."""
    with torch.device("meta"):
        paper = GNMT(PRESETS["gnmt"], 32_000, 32_000, True)
        count, operations = paper.parameter_count(), paper.flops(1, 1)
        tiny = GNMT(PRESETS["tiny"], 3_200, 3_200, True).parameter_count()
    assert count == pytest.approx(278e6, rel=0.015)
    assert operations / 2 == pytest.approx(214e6, rel=0.015)  # "ops/timestep" there: multiplications with additions
    assert tiny == pytest.approx(1e6, rel=0.05)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"width": 0}, "width must be at least 1, but is 0"),
        ({"layers": 0}, "layers must be at least 1"),
        ({"residual_from": 2}, "residual_from must be at least 3, but is 2"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    ],
)
def test_impossible_sizes_are_named(change: dict[str, object], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        GNMTConfig(**change)  # type: ignore[arg-type]
