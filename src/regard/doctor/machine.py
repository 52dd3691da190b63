"""The current state of the machine: versions, cores, memory, devices and disk, as reported by the system."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from regard.data.cache import cache_folder
from regard.data.config import DataConfig
from regard.version import __version__
from regard.workers import usable_cores

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu")


@dataclass(frozen=True)
class Device:
    name: str
    free: int  # bytes
    total: int


@dataclass(frozen=True)
class Machine:
    versions: dict[str, str]
    processor: str
    cores: int  # cores that this process may use
    load: float | None  # load average of the last minute
    threads: int
    bfloat16: str  # hardware support of the CPU for bfloat16 products
    memory_free: int | None  # bytes
    memory_total: int | None
    devices: tuple[Device, ...]
    cache: str
    disk_free: int | None  # bytes, at the cache


def read_machine(data: DataConfig) -> Machine:
    processor = _proc("cpuinfo")
    memory = {name: 1024 * int(size.split()[0]) for name, size in _proc("meminfo").items()}
    cache = cache_folder(data)
    devices = []
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        devices.append(Device(f"cuda:{number} {torch.cuda.get_device_name(number)}", free, total))
    if torch.backends.mps.is_available():
        devices.append(Device("mps", 0, 0))
    return Machine(
        versions={"regard": __version__, "python": platform.python_version()}
        | {name: version(name) for name in PACKAGES},
        processor=processor.get("model name") or platform.processor() or platform.machine(),
        cores=usable_cores(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        threads=torch.get_num_threads(),
        bfloat16=_bfloat16(processor.get("flags", "").split()),
        memory_free=memory.get("MemAvailable"),
        memory_total=memory.get("MemTotal"),
        devices=tuple(devices),
        cache=str(cache),
        disk_free=_disk_free(cache),
    )


def _bfloat16(flags: list[str]) -> str:
    """Finds the bfloat16 support in the flags of /proc/cpuinfo: torch's own functions for it are private."""
    found = [name for flag, name in (("amx_bf16", "AMX"), ("avx512_bf16", "AVX512-BF16")) if flag in flags]
    return " and ".join(found) or "no unit for it"


def _proc(name: str) -> dict[str, str]:
    """Reads the lines "key: value" of a file in /proc; empty if it does not exist."""
    path = Path("/proc", name)
    lines = path.read_text().splitlines() if path.exists() else []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _disk_free(folder: Path) -> int | None:
    """Returns the free bytes on the disk of a folder, or of its nearest existing parent."""
    existing = next((path for path in (folder, *folder.absolute().parents) if path.exists()), None)
    return shutil.disk_usage(existing).free if existing else None
