"""Convolutions against torch's own, by differences, and one position at a time."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.layers.convolution import Convolution, Past, convolve, convolve_fused, gate, margins, unit_rows

SHAPES = [(1, 1), (3, 1), (3, 2), (3, 8), (5, 3)]  # kernel, dilation


def numbers(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("kernel", "dilation"), SHAPES)
def test_the_equation_and_its_fused_twin_equal_torch(kernel: int, dilation: int, causal: bool) -> None:
    x, weight, bias = numbers(2, 7, 4), numbers(6, 4, kernel, seed=2), numbers(6, seed=3)
    reach = (kernel - 1) * dilation
    padded = F.pad(x.transpose(1, 2), (reach, 0) if causal else (reach // 2, reach // 2))
    expected = F.conv1d(padded, weight, bias, dilation=dilation).transpose(1, 2)
    torch.testing.assert_close(convolve(x, weight, bias, dilation, causal), expected)
    torch.testing.assert_close(convolve_fused(x, weight, bias, dilation, causal), expected)


@pytest.mark.parametrize("fused", [False, True])
def test_padding_counts_as_zeros(fused: bool) -> None:
    x, weight, bias = numbers(2, 7, 4), numbers(6, 4, 3, seed=2), numbers(6, seed=3)
    mask = torch.arange(7) < torch.tensor([[7], [4]])
    x[1, 4:] = torch.nan  # nothing of it may come through
    run = convolve_fused if fused else convolve
    out = run(x, weight, bias, 2, mask=mask)
    torch.testing.assert_close(out[1, :4], run(x[1:, :4], weight, bias, 2)[0])


@pytest.mark.parametrize("causal", [False, True])
def test_the_gradient_is_the_slope(causal: bool) -> None:
    x, weight, bias = (t.requires_grad_() for t in (numbers(2, 5, 3), numbers(4, 3, 3), numbers(4)))
    mask = torch.arange(5) < torch.tensor([[5], [3]])
    assert torch.autograd.gradcheck(lambda *a: convolve(*a, 2, causal, mask), (x, weight, bias))
    assert torch.autograd.gradcheck(lambda *a: gate(convolve_fused(*a, 2, causal, mask)), (x, weight, bias))
    assert torch.autograd.gradcheck(unit_rows, (numbers(4, 6).requires_grad_(), bias))


def test_the_gate_equals_torch() -> None:
    x = numbers(2, 5, 8)
    torch.testing.assert_close(gate(x), F.glu(x))


@pytest.mark.parametrize(("kernel", "dilation"), SHAPES)
@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_a_buffer_goes_on_where_it_stopped(kernel: int, dilation: int, chunk: int) -> None:
    torch.manual_seed(1)
    layer, x = Convolution(4, 6, kernel, dilation).double(), numbers(2, 12, 4)
    whole, _ = layer.after(x, layer.no_past(2))
    torch.testing.assert_close(whole, convolve(x, layer.kernels(), layer.bias, dilation, causal=True))
    past = layer.no_past(2)
    parts = []
    for start in range(0, 12, chunk):
        part, past = layer.after(x[:, start : start + chunk], past)
        parts.append(part)
        assert past.inputs.shape == (2, (kernel - 1) * dilation, 4)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


def test_rows_of_a_buffer_can_be_chosen() -> None:
    torch.manual_seed(1)
    layer, x, rows = Convolution(4, 6, 3, 2).double(), numbers(3, 6, 4), torch.tensor([2, 0, 0, 1])
    _, past = layer.after(x[:, :5], layer.no_past(3))
    expected, _ = layer.after(x[:, 5:], past)
    chosen, _ = layer.after(x[rows, 5:], Past(past.inputs[rows]))
    torch.testing.assert_close(chosen, expected[rows])


def test_normalised_weights_begin_as_they_would_without() -> None:
    torch.manual_seed(1)
    plain = Convolution(4, 6, 3)
    torch.manual_seed(1)
    normalized = Convolution(4, 6, 3, normalized=True)
    torch.testing.assert_close(plain.kernels(), normalized.kernels())
    theirs = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(4, 6, 3))
    with torch.no_grad():
        normalized.weight.mul_(3)  # the direction alone counts
        theirs.weight = plain.kernels()  # torch splits it into length and direction
    torch.testing.assert_close(normalized.kernels(), theirs.weight)


def test_weights_begin_with_the_variance_asked_for() -> None:
    torch.manual_seed(1)
    layer = Convolution(64, 256, 3, variance=4.0)
    assert layer.weight.var().item() == pytest.approx(4 / (64 * 3), rel=0.03)
    assert not layer.bias.any()


def test_an_even_kernel_has_no_centre() -> None:
    with pytest.raises(AssertionError):
        margins(4, 1, causal=False)
