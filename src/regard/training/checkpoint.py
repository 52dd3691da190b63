"""The state of a run in one file: weights, moments, averages, random state, position.

A resumed run is bit for bit the uninterrupted one. The state is one file, because one rename is atomic. The checkpoint
before it is kept, so that a damaged one does not end a run. Every tensor has a checksum. It is a safetensors file.

Where tensors are sharded over several processes (fsdp), it is a folder of the same name, with one file per process:

    shard-00001-model-00001-of-00001.safetensors …   about.json

torch.distributed.checkpoint writes and reads the shards, so that any number of processes, also one without torchrun,
can read what any other number has written. `about.json` holds everything that is not a tensor, and the checksums of the
files.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import warnings
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from regard.errors import BundleError, RunError
from regard.files import checksum, sync_folder, write_atomically
from regard.models.base import unique_tensors
from regard.training.average import Average
from regard.training.distributed import SINGLE_PROCESS, ProcessGroup, is_sharded, shard_like

CURRENT, PREVIOUS = "training.safetensors", "training.previous.safetensors"


@dataclass
class Progress:
    """The progress of a run: all of its state that is not a tensor."""

    step: int = 0  # updates done
    epoch: int = 0
    index: int = 0  # used in this epoch: batches of each process, or pairs where sentences share rows
    processes: int = 1  # number that train together
    shared_rows: bool = False  # whether several sentences share a row
    width: int = 0  # of such rows
    half: bool | None = None  # whether a CPU computes in bfloat16, if that was decided by a measurement
    room: int | None = None  # maximum positions of a part of a batch that fits into memory; None: no limit
    threads: int = 0  # CPU threads at the last checkpoint
    trajectory: str = ""  # fingerprint of all losses and norms so far
    tokens: int = 0  # target tokens learnt from
    flops: float = 0.0  # forward, backward, and sampling for rewards
    seconds: float = 0.0  # spent in the loop
    loss: float | None = None  # of training, smoothed over some twenty updates
    reward: float | None = None  # of samples in training for rewards, smoothed over some twenty batches
    best_bleu: float = -1.0
    best_step: int = 0
    stale: int = 0  # evaluations since the best one
    signature: str = ""  # of best_bleu
    started_from: dict[str, Any] | None = None  # the model that the run began with, as `job.py` describes it


@dataclass(frozen=True)
class Checkpoint:
    progress: Progress
    recipe: str  # TOML
    data: str  # fingerprint of the encoded corpus
    stored: dict[str, Tensor] | Path  # the tensors, or the folder of their shards

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors, unsharded."""
        return self.stored if isinstance(self.stored, dict) else read_shards(self.stored, lambda name: None)

    def restore(self, optimizer: torch.optim.Optimizer, average: Average, rank: int = 0) -> bool:
        """Restores weights, moments, means and random state. Returns False if the random state of this rank is not in
        the checkpoint, as with more processes than before."""
        parameters = unique_tensors(average.model)
        if isinstance(self.stored, Path):
            found = read_shards(self.stored, lambda name: parameters.get(_parameter_name(name)))
        else:
            found = {n: shard_like(t, parameters.get(_parameter_name(n), t)) for n, t in self.stored.items()}
        tensors: dict[str, dict[str, Tensor]] = {"optimizer": {}, "average": {}}
        for name, tensor in found.items():
            kind, _, rest = name.partition(":")
            tensors.setdefault(kind, {})[rest] = tensor
        with torch.no_grad():
            for name, tensor in tensors["model"].items():
                parameters[name].copy_(tensor)
        for name, tensor in tensors["optimizer"].items():
            owner, _, moment = name.rpartition("/")
            parameter = parameters[owner]
            optimizer.state[parameter] = {**optimizer.state.get(parameter, {}), moment: tensor.to(parameter.device)}
        average.restore(tensors["average"])
        rng_states, suffix = tensors["random"], _rank_suffix(rank)
        if f"cpu{suffix}" not in rng_states:
            return False
        torch.set_rng_state(rng_states[f"cpu{suffix}"])
        if f"cuda{suffix}" in rng_states and torch.cuda.is_available():
            torch.cuda.set_rng_state(rng_states[f"cuda{suffix}"])
        return True


