"""Devices: which one is used, its random state, its free memory, and out-of-memory errors."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import InputError

if TYPE_CHECKING:
    import torch

# Device files of GPUs on Linux: of NVIDIA (cards, and those on a chip with the CPU), of AMD, and of Windows around it.
GPU_FILES = ("nvidia*", "nvhost*", "nvmap", "kfd", "dxg")

# Messages of torch for a GPU; for a CPU on x86-64 and macOS, and on Windows and ARM, where there is no exception type.
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory: you tried to allocate")


@cache
def make_forks_safe() -> None:
    """Let processes that are forked from this one compute with one thread. Once torch has computed with several, a
    fork would wait for ever for threads that it does not have. On ARM oneDNN has threads of its own, whatever torch
    was told, so a fork does without it."""
    import torch

    def compute_alone() -> None:
        torch.set_num_threads(1)
        if platform.machine().lower() in ("aarch64", "arm64"):
            torch.backends.mkldnn.enabled = False  # type: ignore[assignment]

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=compute_alone)


def pick_device(name: str = "auto") -> torch.device:
    """With "auto" cuda before mps before cpu; a device given by name must be available."""
    import torch

    make_forks_safe()
    count = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    usable = [kind for kind, number in count.items() if number]
    if name == "auto":
        return torch.device(usable[0])
    kind, _, number = name.partition(":")
    if not (number or "0").isdecimal() or int(number or 0) >= count.get(kind, 0):
        raise InputError(f'device "{name}" is not available here; usable: auto, {", ".join(usable)}')
    return torch.device(name)


def device_name(name: str = "auto") -> str:
    """The name of what `pick_device` picks. Torch, which takes seconds to import, is asked only where there may be
    something to ask it."""
    if name == "cpu" or (name == "auto" and has_no_gpu()):
        return "cpu"
    return str(pick_device(name))


def nth_device(name: str, number: int) -> str:
    """The device of process `number` of several that share the work: "auto" and "cuda" go over all GPUs in turn."""
    if name not in ("auto", "cuda") or (name == "auto" and has_no_gpu()):
        return name
    import torch

    count = torch.cuda.device_count()
    return f"cuda:{number % count}" if count > 1 else name


def has_no_gpu() -> bool:
    """Whether it is certain without torch that there is none: on a Linux without the device files of one."""
    return sys.platform == "linux" and not any(any(Path("/dev").glob(name)) for name in GPU_FILES)


def free_memory(device: torch.device) -> int | None:
    """Bytes that this process can still take on a GPU: what nobody has, and what torch holds without using it. None for
    other devices."""
    import torch

    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether an exception means that memory is full, of a GPU or of the machine."""
    text = str(problem).lower()
    full = isinstance(problem, RuntimeError) and any(words in text for words in OUT_OF_MEMORY)
    return full or isinstance(problem, MemoryError)


def save_random_state(device: torch.device) -> Callable[[], None]:
    """Save the state of torch's random generators, the CPU's and, if the device is a GPU, the device's; returns a
    function that restores it."""
    import torch

    cpu = torch.get_rng_state()
    gpu = torch.cuda.get_rng_state(device) if device.type == "cuda" else None

    def restore() -> None:
        torch.set_rng_state(cpu)
        if gpu is not None:
            torch.cuda.set_rng_state(gpu, device)

    return restore
