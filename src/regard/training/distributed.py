"""One run on many devices, started by torchrun: one process per device, each with its share of every batch.

    torchrun --nproc-per-node 2 -m regard train recipe.toml --out RUN

    ddp    every process holds the whole model; gradients are averaged (torch's DistributedDataParallel)
    fsdp   weights, gradients, moments and means are sharded over the processes (torch's fully_shard); the weights are
           gathered for each pass

    W processes   gradient = 1/W Σ over processes of ∇ (W · summed loss ÷ target tokens of all processes)

Tensors are exchanged over the main group (nccl on GPUs, gloo elsewhere), Python objects over a second gloo group with
a long timeout, since all processes wait while the first one evaluates. Only the first process logs, evaluates and
writes. Batches are divided in `data`, checkpoints written in `checkpoint.py`. Layers are not sharded one by one, and no
layer is split over devices: the model must fit on each device, its training need not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
import torch.distributed as dist
from rich.console import Console
from torch import Tensor, nn
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from regard.batch import Batch
from regard.bundle.bundle import Bundle
from regard.device import pick_device
from regard.errors import InputError, RecipeError, RegardError, RunError
from regard.models.base import Model, unique_tensors
from regard.models.table import make_model
from regard.recipe.train import TrainConfig

if TYPE_CHECKING:
    from torch.distributed.fsdp import FSDPModule
    from torch.distributed.tensor import DTensor

TIMEOUT = timedelta(hours=6)  # for processes that wait for an evaluation; the death of one is noticed at once
LOST = ("gloo", "nccl", "connection", "socket", "timed out", "broken pipe")  # words in errors when a process has died

T = TypeVar("T")


@dataclass(frozen=True)
class ProcessGroup:
    """The processes that train together, and the rank of this one."""

    rank: int = 0
    size: int = 1
    object_group: Any = None  # the gloo group for Python objects

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def console(self) -> Console:
        return Console(stderr=True, quiet=not self.is_first)

    def broadcast(self, work: Callable[[], T]) -> T:
        """Runs `work` in the first process and returns its result in all processes. If it fails, all of them end; the
        first raises the error."""
        if self.size == 1:
            return work()
        message: list[Any] = [None, None]  # result, error
        if self.is_first:
            try:
                message = [work(), None]
            except Exception as problem:
                dist.broadcast_object_list([None, f"{problem}"], src=0, group=self.object_group)
                raise
        dist.broadcast_object_list(message, src=0, group=self.object_group)
        if message[1] is not None:
            raise SystemExit(2)
        return cast(T, message[0])

    def all_sum(self, numbers: Sequence[float]) -> list[float]:
        """Returns each number's sum over all processes; waits for all of them."""
        if self.size == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total, group=self.object_group)
        return total.tolist()

    def all_gather(self, tensor: Tensor) -> list[Tensor]:
        """Gathers a small tensor from every process, in the order of their ranks."""
        if self.size == 1:
            return [tensor]
        gathered = [torch.empty_like(tensor) for _ in range(self.size)]
        dist.all_gather(gathered, tensor, group=self.object_group)
        return gathered

    def loss_scale(self, tokens: int, device: torch.device) -> float | Tensor:
        """Returns the factor of a summed loss: W ÷ target tokens of all processes, as gradients are averaged. With
        several processes it is a tensor on the device, so that the host does not wait."""
        if self.size == 1:
            return 1 / tokens
        total = torch.full((), float(tokens), device=device)
        dist.all_reduce(total)
        return self.size / total


SINGLE_PROCESS = ProcessGroup()


