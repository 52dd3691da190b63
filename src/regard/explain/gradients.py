"""Gradient × input: how log p of each target word changes with small changes of each source word's embedding.

    V source words   W target words   S source subwords   T target subwords   D width

    G(w, v) = Σ_{s in v} x_s · ∂ log p(w) / ∂x_s        x_s the embedding of s, before its position is added

One backward pass gives all of it: the pair is W times in a batch, and row w counts its own word alone. It is a linear
approximation: exact for small changes, and blanking a word (`evidence.py`) is not a small change. ConvS2S scales the
gradient of its encoder down (`models/convs2s.py`), so its figures are smaller by that factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.batch import flat_batch
from regard.models.base import Model
from regard.search.forced_decoding import token_log_probs

NO_WORD = -1  # of a source token that is no part of the text: the model's tag


def gradient_times_input(
    model: Model,
    source: Sequence[int],
    target: Sequence[int],
    of_word: NDArray[np.int64],  # (S,) the word of each source subword, or NO_WORD; EOS left out
    shares: NDArray[np.float64],  # (T, W) which part of a target subword is part of which word
    words: int,
) -> NDArray[np.float64]:
    """(W, V)"""
    count = shares.shape[1]
    batch = flat_batch([source] * count, [target] * count).pad().to(model.device)
    with torch.enable_grad():
        log_probs, read = run_on_source_embeddings(model, lambda: token_log_probs(model, batch))  # (W, T + 1)
        mine = torch.as_tensor(shares.T, dtype=log_probs.dtype, device=log_probs.device)  # (W, T)
        gradients = torch.autograd.grad((log_probs[:, :-1] * mine).sum(), read)
    products = sum((x.detach() * g).sum(dim=-1) for x, g in zip(read, gradients, strict=True))  # (W, S, …)
    assert isinstance(products, Tensor)
    by_subword = products[:, : len(source)].cpu().double().numpy()  # (W, S)
    part = (of_word[:, None] == np.arange(words)).astype(np.float64)  # (S, V)
    of_words: NDArray[np.float64] = by_subword @ part  # (W, V)
    return of_words


def run_on_source_embeddings(model: Model, run: Any) -> tuple[Tensor, list[Tensor]]:
    """What `run` returns, and the source embeddings that the model used: one tensor (B, S, D) for each table."""
    read: list[Tensor] = []

    def hook(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        read.append(output.detach().requires_grad_())
        return read[-1]

    with ExitStack() as hooks, torch.backends.cudnn.flags(enabled=False):  # cuDNN's RNNs have no backward in eval mode
        for table in source_tables(model):
            hooks.callback(table.register_forward_hook(hook).remove)
        return run(), read


def source_tables(model: Model) -> list[nn.Embedding]:
    """The source embeddings of a model, or of all members of an ensemble."""
    return embedding_tables(model, "source_embedding")


def embedding_tables(model: Model, name: str) -> list[nn.Embedding]:
    """The tables of this name in a model, or in all members of an ensemble."""
    return [part for path, part in model.named_modules() if path.endswith(name) and isinstance(part, nn.Embedding)]
