"""The calls of a model's modules while it runs: a context in which chosen modules are recorded.

The model is unchanged, and nothing of the recording is left on it afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import nn


class ModuleCall(NamedTuple):
    inputs: tuple[Any, ...]  # positional arguments
    output: Any


@contextmanager
def recorded(*modules: nn.Module) -> Iterator[dict[nn.Module, list[ModuleCall]]]:
    """Each module's calls, in their order.

    >>> import torch
    >>> layer = nn.Identity()
    >>> with recorded(layer) as calls:
    ...     _ = layer(torch.ones(1))
    >>> calls[layer][0].inputs[0].item(), len(layer._forward_hooks)
    (1.0, 0)
    """
    calls: dict[nn.Module, list[ModuleCall]] = {module: [] for module in modules}

    def note(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        calls[module].append(ModuleCall(inputs, output))

    hooks = [module.register_forward_hook(note) for module in modules]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
