"""Devices: selection, random state, free memory and out-of-memory errors; and whether PyTorch is installed."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from regard.errors import InputError, MissingTorchError

if TYPE_CHECKING:
    import torch

# GPU device files on Linux: NVIDIA (discrete cards, integrated GPUs), AMD, and WSL.
GPU_FILES = ("nvidia*", "nvhost*", "nvmap", "kfd", "dxg")

# Messages of torch: for GPUs; for CPUs on x86-64 and macOS; for CPUs on Windows and ARM, which have no exception type.
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "not enough memory: you tried to allocate")


def has_torch() -> bool:
    """Whether PyTorch is installed. It is an extra: CTranslate2 translates without it."""
    return importlib.util.find_spec("torch") is not None


def missing_torch(what: str) -> MissingTorchError:
    """The error for what needs PyTorch where it is missing, with the command that installs it."""
    return MissingTorchError(f"{what} needs PyTorch, which is not installed: pip install 'regard[torch]'")


def require_torch(what: str) -> None:
    """Raises InputError, which begins with `what`, unless PyTorch is installed."""
    if not has_torch():
        raise missing_torch(what)


@cache
def make_forks_safe() -> None:
    """Makes processes forked from this one compute with one thread. Once torch has used several threads, a fork would
    wait forever for threads that it does not have. On ARM, oneDNN has its own threads regardless of torch's settings,
    so it is disabled in forks."""
    import torch

    def compute_alone() -> None:
        torch.set_num_threads(1)
        if platform.machine().lower() in ("aarch64", "arm64"):
            torch.backends.mkldnn.enabled = False  # type: ignore[assignment]

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=compute_alone)


def pick_device(name: str = "auto") -> torch.device:
    """Returns the device of this name, which must be available; "auto" prefers cuda to mps to cpu."""
    require_torch(f'device "{name}"')
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
    """Returns the name of the device that `pick_device` picks. Torch, which takes seconds to import, is used only where
    there may be a GPU."""
    if name == "cpu" or (name == "auto" and has_no_gpu()):
        return "cpu"
    return str(pick_device(name))


def nth_device(name: str, number: int) -> str:
    """Returns the device of process `number` of several sharing the work: "auto" and "cuda" cycle through all GPUs."""
    if name not in ("auto", "cuda") or (name == "auto" and has_no_gpu()):
        return name
    import torch

    count = torch.cuda.device_count()
    return f"cuda:{number % count}" if count > 1 else name


def gpu_count() -> int:
    import torch

    return torch.cuda.device_count()


def has_no_gpu() -> bool:
    """Whether no GPU can be used, as far as that is certain without importing torch: where torch is not installed, and
    on Linux without GPU device files."""
    no_files = sys.platform == "linux" and not any(any(Path("/dev").glob(name)) for name in GPU_FILES)
    return no_files or not has_torch()


def free_memory(device: torch.device) -> int | None:
    """Returns the bytes this process can still allocate on a GPU: unallocated memory, and memory that torch has
    reserved but does not use. None for other devices."""
    import torch

    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether an exception means that GPU or host memory is exhausted."""
    text = str(problem).lower()
    full = isinstance(problem, RuntimeError) and any(words in text for words in OUT_OF_MEMORY)
    return full or isinstance(problem, MemoryError)


def save_random_state(device: torch.device) -> Callable[[], None]:
    """Saves the state of torch's random generators, the CPU's and, if the device is a GPU, the device's; returns a
    function that restores it."""
    import torch

    cpu = torch.get_rng_state()
    gpu = torch.cuda.get_rng_state(device) if device.type == "cuda" else None

    def restore() -> None:
        torch.set_rng_state(cpu)
        if gpu is not None:
            torch.cuda.set_rng_state(gpu, device)

    return restore
