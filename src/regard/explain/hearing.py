"""What a model's parts were given and gave back while it ran: a context in which chosen modules are overheard.

Nothing of the model changes, and behind the context nothing is left of it. Modules remember nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import nn


class Call(NamedTuple):
    given: tuple[Any, ...]  # arguments by place
    gave: Any


@contextmanager
def overheard(*modules: nn.Module) -> Iterator[dict[nn.Module, list[Call]]]:
    """Each module's calls, in their order.

    >>> import torch
    >>> layer = nn.Identity()
    >>> with overheard(layer) as heard:
    ...     _ = layer(torch.ones(1))
    >>> heard[layer][0].given[0].item(), len(layer._forward_hooks)
    (1.0, 0)
    """
    calls: dict[nn.Module, list[Call]] = {module: [] for module in modules}

    def note(module: nn.Module, given: tuple[Any, ...], gave: Any) -> None:
        calls[module].append(Call(given, gave))

    hooks = [module.register_forward_hook(note) for module in modules]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
