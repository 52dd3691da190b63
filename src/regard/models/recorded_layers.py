"""What recorded passes of a Transformer have in common: the recording, and layers with few kernels.

N rows   D width   V vocabulary
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from regard.layers.feedforward import FeedForward, expand_relu
from regard.layers.moe import MixtureOfExperts
from regard.layers.norm_kernel import add_norm

Sublayer = tuple[nn.LayerNorm, Callable[[Tensor], Tensor]]  # with the norm before it (pre-norm) or after it (post-norm)
WARM_UP = 2  # runs before the recording, in which kernels are compiled


def recorded(run: Callable[[], Tensor], device: torch.device) -> Callable[[], Tensor]:
    """`run`, recorded as a CUDA graph: it reads and writes the same memory each time, and its result stays until the
    next run. On a CPU it is `run` itself, with its result in one place."""
    if device.type != "cuda":
        place: list[Tensor] = []

        def run_here() -> Tensor:
            new = run()
            if not place:
                place.append(new)
            elif new is not place[0]:
                place[0].copy_(new)
            return place[0]

        return run_here
    with torch.inference_mode(), torch.cuda.device(device):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            result = run()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay


def through(x: Tensor, sublayers: Sequence[Sublayer], last: nn.Module | None) -> Tensor:
    """x (N, D) through residual sublayers; `last` is the norm after a stack with pre-norm, None with post-norm."""
    if last is None:
        for norm, sublayer in sublayers:
            _, x = add_norm(x, sublayer(x), norm)
        return x
    assert isinstance(last, nn.LayerNorm)
    norms = [*(norm for norm, _ in sublayers[1:]), last]  # each before the next sublayer
    normed: Tensor = sublayers[0][0](x)
    for (_, sublayer), norm in zip(sublayers, norms, strict=True):
        x, normed = add_norm(x, sublayer(normed), norm)
    return normed


def feed_forward(layer: FeedForward | MixtureOfExperts, x: Tensor) -> Tensor:
    """The layer's output (N, D), with one kernel less where there is one."""
    if x.is_cuda and isinstance(layer, FeedForward) and layer.activation == "relu":
        x = expand_relu(x, layer.expand.weight, layer.expand.bias)
        contracted: Tensor = layer.contract(x)
        return contracted
    out: Tensor = layer(x)
    return out


def wide_product(states: Tensor, matrix: Tensor) -> Tensor:
    """Logits (N, V) in float32 of states (N, D) and a matrix (V, D) in a narrow type: rounded once, at the end. Further
    columns of the matrix hold a bias, the first of them, for it costs nothing as a part of the product."""
    if matrix.shape[1] > states.shape[1]:
        one = states.new_zeros(len(states), matrix.shape[1] - states.shape[1])
        one[:, 0] = 1.0
        states = torch.cat([states, one], dim=1)
    if states.dtype == torch.float32:
        return states @ matrix.T
    return torch.mm(states, matrix.T, out_dtype=torch.float32)
