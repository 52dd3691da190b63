"""The feed-forward layer against its formula."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.layers.feedforward import Activation, FeedForward


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
