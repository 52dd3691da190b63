"""Devices: which one computes, its random state, and how it says that memory is full."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import InputError

# What torch says on a CPU: x86-64 and macOS, then Windows and ARM. There is no exception type for it.
CPU_MEMORY = ("can't allocate memory", "not enough memory: you tried to allocate")


def pick_device(name: str = "auto") -> torch.device:
    """With "auto" cuda before mps before cpu; a device given by name must be available."""
    count = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    usable = [kind for kind, number in count.items() if number]
    if name == "auto":
        return torch.device(usable[0])
    kind, _, number = name.partition(":")
    if not (number or "0").isdecimal() or int(number or 0) >= count.get(kind, 0):
        raise InputError(f'device "{name}" is not available here; usable: auto, {", ".join(usable)}')
    return torch.device(name)


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether an exception means that memory is full, of a GPU or of the machine."""
    if isinstance(problem, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(problem)
    return isinstance(problem, RuntimeError) and (
        "out of memory" in text.lower() or any(words in text for words in CPU_MEMORY)
    )


@dataclass(frozen=True)
class RandomState:
    """The state of torch's random generators: the CPU's and, if the device is a GPU, the device's too."""

    device: torch.device
    cpu: Tensor
    gpu: Tensor | None

    @classmethod
    def of(cls, device: torch.device) -> RandomState:
        return cls(device, torch.get_rng_state(), torch.cuda.get_rng_state(device) if device.type == "cuda" else None)

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.gpu is not None:
            torch.cuda.set_rng_state(self.gpu, self.device)
