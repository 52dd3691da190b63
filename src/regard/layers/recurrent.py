"""Recurrent layers: the equations of a cell, and torch's fused layers over padded batches.

LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000):

    i = σ(Wᵢx + Uᵢh + bᵢ)   f = σ(W_f x + U_f h + b_f)   o = σ(Wₒx + Uₒh + bₒ)   g = tanh(W_g x + U_g h + b_g)
    c' = f ⊙ c + i ⊙ g      h' = o ⊙ tanh(c')

GRU (Cho et al. 2014):

    r = σ(Wᵣx + Uᵣh + bᵣ)   z = σ(W_z x + U_z h + b_z)   n = tanh(Wₙx + bₙ + r ⊙ (Uₙh + bₕ))
    h' = (1 − z) ⊙ n + z ⊙ h

tanh (Elman 1990), the notes' cell, which has no gates:

    h' = tanh(Wx + Uh + b)

Cho writes Uₙ(r ⊙ h) for r ⊙ (Uₙh): the gate before the matrix. torch and cuDNN put it after, so that one product serves
all three gates, and so do we.

    B sentences   N = B × beam rows   S positions   E input width   D width   L layers   R directions

`lstm_cell`, `gru_cell` and `tanh_cell` are the equations; the models use `Recurrent`. Its arithmetic is float32 even
under autocast: rounding errors accumulate along a sentence, and cuDNN would get float16, whose small gradients vanish,
where bfloat16 is configured. There are no peepholes, projections, layer norms or residual connections here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.config import require

Cell = Literal["lstm", "gru", "tanh"]
STACKS: dict[Cell, type[nn.LSTM] | type[nn.GRU] | type[nn.RNN]] = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN}
GATES = {"lstm": 4, "gru": 3, "tanh": 1}  # matrices of a cell, side by side in torch's weights


class Weights(NamedTuple):
    """A cell's matrices, with the gates stacked: i f g o of the LSTM, r z n of the GRU."""

    of_input: Tensor  # W (gates·D, E)
    of_state: Tensor  # U (gates·D, D)
    input_bias: Tensor  # (gates·D,)
    state_bias: Tensor  # (gates·D,)


