"""Passes of a Transformer recorded as CUDA graphs: the recording, layers with few kernels, and the encoder.

B sentences   S tokens of each   N rows   D width   V vocabulary
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from regard.layers.attention import padding_mask
from regard.layers.feedforward import FeedForward, expand_relu
from regard.layers.kernels import add_norm
from regard.layers.moe import MixtureOfExperts
from regard.layers.positions import Rotation
from regard.models.transformer import Transformer
from regard.models.transformer_cache import query_key_value
from regard.models.transformer_layers import EncoderLayer

Sublayer = tuple[nn.LayerNorm, Callable[[Tensor], Tensor]]  # with the norm before it (pre-norm) or after it (post-norm)
WARM_UP = 2  # runs before the recording, in which kernels are compiled
_recording = threading.Lock()  # one thread at a time


@cache
def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """A stream for nothing else: torch shares few streams of normal priority among all who ask for one, and whatever
    another thread does in a stream that is recording would be recorded."""
    return torch.cuda.Stream(device, priority=-1)


def recorded(run: Callable[[], Tensor], device: torch.device) -> Callable[[], Tensor]:
    """Records `run` as a CUDA graph: it reads and writes the same memory each time, and its result is valid until the
    next run. On a CPU `run` itself is called, and its result is copied to fixed memory."""
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
    with torch.inference_mode(), torch.cuda.device(device), _recording:
        stream, graph = _recording_stream(device), torch.cuda.CUDAGraph()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            result = run()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay


def through(x: Tensor, sublayers: Sequence[Sublayer], last: nn.Module | None) -> Tensor:
    """Applies residual sublayers to x (N, D); `last` is the norm after a stack with pre-norm, None with post-norm."""
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
    """Returns the layer's output (N, D); on a GPU, ReLU layers take one kernel less."""
    if x.is_cuda and isinstance(layer, FeedForward) and layer.activation == "relu":
        x = expand_relu(x, layer.expand.weight, layer.expand.bias)
        contracted: Tensor = layer.contract(x)
        return contracted
    out: Tensor = layer(x)
    return out


def wide_product(states: Tensor, matrix: Tensor) -> Tensor:
    """Returns float32 logits (N, V) of states (N, D) and a matrix (V, D) in a narrow type, rounded once, at the end. If
    the matrix has more columns, the first of them is a bias, which costs nothing as a part of the product."""
    if matrix.shape[1] > states.shape[1]:
        one = states.new_zeros(len(states), matrix.shape[1] - states.shape[1])
        one[:, 0] = 1.0
        states = torch.cat([states, one], dim=1)
    if states.dtype == torch.float32:
        return states @ matrix.T
    return torch.mm(states, matrix.T, out_dtype=torch.float32)


class RecordedEncoder:
    """The encoder as a recorded pass of a fixed shape."""

    def __init__(self, model: Transformer, sentences: int, length: int) -> None:
        self.model = model
        self.tokens = torch.zeros(sentences, length, dtype=torch.long, device=model.device)
        self.real = torch.ones(sentences, length, dtype=torch.bool, device=model.device)
        self.projections = [query_key_value(layer.attention) for layer in model.encoder_layers()]
        self.run = recorded(self._forward, model.device)

    def __call__(self, tokens: Tensor, real: Tensor) -> Tensor:
        """Returns the states (B, S, D) of tokens (B, S) within the recorded shape; they are valid until the next call.
        Every sentence must have a token."""
        sentences, length = tokens.shape
        self.tokens.zero_()
        self.tokens[:sentences, :length] = tokens
        self.real.zero_()
        self.real[:, 0] = True  # also of empty slots
        self.real[:sentences, :length] = real
        return self.run()[:sentences, :length]

    def _forward(self) -> Tensor:
        position = torch.arange(self.tokens.shape[1], device=self.tokens.device)
        x, rotation = self.model.embed_source(self.tokens, position)
        mask = padding_mask(self.real)
        sublayers: list[Sublayer] = []
        for i, layer in enumerate(self.model.encoder_layers()):
            sublayers.append((layer.around_attention.norm, partial(self._attend, i, layer, mask, rotation)))
            sublayers.append((layer.around_feed_forward.norm, partial(feed_forward, layer.feed_forward)))
        last = self.model.encoder_norm if self.model.config.norm == "pre" else None
        return through(x.flatten(0, 1), sublayers, last).view_as(x)  # (B·S, D) → (B, S, D)

    def _attend(self, index: int, layer: EncoderLayer, mask: Tensor, rotation: Rotation | None, x: Tensor) -> Tensor:
        joined = self.projections[index](x).view(*self.tokens.shape, -1)  # (B, S, 3D)
        query, seen = layer.attention.split(joined, rotation)
        out: Tensor = layer.attention(query, seen, mask=mask)
        return out.flatten(0, 1)
