"""A checkpoint of sharded tensors: a folder with one safetensors file for each process.

    shard-00001-model-00001-of-00001.safetensors …   about.json

torch.distributed.checkpoint writes and reads the shards, so that any number of processes, also one without torchrun,
can read what any other number has written. `about.json` holds everything that is not a tensor, and the checksums of the
files. `checkpoint.py` decides when a checkpoint is written and which one is current.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from regard.errors import BundleError
from regard.files import checksum, write_atomically

ABOUT = "about.json"


def write_shards(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """To be called by all processes together; each writes its shards to its own file and syncs it."""
    from torch.distributed.checkpoint.api import CheckpointException
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
    from torch.distributed.checkpoint.state_dict_saver import save

    plain = {name: tensor.detach() for name, tensor in tensors.items()}
    try:
        save(plain, storage_writer=HuggingFaceStorageWriter(str(folder), save_distributed=True))
    except CheckpointException as problem:  # a BaseException that holds the failure of each process
        first = next(iter(problem.failures.values()))[0]
        raise BundleError(f"cannot write {folder}: {first}") from None


def describe_shards(folder: Path, about: Mapping[str, Any]) -> None:
    known = json.dumps({**about, "checksums": {path.name: checksum(path) for path in folder.glob("*.safetensors")}})
    write_atomically(folder / ABOUT, lambda path: path.write_text(known, encoding="utf-8"))


def read_about(folder: Path) -> dict[str, Any]:
    """What `describe_shards` was given; ValueError or OSError if a file is damaged or missing."""
    about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    damaged = [name for name, known in about["checksums"].items() if checksum(folder / name) != known]
    if damaged:
        raise ValueError(f"checksum of {damaged[0]}")
    return about


def read_shards(folder: Path, like: Callable[[str], Tensor | None]) -> dict[str, Tensor]:
    """Every tensor of the folder, by name: sharded as `like(name)` if that has the same shape, else whole."""
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata
    from torch.distributed.checkpoint.state_dict_loader import load

    reader = HuggingFaceStorageReader(str(folder))
    tensors: dict[str, Tensor] = {}
    for name, stored in reader.read_metadata().state_dict_metadata.items():
        assert isinstance(stored, TensorStorageMetadata), "only tensors are written"
        pattern, kind = like(name), stored.properties.dtype
        if pattern is None or pattern.shape != stored.size:
            tensors[name] = torch.zeros(stored.size, dtype=kind)
        else:
            tensors[name] = torch.zeros_like(pattern.detach(), dtype=kind)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")  # a single process may read them too
        load(tensors, storage_reader=reader, no_dist=not dist.is_initialized())
    return tensors