def save_checkpoint(
    folder: Path,
    progress: Progress,
    recipe: str,
    data: str,
    optimizer: torch.optim.Optimizer,
    average: Average,
    group: ProcessGroup = SINGLE_PROCESS,
) -> None:
    """Saves a checkpoint of the model of `average`; all processes of a run must call this together."""
    model = average.model
    names = unique_tensors(model)
    tensors = {f"model:{n}": t for n, t in names.items()}
    for name, parameter in names.items():
        tensors |= {f"optimizer:{name}/{k}": t for k, t in optimizer.state.get(parameter, {}).items()}
    tensors |= {f"average:{n}": t for n, t in average.tensors().items()}
    states = {"cpu": torch.get_rng_state()} | (
        {"cuda": torch.cuda.get_rng_state()} if model.device.type == "cuda" else {}
    )
    for device, state in states.items():
        for rank, gathered in enumerate(group.all_gather(state)):
            tensors[f"random:{device}{_rank_suffix(rank)}"] = gathered
    about = {"progress": dataclasses.asdict(progress), "recipe": recipe, "data": data}
    fresh = folder / f"{CURRENT}.new"
    try:
        if any(is_sharded(tensor) for tensor in names.values()):
            group.broadcast(lambda: _remove(fresh))  # left by a run that was killed here
            write_shards(fresh, tensors)
            group.broadcast(lambda: describe_shards(fresh, about))
        else:
            group.broadcast(lambda: _write_whole(fresh, tensors, about))
        group.broadcast(lambda: _make_current(fresh, folder))
    except (BundleError, OSError) as problem:
        _remove(fresh)
        advice = f"the one before it is whole. Make room, then: regard resume {folder}"
        if not has_checkpoint(folder):
            advice = "it would have been the first. Make room, then start again in another folder"
        raise RunError(f"the checkpoint of step {progress.step} could not be written ({problem}); {advice}") from None


def _write_whole(fresh: Path, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
    plain = {n: t.detach().cpu().contiguous() for n, t in tensors.items()}
    metadata = json.dumps({**about, "checksums": {n: _checksum(t) for n, t in plain.items()}})
    write_atomically(fresh, lambda path: save_file(plain, path, metadata={"about": metadata}))


def _make_current(fresh: Path, folder: Path) -> None:
    if (folder / CURRENT).exists():
        if (folder / CURRENT).is_dir() or (folder / PREVIOUS).is_dir():  # a rename replaces only a file by a file
            _remove(folder / PREVIOUS)
        (folder / CURRENT).replace(folder / PREVIOUS)
    fresh.replace(folder / CURRENT)
    sync_folder(folder)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def has_checkpoint(folder: Path) -> bool:
    return any((folder / name).exists() for name in (CURRENT, PREVIOUS))


def load_checkpoint(folder: Path, previous: bool = False) -> Checkpoint:
    path = folder / (PREVIOUS if previous else CURRENT)
    other = folder / (CURRENT if previous else PREVIOUS)
    if not path.exists() and not previous and other.exists():  # the run was killed between two renames
        path = other
    if not path.exists():
        raise RunError(f"no checkpoint in {folder}; a run that can be resumed holds {CURRENT}")
    try:
        tensors: dict[str, Tensor] | Path
        if path.is_dir():
            tensors, about = path, read_about(path)
        else:
            with safe_open(path, framework="pt") as file:
                about = json.loads(file.metadata()["about"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            damaged = [n for n, t in tensors.items() if _checksum(t) != about["checksums"].get(n)]
            if damaged:
                raise ValueError(f"checksum of {damaged[0]}")
        checkpoint = Checkpoint(Progress(**about["progress"]), about["recipe"], about["data"], tensors)
        if not (isinstance(checkpoint.progress.step, int) and isinstance(checkpoint.recipe, str)):
            raise ValueError("step or recipe is missing")
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        advice = "copy it again, or start again"
        if path.name == CURRENT and other.exists():
            advice = f"the one before it is still there: regard resume {folder} --previous"
        raise RunError(f"the checkpoint {path} is damaged ({problem}); {advice}") from None
    return checkpoint


def _checksum(tensor: Tensor) -> int:
    return zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data)


def _parameter_name(name: str) -> str:
    """Returns the name of the parameter that a tensor of a checkpoint belongs to.

    >>> [_parameter_name(n) for n in ("model:a.b", "optimizer:a.b/exp_avg", "average:ema.a.b", "random:cpu")]
    ['a.b', 'a.b', 'a.b', 'cpu']
    """
    group, _, rest = name.partition(":")
    return rest.rpartition("/")[0] if group == "optimizer" else rest.partition(".")[2] if group == "average" else rest


def _rank_suffix(rank: int) -> str:
    """Returns the suffix of the names of a process's random states; empty for the first process."""
    return f".{rank}" if rank else ""


ABOUT = "about.json"


def write_shards(folder: Path, tensors: Mapping[str, Tensor]) -> None:
    """Writes shards, each process to its own file, and syncs them; all processes must call this together."""
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
    """Reads the data written by `describe_shards`; raises ValueError or OSError if a file is damaged or missing."""
    about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    damaged = [name for name, known in about["checksums"].items() if checksum(folder / name) != known]
    if damaged:
        raise ValueError(f"checksum of {damaged[0]}")
    return about


def read_shards(folder: Path, like: Callable[[str], Tensor | None]) -> dict[str, Tensor]:
    """Reads every tensor of the folder, by name: sharded as `like(name)` if that has the same shape, else whole."""
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