def lstm_cell(x: Tensor, h: Tensor, c: Tensor, weights: Weights) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: x (N, E), h and c (N, D) → the next h and c."""
    w, u, b, b_u = weights
    i, f, g, o = (x @ w.T + b + h @ u.T + b_u).chunk(4, dim=-1)  # (N, 4D) → four of (N, D)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_cell(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """One step of a GRU: x (N, E), h (N, D) → the next h."""
    w, u, b, b_u = weights
    of_input, of_state = (x @ w.T + b).chunk(3, dim=-1), (h @ u.T + b_u).chunk(3, dim=-1)  # (N, 3D) → r z n
    r = (of_input[0] + of_state[0]).sigmoid()
    z = (of_input[1] + of_state[1]).sigmoid()
    n = (of_input[2] + r * of_state[2]).tanh()
    return (1 - z) * n + z * h


def tanh_cell(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """One step of a plain recurrent layer: x (N, E), h (N, D) → the next h."""
    w, u, b, b_u = weights
    return (x @ w.T + b + h @ u.T + b_u).tanh()


class Carry(NamedTuple):
    """The state of a stack of cells between steps; only an LSTM has a `cell`."""

    hidden: Tensor  # (L, N, D); with two directions (L·2, N, D), forward and backward of a layer side by side
    cell: Tensor | None

    def to(self, dtype: torch.dtype) -> Carry:
        return Carry(self.hidden.to(dtype), self.cell.to(dtype) if self.cell is not None else None)


class Recurrent(nn.Module):
    """Layers of one kind of cell, run over whole sequences in one fused call or one step at a time."""

    def __init__(
        self,
        cell: Cell,
        inputs: int,
        width: int,
        layers: int = 1,
        dropout: float = 0.0,
        bidirectional: bool = False,
        biases: bool = True,
    ) -> None:
        super().__init__()
        require(cell in GATES, f'cell must be one of {", ".join(GATES)}, but is "{cell}"')
        self.cell, self.dropout, self.bidirectional = cell, dropout, bidirectional
        between = dropout if layers > 1 else 0.0  # torch warns of dropout without a second layer
        self.stack = STACKS[cell](
            inputs, width, layers, bias=biases, batch_first=True, dropout=between, bidirectional=bidirectional
        )
        if cell == "lstm":
            self._open_forget_gates()

    def _open_forget_gates(self) -> None:
        """Initializes forget biases with 1, so that cells keep their contents at first (Jozefowicz et al. 2015)."""
        for name, parameter in self.stack.named_parameters():
            if name.startswith("bias"):
                forget = parameter.detach().chunk(4)[1]  # a view: i f g o
                forget.fill_(1.0 if name.startswith("bias_ih") else 0.0)

    def forward(self, x: Tensor, mask: Tensor | None = None, carry: Carry | None = None) -> tuple[Tensor, Carry]:
        """x (N, S, E) → states (N, S, R·D) and the state after each row's last token.

        `mask` (N, S) is True at tokens, which come first in their row. States of padding are zero, and a backward
        direction begins at the last token. Without a mask there is no padding.
        """
        with torch.autocast(x.device.type, enabled=False):
            x, begin = x.to(self._dtype), self._for_torch(carry)
            if mask is None:
                states, end = self.stack(x, begin)
            else:
                lengths = mask.sum(dim=1).cpu()  # packing needs them on the CPU
                packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                packed, end = self.stack(packed, begin)
                states, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
        return states, Carry(*end) if self.cell == "lstm" else Carry(end, None)

    def step(self, x: Tensor, carry: Carry) -> tuple[Tensor, Carry]:
        """One position of a one-directional stack: x (N, E) → its top state (N, D) and the next carry."""
        assert not self.bidirectional, "a backward direction cannot go step by step"
        hidden, cell = [], []
        with torch.autocast(x.device.type, enabled=False):
            x, (h, c) = x.to(self._dtype), carry.to(self._dtype)
            for layer in range(self.stack.num_layers):
                if layer > 0:
                    x = F.dropout(x, self.dropout, self.training)
                if c is not None:
                    x, kept = torch.lstm_cell(x, (h[layer], c[layer]), *self.weights(layer))
                    cell.append(kept)
                else:
                    one_step = torch.gru_cell if self.cell == "gru" else torch.rnn_tanh_cell
                    x = one_step(x, h[layer], *self.weights(layer))
                hidden.append(x)
        return x, Carry(torch.stack(hidden), torch.stack(cell) if cell else None)  # (L, N, D)

    def zeros(self, rows: int) -> Carry:
        """Returns the state before the first word: zeros (L·R, N, D)."""
        directions = 2 if self.bidirectional else 1
        like = self.weights(0).of_input
        hidden = like.new_zeros(self.stack.num_layers * directions, rows, self.stack.hidden_size)
        return Carry(hidden, hidden if self.cell == "lstm" else None)

    def weights(self, layer: int) -> Weights:
        """Returns a layer's matrices (of its forward direction), as in the equations above; zeros without biases."""
        of_input, of_state = (getattr(self.stack, f"weight_{name}_l{layer}") for name in ("ih", "hh"))
        if not self.stack.bias:
            none = of_input.new_zeros(len(of_input))
            return Weights(of_input, of_state, none, none)
        return Weights(of_input, of_state, *(getattr(self.stack, f"bias_{name}_l{layer}") for name in ("ih", "hh")))

    def flops(self, steps: int) -> float:
        """Operations of the matrix products over a sentence of `steps` tokens."""
        width, directions = self.stack.hidden_size, 2 if self.bidirectional else 1
        inputs = [self.stack.input_size] + [width * directions] * (self.stack.num_layers - 1)
        return 2.0 * steps * directions * GATES[self.cell] * width * sum(i + width for i in inputs)

    def _for_torch(self, carry: Carry | None) -> tuple[Tensor, Tensor] | Tensor | None:
        if carry is None:
            return None
        hidden, cell = carry.to(self._dtype)
        return hidden if cell is None else (hidden, cell)

    @property
    def _dtype(self) -> torch.dtype:
        return self.weights(0).of_input.dtype
