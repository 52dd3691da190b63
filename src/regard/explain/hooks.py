"""Forward hooks on a model: record the calls of chosen modules, or replace the embeddings.

    B rows   S source or T target tokens   D width

The model is unchanged, and no hook is left on it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.models.base import Model


@contextmanager
def forward_hooks(modules: Iterable[nn.Module], hook: Callable[..., Any]) -> Iterator[None]:
    """Calls `hook(module, inputs, output)` after each call of the modules, within the block."""
    with ExitStack() as hooks:
        for module in modules:
            hooks.callback(module.register_forward_hook(hook).remove)
        yield


def head_output_hook(
    value: Tensor | float, head: int, heads: int
) -> Callable[[nn.Module, tuple[Tensor]], tuple[Tensor]]:
    """Returns a hook before the output layer Wᴼ of multi-head attention that replaces the output of one head by `value`
    (K,)."""

    def hook(module: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        joined = inputs[0].clone()  # (B, T, D)
        joined.unflatten(-1, (heads, -1))[..., head, :] = value  # (B, T, H, K)
        return (joined,)

    return hook


class ModuleCall(NamedTuple):
    inputs: tuple[Any, ...]  # positional arguments
    output: Any


@contextmanager
def recorded(*modules: nn.Module) -> Iterator[dict[nn.Module, list[ModuleCall]]]:
    """Records the calls of each module within the block, in order.

    >>> layer = nn.Identity()
    >>> with recorded(layer) as calls:
    ...     _ = layer(torch.ones(1))
    >>> calls[layer][0].inputs[0].item(), len(layer._forward_hooks)
    (1.0, 0)
    """
    calls: dict[nn.Module, list[ModuleCall]] = {module: [] for module in modules}

    def record(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        calls[module].append(ModuleCall(inputs, output))

    with forward_hooks(modules, record):
        yield calls


def embedding_tables(model: Model, side: Literal["source", "target"]) -> list[nn.Embedding]:
    """The embeddings of one side of a model, or of all members of an ensemble."""
    name = f"{side}_embedding"
    return [part for path, part in model.named_modules() if path.endswith(name) and isinstance(part, nn.Embedding)]


@contextmanager
def blanked_embeddings(model: Model, blank: Tensor, side: Literal["source", "target"] = "source") -> Iterator[None]:
    """Replaces the embeddings of tokens where `blank` (B, S or T) is True by the mean of all embeddings of the table,
    within the block."""

    def hook(table: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        assert isinstance(table, nn.Embedding)
        where = nn.functional.pad(blank, (0, output.shape[1] - blank.shape[1]))  # ByteNet appends padding: not blanked
        return torch.where(where[..., None], table.weight.mean(dim=0), output)  # (B, S, D)

    with forward_hooks(embedding_tables(model, side), hook):
        yield


def run_on_source_embeddings(model: Model, run: Callable[[], Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Returns the result of `run`, and the source embeddings that the model used, as leaves of the autograd graph:
    (B, S, D) per table."""
    leaves: list[Tensor] = []

    def hook(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    tables = embedding_tables(model, "source")
    with (
        forward_hooks(tables, hook),
        torch.backends.cudnn.flags(enabled=False),
    ):  # cuDNN's RNNs have no backward pass in eval mode
        return run(), leaves
