"""The cells against torch's own, the fused layers against one sentence at a time, and steps against whole sequences."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from regard.errors import RecipeError
from regard.layers.recurrent import GATES, Carry, Cell, Recurrent, Weights, gru_cell, lstm_cell, tanh_cell

CELLS: list[Cell] = ["lstm", "gru", "tanh"]
WITHOUT_CELL = {"gru": gru_cell, "tanh": tanh_cell}
LENGTHS = (3, 6, 1, 4)


def padded(width: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(4)
    mask = torch.arange(7) < torch.tensor(LENGTHS)[:, None]  # one column more than the longest row needs
    return torch.randn(len(LENGTHS), 7, width), mask


def weights_of(cell: nn.RNNCellBase) -> Weights:
    return Weights(cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, requires_grad=True)


def test_the_lstm_equations_are_torchs() -> None:
    torch.manual_seed(1)
    theirs = nn.LSTMCell(5, 6)
    x, h, c = torch.randn(4, 5), torch.randn(4, 6), torch.randn(4, 6)
    torch.testing.assert_close(lstm_cell(x, h, c, weights_of(theirs)), theirs(x, (h, c)))


def test_the_gru_equations_are_torchs() -> None:
    torch.manual_seed(1)
    theirs = nn.GRUCell(5, 6)
    x, h = torch.randn(4, 5), torch.randn(4, 6)
    torch.testing.assert_close(gru_cell(x, h, weights_of(theirs)), theirs(x, h))


def test_the_tanh_equations_are_torchs() -> None:
    torch.manual_seed(1)
    theirs = nn.RNNCell(5, 6)
    x, h = torch.randn(4, 5), torch.randn(4, 6)
    torch.testing.assert_close(tanh_cell(x, h, weights_of(theirs)), theirs(x, h))


@pytest.mark.parametrize("cell", CELLS)
def test_without_biases_none_is_learnt(cell: Cell) -> None:
    x, _ = padded(5)
    layers = Recurrent(cell, 5, 6, biases=False)
    assert sum(p.numel() for p in layers.parameters()) == GATES[cell] * 6 * (5 + 6)
    states, _ = layers(x)
    first, _ = layers.step(x[:, 0], layers.zeros(4))
    torch.testing.assert_close(first, states[:, 0])


@pytest.mark.parametrize("cell", CELLS)
def test_the_gradient_of_the_equations(cell: Cell) -> None:
    torch.manual_seed(2)
    rows = GATES[cell] * 3
    weights = Weights(numbers(rows, 2), numbers(rows, 3), numbers(rows), numbers(rows))
    x, h, c = numbers(2, 2), numbers(2, 3), numbers(2, 3)
    if cell == "lstm":
        assert torch.autograd.gradcheck(lambda *a: lstm_cell(*a[:3], Weights(*a[3:])), (x, h, c, *weights))
    else:
        step = WITHOUT_CELL[cell]
        assert torch.autograd.gradcheck(lambda *a: step(*a[:2], Weights(*a[2:])), (x, h, *weights))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_padded_batch_equals_torch_on_each_sentence_alone(cell: Cell, bidirectional: bool) -> None:
    x, mask = padded(5)
    layers = Recurrent(cell, 5, 6, 2, bidirectional=bidirectional)
    states, end = layers(x, mask)
    assert states.shape == (4, 7, 12 if bidirectional else 6)
    assert (states[~mask] == 0).all()
    for row, length in enumerate(LENGTHS):
        alone, last = layers.stack(x[row : row + 1, :length])
        hidden, kept = last if cell == "lstm" else (last, None)
        torch.testing.assert_close(states[row, :length], alone[0])
        torch.testing.assert_close(end.hidden[:, row], hidden[:, 0])
        if kept is not None:
            torch.testing.assert_close(end.cell[:, row], kept[:, 0])


@pytest.mark.parametrize("cell", CELLS)
def test_the_fused_layers_are_the_equations(cell: Cell) -> None:
    x, _ = padded(5)
    layers = Recurrent(cell, 5, 6, 2)
    states, _ = layers(x)
    below = x
    for layer in range(2):
        h, c, above = torch.zeros(4, 6), torch.zeros(4, 6), []
        for word in below.unbind(1):
            if cell == "lstm":
                h, c = lstm_cell(word, h, c, layers.weights(layer))
            else:
                h = WITHOUT_CELL[cell](word, h, layers.weights(layer))
            above.append(h)
        below = torch.stack(above, dim=1)
    torch.testing.assert_close(states, below)


@pytest.mark.parametrize("cell", CELLS)
def test_steps_equal_the_fused_layers(cell: Cell) -> None:
    x, _ = padded(5)
    layers = Recurrent(cell, 5, 6, 3)
    _, carry = layers(torch.randn(4, 2, 5))  # any state to go on from
    states, end = layers(x, carry=carry)
    stepped = []
    for word in x.unbind(1):
        top, carry = layers.step(word, carry)
        stepped.append(top)
    torch.testing.assert_close(torch.stack(stepped, dim=1), states)
    torch.testing.assert_close(carry, end)
    torch.testing.assert_close(layers(x, carry=layers.zeros(4)), layers(x))


@pytest.mark.parametrize("cell", CELLS)
def test_dropout_is_between_layers_in_both_ways_of_running(cell: Cell) -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 1, 5).expand(2000, 1, 5)
    layers = Recurrent(cell, 5, 6, 2, dropout=0.5)
    for run in (lambda: layers(x)[1], lambda: layers.step(x[:, 0], layers.zeros(2000))[1]):
        layers.train()
        first, second = run().hidden
        assert len(first.unique(dim=0)) == 1  # its input is not touched
        assert len(second.unique(dim=0)) == 2**6  # every pattern of six units silenced or not
        layers.eval()
        assert all(len(layer.unique(dim=0)) == 1 for layer in run().hidden)


def test_forget_gates_start_open() -> None:
    layers = Recurrent("lstm", 5, 6, 2, bidirectional=True)
    for suffix in ("l0", "l1", "l0_reverse", "l1_reverse"):
        biases = [getattr(layers.stack, f"bias_{part}_{suffix}") for part in ("ih", "hh")]
        assert (sum(biases)[6:12] == 1).all()
        assert not (sum(biases)[:6] == 1).any()


@pytest.mark.parametrize("cell", CELLS)
def test_under_autocast_the_recurrence_stays_float32(cell: Cell) -> None:
    x, mask = padded(5)
    layers = Recurrent(cell, 5, 6, 2)
    half = Carry(*(part.bfloat16() if part is not None else None for part in layers.zeros(4)))
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(layers(x, mask), layers(x, mask, half))
        assert layers(x.bfloat16())[0].dtype == torch.float32
        assert layers.step(x[:, 0].bfloat16(), half)[0].dtype == torch.float32
        under = layers(x, mask)
    torch.testing.assert_close(under, layers(x, mask))


@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # torch's word on switching a backend off
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_flops_are_those_counted(cell: Cell, bidirectional: bool) -> None:
    layers = Recurrent(cell, 5, 6, 3, bidirectional=bidirectional)
    # The counter does not see into the CPU's fused kernel: without it the same layers run as plain products.
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
        layers(torch.randn(1, 7, 5))
    assert layers.flops(7) == counter.get_total_flops()


def test_an_unknown_cell_is_refused() -> None:
    with pytest.raises(RecipeError, match='cell must be one of lstm, gru, tanh, but is "elman"'):
        Recurrent("elman", 4, 4)  # type: ignore[arg-type]