# ── joining ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def join_processes(config: TrainConfig) -> Iterator[ProcessGroup]:
    """Joins the processes that torchrun started; without torchrun, the group is this process alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield SINGLE_PROCESS
        return
    missing = [name for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise RunError(
            f"WORLD_SIZE is {size}, but {missing[0]} is not set; start it with torchrun: "
            "torchrun --nproc-per-node 2 -m regard train …"
        )
    backend = "nccl" if local_device(config).type == "cuda" else "gloo"
    try:
        store, rank, _ = next(iter(rendezvous("env://")))
        dist.init_process_group(backend, store=_for_this_attempt(store), rank=rank, world_size=size)
        yield ProcessGroup(rank, size, dist.new_group(backend="gloo", timeout=TIMEOUT))
    except RegardError:
        raise
    except (RuntimeError, OSError) as problem:
        reason = " ".join(str(problem).split())
        if not any(word in reason.lower() for word in LOST):
            raise
        raise RunError(
            f"lost contact with another process of this run, which ended or was stopped ({reason[:150]})"
        ) from None
    dist.destroy_process_group()  # not after a failure: it would wait for processes that are gone


def _for_this_attempt(store: Any) -> Any:
    """Prefixes the store by the attempt: on one machine torchrun reuses it after a restart, with addresses of dead
    processes. Several machines count attempts differently; there TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 makes new stores.
    """
    if os.environ.get("GROUP_WORLD_SIZE", "1") != "1":
        return store
    return PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def local_device(config: TrainConfig) -> torch.device:
    """Returns the device of this process: with several processes, the GPU with its local rank."""
    device = pick_device(config.device)
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or device.type == "cpu":
        return device
    if device.type == "mps":
        raise InputError("train.device mps takes one process, but there are several; use cpu, or leave torchrun out")
    number, count = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if number >= count:
        raise InputError(
            f"{number + 1} or more processes on this machine, but {count} GPUs; use torchrun --nproc-per-node {count}"
        )
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def is_first() -> bool:
    """Whether this is the process that prints, also before it has joined the others."""
    return os.environ.get("RANK", "0") == "0" or int(os.environ.get("WORLD_SIZE", "1")) == 1


def was_restarted(group: ProcessGroup) -> bool:
    """Whether torchrun has restarted the processes after one of them died, here or on another machine."""
    here = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) if group.size > 1 else 0
    return group.all_sum([here])[0] > 0


def seed_rank(seed: int, group: ProcessGroup, step: int = 0) -> None:
    """Seeds the other processes differently: initial weights are the same in all, but dropout and samples must differ.
    The first process keeps its state, as if it ran alone."""
    if group.rank:
        torch.manual_seed((seed * 1_000_003 + step) * 65_537 + group.rank)


# ── learning together ───────────────────────────────────────────────────────────────────────────────────────────────


class LossModule(nn.Module):
    """A module whose forward pass computes a loss of the model, whichever methods that calls, so that a wrapper such as
    DDP sees one forward and one backward."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, loss: Callable[..., Tensor], *arguments: Any) -> Tensor:
        return loss(*arguments)


def wrap_model(model: Model, config: TrainConfig, group: ProcessGroup) -> nn.Module:
    """Wraps the model for all processes. Must be called before optimizer and means are made: fsdp replaces the
    parameters."""
    plain = LossModule(model)
    if group.size == 1:
        return plain
    if config.parallel == "fsdp":
        if config.optimizer != "adamw":
            raise RecipeError(
                f"train.parallel is fsdp, which shards matrices, but train.optimizer {config.optimizer} needs them "
                "whole; use adamw, or ddp"
            )
        from torch.distributed.fsdp import fully_shard

        fully_shard(plain)
        return plain
    if model.device.type == "cuda":
        # Layers are compiled one by one, so gradients are exchanged during backward anyway.
        torch._dynamo.config.optimize_ddp = False
    return DistributedDataParallel(plain, gradient_as_bucket_view=True)


def accumulate_distributed(learn: Callable[[Batch], Tensor], batches: Sequence[Batch], objective: nn.Module) -> Tensor:
    """Returns the sum of `learn`, which accumulates gradients, over all batches; the last pass exchanges them. A batch
    that does not fit into memory is an error here: a retry would leave the other processes waiting."""
    losses = []
    for number, batch in enumerate(batches, start=1):
        last = number == len(batches)
        if isinstance(objective, DistributedDataParallel):
            with nullcontext() if last else objective.no_sync():
                losses.append(learn(batch))
        else:
            cast("FSDPModule", objective).set_requires_gradient_sync(last)
            losses.append(learn(batch))
    return torch.stack(losses).sum()


# ── sharded weights ────────────────────────────────────────────────────────────────────────────────────────────────


def is_sharded(tensor: Tensor) -> bool:
    if not dist.is_available() or not dist.is_initialized():
        return False
    from torch.distributed.tensor import DTensor

    return isinstance(tensor, DTensor)


def full_tensor(tensor: Tensor) -> Tensor:
    """Returns the whole tensor, in every process; for a sharded one all processes must call this together."""
    if not is_sharded(tensor):
        return tensor
    sharded: DTensor = tensor  # type: ignore[assignment]
    return sharded.full_tensor()


def shard_like(tensor: Tensor, pattern: Tensor) -> Tensor:
    """Shards a whole tensor, the same in all processes, like `pattern`: each process keeps its part."""
    if not is_sharded(pattern) or is_sharded(tensor) or tensor.shape != pattern.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    like: DTensor = pattern  # type: ignore[assignment]
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def gather_bundle(bundle: Bundle) -> Bundle:
    """Returns the bundle with whole weights, to evaluate and to save: itself, unless its weights are sharded. Then all
    processes must call this together."""
    named = unique_tensors(bundle.model)
    if not any(is_sharded(tensor) for tensor in named.values()):
        return bundle
    with torch.random.fork_rng():  # the constructor draws random weights
        model = make_model(bundle.architecture, bundle.config, bundle.tokenizer).to(bundle.model.device)
    with torch.no_grad():
        for name, tensor in unique_tensors(model).items():
            tensor.copy_(full_tensor(named[name]))
    return replace(bundle, model=model)
