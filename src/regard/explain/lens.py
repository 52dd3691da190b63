"""The prediction of each decoder layer: the logit lens (nostalgebraist 2020), for translation.

    T decoder positions, EOS last   D width   V vocabulary   L layers

    P_l(w | y<t, x) = softmax(W norm(x_l))      x_l (D,) the state of position t after layer l; layer 0 is the input

In a Transformer every layer adds to one state per position, and the output matrix reads the last one. The lens reads
the earlier ones in the same way. At layer L it is exactly the model's own distribution. Earlier layers were not trained
for this: a flat distribution there does not mean that the layer has little information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.batch import EOS, flat_batch
from regard.errors import InputError
from regard.explain.hooks import recorded
from regard.models.base import Model


@dataclass(frozen=True)
class LensReading:
    """The prediction of one layer at one position."""

    tokens: tuple[int, ...]  # the most probable, best first
    probabilities: tuple[float, ...]
    probability: float  # the probability of the token that was output
    rank: int  # rank of that token among all tokens, from 1


@dataclass(frozen=True)
class Lens:
    """The predictions of layers 0 … L, each at T positions."""

    layers: tuple[tuple[LensReading, ...], ...]


@torch.inference_mode()
def layer_log_probs(model: Model, source: Sequence[int], target: Sequence[int]) -> list[NDArray[np.float64]]:
    """For layers 0 … L: (T, V) log-probabilities. Ids are without BOS and EOS."""
    parts = model.decoder_stack()
    if parts is None:
        raise InputError(
            "what each decoder layer would say can be read from a Transformer, whose layers share one state; "
            f"a model of the class {type(model).__name__} has none"
        )
    batch = flat_batch([source], [target]).pad().to(model.device)
    with recorded(*parts.layers) as calls:
        model(batch)
    states: list[Tensor] = [calls[parts.layers[0]][0].inputs[0]]
    for layer in parts.layers:
        output = calls[layer][0].output
        states.append(output[0] if isinstance(output, tuple) else output)
    found = []
    for state in states:
        logits: Tensor = parts.output(parts.norm(state))[0]  # (T, V)
        found.append(logits.double().log_softmax(dim=-1).cpu().numpy())
    return found


def lens(model: Model, source: Sequence[int], target: Sequence[int], count: int = 5) -> Lens:
    """Returns the `count` most probable tokens at every layer and position."""
    tokens = [*target, EOS]
    return Lens(
        tuple(
            tuple(_reading(row, token, count) for row, token in zip(rows, tokens, strict=True))
            for rows in layer_log_probs(model, source, target)
        )
    )


def _reading(log_probs: NDArray[np.float64], token: int, count: int) -> LensReading:
    best = np.argsort(-log_probs, kind="stable")[:count]
    return LensReading(
        tuple(int(token) for token in best),
        tuple(float(p) for p in np.exp(log_probs[best])),
        float(np.exp(log_probs[token])),
        1 + int((log_probs > log_probs[token]).sum()),
    )
