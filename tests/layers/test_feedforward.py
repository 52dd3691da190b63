"""The feed-forward layer against its formula."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.layers.feedforward import Activation, FeedForward, _ExpandRelu


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "swiglu"])
def test_formula(activation: Activation) -> None:
    layer, x = FeedForward(6, 10, activation), torch.randn(2, 3, 6)
    inner = x @ layer.expand.weight.T + layer.expand.bias
    if activation == "relu":
        hidden = inner.clamp(min=0)
    elif activation == "gelu":
        hidden = 0.5 * inner * (1 + torch.erf(inner / 2**0.5))
    elif activation == "silu":
        hidden = inner * torch.sigmoid(inner)
    else:
        assert layer.gate is not None
        hidden = F.silu(layer.gate(x)) * inner
    torch.testing.assert_close(layer(x), hidden @ layer.contract.weight.T + layer.contract.bias)


@pytest.mark.parametrize("shape", [(2, 3, 6), (5, 6), (0, 6)])
def test_the_joined_kernel_is_the_formula_also_for_no_rows(shape: tuple[int, ...]) -> None:
    """None is what an expert gets that nobody chose."""
    layer, x = FeedForward(6, 10), torch.randn(shape, requires_grad=True)
    weight, bias = layer.expand.weight, layer.expand.bias
    found, expected = _ExpandRelu.apply(x, weight, bias), F.relu(layer.expand(x))  # type: ignore[no-untyped-call]
    torch.testing.assert_close(found, expected)
    asked = (x, weight, bias)
    grad = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(found, asked, grad), torch.autograd.grad(expected, asked, grad), strict=True
    ):
        torch.testing.assert_close(one, other)
