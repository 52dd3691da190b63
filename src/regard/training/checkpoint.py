"""The state of a run in one file: weights, moments, means, random state, position. Going on is exactly going on.

One file, because one rename is atomic. The checkpoint before it is kept: a damaged one never leaves a run without a
way on. Every tensor carries a checksum. It is a safetensors file, never a pickle.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from regard.bundle import unique_tensors
from regard.errors import BundleError, RunError
from regard.files import write_atomically
from regard.models.base import Model
from regard.training.average import Average

CURRENT, PREVIOUS = "training.safetensors", "training.previous.safetensors"


@dataclass
class Progress:
    """How far a run has come: everything about it that is not a tensor."""

    step: int = 0  # updates done
    epoch: int = 0
    index: int = 0  # batches of this epoch already used
    tokens: int = 0  # target tokens learnt from
    flops: float = 0.0  # that it took, forward and backward
    seconds: float = 0.0  # spent in the loop
    loss: float | None = None  # of training, smoothed over some twenty updates
    best_bleu: float = -1.0
    best_step: int = 0
    stale: int = 0  # evaluations since the best one
    signature: str = ""  # of best_bleu


@dataclass(frozen=True)
class Checkpoint:
    progress: Progress
    recipe: str  # TOML
    data: str  # fingerprint of the encoded corpus
    tensors: dict[str, Tensor]

    def restore(self, model: Model, optimizer: torch.optim.Optimizer, average: Average) -> None:
        tensors = _grouped(self.tensors)
        parameters = unique_tensors(model)
        with torch.no_grad():
            for name, tensor in tensors["model"].items():
                parameters[name].copy_(tensor)
        moments: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.get("optimizer", {}).items():
            parameter, _, kind = name.rpartition("/")
            moments.setdefault(parameter, {})[kind] = tensor
        for name, state in moments.items():
            device = parameters[name].device
            optimizer.state[parameters[name]] = {k: t.to(device) for k, t in state.items()}
        average.restore(tensors.get("average", {}))
        torch.set_rng_state(tensors["random"]["cpu"])
        if "cuda" in tensors["random"] and torch.cuda.is_available():
            torch.cuda.set_rng_state(tensors["random"]["cuda"])


def save_checkpoint(
    folder: Path,
    progress: Progress,
    recipe: str,
    data: str,
    model: Model,
    optimizer: torch.optim.Optimizer,
    average: Average,
) -> None:
    names = unique_tensors(model)
    tensors = {f"model:{n}": t for n, t in names.items()}
    for name, parameter in names.items():
        tensors |= {f"optimizer:{name}/{k}": t for k, t in optimizer.state.get(parameter, {}).items()}
    tensors |= {f"average:{n}": t for n, t in average.tensors().items()}
    tensors["random:cpu"] = torch.get_rng_state()
    if model.device.type == "cuda":
        tensors["random:cuda"] = torch.cuda.get_rng_state()
    plain = {n: t.detach().cpu().contiguous() for n, t in tensors.items()}
    about = {
        "progress": dataclasses.asdict(progress),
        "recipe": recipe,
        "data": data,
        "checksums": {n: _checksum(t) for n, t in plain.items()},
    }

    def write(path: Path) -> None:
        save_file(plain, path, metadata={"about": json.dumps(about)})

    fresh = folder / f"{CURRENT}.new"
    try:
        write_atomically(fresh, write)
        if (folder / CURRENT).exists():
            (folder / CURRENT).replace(folder / PREVIOUS)
        fresh.replace(folder / CURRENT)
    except (BundleError, OSError) as problem:
        fresh.unlink(missing_ok=True)
        way_on = f"the one before it is whole. Make room, then: regard resume {folder}"
        if not any((folder / name).exists() for name in (CURRENT, PREVIOUS)):
            way_on = "it would have been the first. Make room, then start again in another folder"
        raise RunError(f"the checkpoint of step {progress.step} could not be written ({problem}); {way_on}") from None


def load_checkpoint(folder: Path, previous: bool = False) -> Checkpoint:
    path = folder / (PREVIOUS if previous else CURRENT)
    other = folder / (CURRENT if previous else PREVIOUS)
    if not path.exists() and not previous and other.exists():  # the run died between two renames
        path = other
    if not path.is_file():
        raise RunError(f"no checkpoint in {folder}; a run that can be resumed holds {CURRENT}")
    try:
        with safe_open(path, framework="pt") as file:
            about: dict[str, Any] = json.loads(file.metadata()["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        damaged = [n for n, t in tensors.items() if _checksum(t) != about["checksums"].get(n)]
        if damaged:
            raise ValueError(f"checksum of {damaged[0]}")
        progress = Progress(**about["progress"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as problem:
        way_on = "copy it again, or start anew"
        if path.name == CURRENT and other.exists():
            way_on = f"the one before it is still there: regard resume {folder} --previous"
        raise RunError(f"the checkpoint {path} is damaged ({problem}); {way_on}") from None
    return Checkpoint(progress, about["recipe"], about["data"], tensors)


def _checksum(tensor: Tensor) -> int:
    return zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data)


def _grouped(tensors: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    groups: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        group, _, rest = name.partition(":")
        groups.setdefault(group, {})[rest] = tensor
    return groups
