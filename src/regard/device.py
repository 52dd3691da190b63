"""Where tensors are computed: a GPU if there is one, else the CPU."""

from __future__ import annotations

import torch

from regard.errors import InputError


def pick_device(name: str = "auto") -> torch.device:
    """cuda before mps before cpu; a device asked for by name must be there."""
    count = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    usable = [kind for kind, number in count.items() if number]
    if name == "auto":
        return torch.device(usable[0])
    kind, _, number = name.partition(":")
    if not (number or "0").isdecimal() or int(number or 0) >= count.get(kind, 0):
        raise InputError(f'device "{name}" is not available here; usable: auto, {", ".join(usable)}')
    return torch.device(name)
