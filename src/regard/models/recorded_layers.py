"""What recorded passes of a Transformer have in common: the recording, and layers with few kernels.

N rows   D width   V vocabulary
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.feedforward import FeedForward, expand_relu
from regard.layers.moe import MixtureOfExperts
from regard.layers.norm_kernel import add_norm

Sublayer = tuple[nn.LayerNorm, Callable[[Tensor], Tensor]]  # with the norm before it (pre-norm) or after it (post-norm)
WARM_UP = 2  # runs before the recording, in which kernels are compiled


def recorded(run: Callable[[], Tensor], device: torch.device) -> Callable[[], Tensor]:
    """`run`, recorded as a CUDA graph: it reads and writes the same memory each time, and its result stays until the
    next run. On a CPU it is `run` itself."""
    if device.type != "cuda":
        return run
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


def wide_product(states: Tensor, output: nn.Linear) -> Tensor:
    """Logits (N, V) in float32 of states and weights in a narrow type: rounded once, at the end."""
    if states.dtype == torch.float32:
        return F.linear(states, output.weight, output.bias)
    logits = torch.mm(states, output.weight.T, out_dtype=torch.float32)
    return logits if output.bias is None else logits + output.bias
