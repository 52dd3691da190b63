"""Convolutions over a sentence, centred or causal, dilated or not, and the gated linear unit.

    N rows   T positions   D width of the input   O width of the output   k kernel

    y(t) = b + Σⱼ Wⱼ x(t + j·dilation − before)       j = 0 … k−1, x is zero outside the sentence
    before = (k − 1)·dilation                         causal: nothing after t is seen
    before = (k − 1)·dilation / 2                     centred: as much before as after
    GLU([a, b]) = a ⊙ σ(b)                            Dauphin et al. 2017

`convolve` and `gate` are the equations; `convolve_fused` and torch's F.glu compute the same in one kernel each. A
causal convolution needs only its last (k − 1)·dilation inputs for the next position: that is `Past`. Weight
normalization (Salimans and Kingma 2016) writes each row of the weights as g·v/‖v‖.

There are no strides, no groups and no kernels of even size: the translation models need none.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def convolve(
    x: Tensor,  # (N, T, D)
    weight: Tensor,  # (O, D, k)
    bias: Tensor,  # (O,)
    dilation: int = 1,
    causal: bool = False,
    mask: Tensor | None = None,  # (N, T) True at real tokens; the others count as zeros
) -> Tensor:
    """y(t) = b + Σⱼ Wⱼ x(t + j·dilation − before): the neighbours of every position are gathered and weighted.

    >>> x = torch.tensor([1.0, 2.0, 4.0]).view(1, 3, 1)
    >>> sums = torch.ones(1, 1, 3), torch.zeros(1)  # three weights of one: each output is the sum of three neighbours
    >>> convolve(x, *sums).flatten().tolist(), convolve(x, *sums, causal=True).flatten().tolist()
    ([3.0, 7.0, 6.0], [1.0, 3.0, 7.0])
    """
    length, kernel = x.shape[1], weight.shape[-1]
    before, _ = margins(kernel, dilation, causal)
    steps = torch.arange(kernel, device=x.device) * dilation - before  # (k,)
    place = torch.arange(length, device=x.device)[:, None] + steps  # (T, k)
    inside = (place >= 0) & (place < length)
    x = _zero_padding(x, mask)
    seen = x[:, place.clamp(0, length - 1)] * inside[..., None]  # (N, T, k, D)
    return torch.einsum("ntkd,odk->nto", seen, weight) + bias


def convolve_fused(
    x: Tensor, weight: Tensor, bias: Tensor, dilation: int = 1, causal: bool = False, mask: Tensor | None = None
) -> Tensor:
    """`convolve` by torch's kernel."""
    before, after = margins(weight.shape[-1], dilation, causal)
    return slide(F.pad(_zero_padding(x, mask), (0, 0, before, after)), weight, bias, dilation)


def slide(inputs: Tensor, weight: Tensor, bias: Tensor, dilation: int = 1) -> Tensor:
    """A convolution over inputs that include their margins: (N, T + (k − 1)·dilation, D) → (N, T, O)."""
    kernel = weight.shape[-1]
    if kernel == 1:
        return F.linear(inputs, weight[..., 0], bias)
    if inputs.shape[1] == (kernel - 1) * dilation + 1:  # T = 1: a matrix product, without the setup cost of the kernel
        window = inputs[:, ::dilation].transpose(1, 2).flatten(1)  # (N, k, D) → (N, D, k) → (N, D·k)
        return F.linear(window, weight.flatten(1), bias)[:, None]  # (N, O) → (N, 1, O)
    out = F.conv1d(inputs.transpose(1, 2), weight, bias, dilation=dilation)  # (N, D, T + …) → (N, O, T)
    return out.transpose(1, 2)


def margins(kernel: int, dilation: int, causal: bool) -> tuple[int, int]:
    """Returns the numbers of positions before and after its own that a convolution reads.

    >>> margins(3, 4, causal=False), margins(3, 4, causal=True)
    ((4, 4), (8, 0))
    """
    assert kernel % 2 == 1, "checked by the models' configurations"
    reach = (kernel - 1) * dilation
    return (reach, 0) if causal else (reach // 2, reach // 2)


def gate(x: Tensor) -> Tensor:
    """GLU([a, b]) = a ⊙ σ(b): (…, 2D) → (…, D)"""
    a, b = x.chunk(2, dim=-1)
    return a * torch.sigmoid(b)


def unit_rows(v: Tensor, gain: Tensor) -> Tensor:
    """Returns g·v/‖v‖ for each row of v (O, n), whose direction and length are learned separately."""
    lengths: Tensor = v.norm(dim=1)  # (O,)
    return v * (gain / lengths)[:, None]


class Past(NamedTuple):
    """The last inputs of a causal convolution, oldest first: the state that its next positions need."""

    inputs: Tensor  # (N, (k − 1)·dilation, D)


class Convolution(nn.Module):
    """A convolution, centred (`forward`) or causal (`after`); with a kernel of 1, a linear map.

    The weights are one matrix (O, D·k), for optimizers that work on matrices. They are initialized from
    N(0, variance / n), where n = D·k is the number of inputs of an output, and the bias with zeros.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int = 1,
        dilation: int = 1,
        variance: float = 1.0,
        normalized: bool = False,
    ) -> None:
        super().__init__()
        self.inputs, self.kernel, self.dilation = inputs, kernel, dilation
        self.weight = nn.Parameter(torch.empty(outputs, inputs * kernel))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.normal_(self.weight, std=(variance / (inputs * kernel)) ** 0.5)
        self.gain = nn.Parameter(self.weight.detach().norm(dim=1)) if normalized else None

    def kernels(self) -> Tensor:
        matrix = self.weight if self.gain is None else unit_rows(self.weight, self.gain)
        return matrix.view(-1, self.inputs, self.kernel)  # (O, D·k) → (O, D, k)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Centred: (N, T, D) → (N, T, O), positions outside the mask (N, T) counted as zeros."""
        return convolve_fused(x, self.kernels(), self.bias, self.dilation, mask=mask)

    def no_past(self, rows: int) -> Past:
        """Returns the state at the beginning of a sentence: zeros."""
        return Past(self.weight.new_zeros(rows, (self.kernel - 1) * self.dilation, self.inputs))

    def after(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Causal: convolves positions x (N, T, D) that follow `past`; returns (N, T, O) and the next state."""
        reach = (self.kernel - 1) * self.dilation
        inputs = torch.cat([past.inputs.to(x.dtype), x], dim=1)
        present = Past(inputs[:, inputs.shape[1] - reach :])  # (N, reach, D)
        return slide(inputs, self.kernels(), self.bias, self.dilation), present


def _zero_padding(x: Tensor, mask: Tensor | None) -> Tensor:
    return x if mask is None else x.masked_fill(~mask[..., None], 0.0)
