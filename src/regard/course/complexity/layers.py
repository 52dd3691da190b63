"""The layers of Vaswani et al. 2017, table 1, each reduced to the operations that the table counts.

They exist for measurements; models use those of `regard.layers`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.attention import attend


class TableLayer(nn.Module):
    """(B, n, D) → (B, n, D). `hop` applies the layer once more; `given` is the first input, `depth` counts from 0."""

    def hop(self, given: Tensor, current: Tensor, depth: int) -> Tensor:
        applied: Tensor = self(current)
        return applied


class SelfAttention(TableLayer):
    """softmax(QKᵀ / √d) V with Q = K = V = x: the equation alone, as the table counts it."""

    def forward(self, x: Tensor) -> Tensor:
        return attend(x, x, x)[0]


class ProjectedSelfAttention(TableLayer):
    """Self-attention with its four D×D projections, as in a Transformer (one head)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        attended: Tensor = self.output(attend(self.query(x), self.key(x), self.value(x))[0])
        return attended


class Recurrence(TableLayer):
    """h_t = tanh(W x_t + U h_{t−1} + b) (Elman 1990)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cells = nn.RNN(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.cells(x)[0]
        return states

    def hop(self, given: Tensor, current: Tensor, depth: int) -> Tensor:
        """One step of the recurrence at all positions at once; n hops equal `forward`."""
        w, u, w_bias, u_bias = self.cells.all_weights[0]
        before = F.pad(current[:, :-1], (0, 0, 1, 0)) * (depth > 0)  # position t gets h_{t−1}; at first all are 0
        return torch.tanh(F.linear(given, w, w_bias) + F.linear(before, u, u_bias))


class CausalConvolution(TableLayer):
    """y_t = Σⱼ Wⱼ x_{t−j}, j from 0 to k − 1: k matrices of D×D over the k positions up to t, as in a decoder."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.weight = nn.Parameter(torch.randn(width, width, kernel) / math.sqrt(kernel * width))

    def forward(self, x: Tensor, dilation: int = 1) -> Tensor:
        past = F.pad(x.transpose(1, 2), (dilation * (self.kernel - 1), 0))  # (B, D, reach + n)
        return F.conv1d(past, self.weight, dilation=dilation).transpose(1, 2)  # (B, D, n) → (B, n, D)


class DilatedConvolution(CausalConvolution):
    """A stack in which layer l is dilated by k^l (WaveNet and ByteNet, both 2016).

    Each layer then covers one base-k digit of the distance. Kernels that see both sides do not have this property:
    the path from 0 to 7 as 1 − 3 + 9 passes through position −2.
    """

    def hop(self, given: Tensor, current: Tensor, depth: int) -> Tensor:
        return self.forward(current, dilation=self.kernel**depth)


class RestrictedSelfAttention(TableLayer):
    """Self-attention of each position to the r = 2w + 1 positions around it."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.side = (window - 1) // 2

    def forward(self, x: Tensor) -> Tensor:
        return attend_nearby(x, x, x, self.side)


def attend_nearby(q: Tensor, k: Tensor, v: Tensor, side: int) -> Tensor:
    """softmax(QKᵀ / √d) V over the keys at most `side` = w positions away: 3 w n d products, never n².

    Queries are processed in blocks of w. A block attends to its own block and the two next to it: 3w keys, of which
    each query sees 2w + 1. Any (B, n, D).
    """
    batch, length, width = q.shape
    blocks = -(-length // side)
    spare = blocks * side - length
    queries = F.pad(q, (0, 0, 0, spare)).view(batch, blocks, side, width)  # (B, n/w, w, D)
    keys = F.pad(k, (0, 0, side, side + spare)).unfold(1, 3 * side, side)  # (B, n/w, D, 3w)
    values = F.pad(v, (0, 0, side, side + spare)).unfold(1, 3 * side, side)  # (B, n/w, D, 3w)
    row = torch.arange(side, device=q.device)[:, None]
    column = torch.arange(3 * side, device=q.device)
    position = side * torch.arange(-1, blocks - 1, device=q.device)[:, None, None] + column  # (n/w, 1, 3w)
    seen = (column >= row) & (column <= row + 2 * side) & (position >= 0) & (position < length)  # (n/w, w, 3w)
    scores = (queries @ keys / math.sqrt(width)).masked_fill(~seen, -math.inf)  # (B, n/w, w, 3w)
    out = scores.softmax(dim=-1) @ values.transpose(-2, -1)  # (B, n/w, w, D)
    return out.reshape(batch, blocks * side, width)[:, :length]
