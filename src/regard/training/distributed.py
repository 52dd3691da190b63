"""One run on many devices, started by torchrun: one process per device, each with its share of every batch.

    torchrun --nproc-per-node 2 -m regard train recipe.toml --out RUN

    ddp    every process holds the whole model; gradients are averaged (torch's DistributedDataParallel)
    fsdp   weights, gradients, moments and means are spread over the processes (torch's fully_shard); the whole weights
           come together for each pass

    W processes   gradient = 1/W Σ over processes of ∇ (W · summed loss ÷ target tokens of all processes)

Tensors go over the main group (nccl on GPUs, gloo elsewhere), what the hosts tell each other over a gloo group of its
own, where waiting for the first process to evaluate may take long. The first process alone logs, evaluates and writes.
What a batch holds is `data`'s affair, and checkpoints are `checkpoint.py`'s. Layers are not sharded one by one, and no
layer is split over devices: a model must fit on each of them, its training need not.
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

PATIENCE = timedelta(hours=6)  # of hosts that wait for the first one's evaluation; a dead one is noticed at once
LOST = ("gloo", "nccl", "connection", "socket", "timed out", "broken pipe")  # how torch says that a process is gone

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """The processes of a run, seen from one of them."""

    rank: int = 0
    size: int = 1
    hosts: Any = None  # the group in which they tell each other what is not on a device

    @property
    def first(self) -> bool:
        return self.rank == 0

    def console(self) -> Console:
        return Console(stderr=True, quiet=not self.first)

    def told(self, work: Callable[[], T]) -> T:
        """What `work` gives in the first process, in all of them. If it fails there, all leave; the first says why."""
        if self.size == 1:
            return work()
        said: list[Any] = [None, None]
        if self.first:
            try:
                said = [work(), None]
            except Exception as problem:
                dist.broadcast_object_list([None, f"{problem}"], src=0, group=self.hosts)
                raise
        dist.broadcast_object_list(said, src=0, group=self.hosts)
        if said[1] is not None:
            raise SystemExit(2)
        found: T = said[0]
        return found

    def summed(self, numbers: Sequence[float]) -> list[float]:
        """Each number's sum over all processes. Waits for them all."""
        if self.size == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total, group=self.hosts)
        return total.tolist()

    def gathered(self, tensor: Tensor) -> list[Tensor]:
        """A small tensor of every process, by rank."""
        if self.size == 1:
            return [tensor]
        all_of_them = [torch.empty_like(tensor) for _ in range(self.size)]
        dist.all_gather(all_of_them, tensor, group=self.hosts)
        return all_of_them

    def scale(self, tokens: int, device: torch.device) -> float | Tensor:
        """What a summed loss is multiplied by: W ÷ target tokens of all processes, since gradients are averaged over
        W. With several processes it is a tensor on the device: no host waits for it."""
        if self.size == 1:
            return 1 / tokens
        total = torch.full((), float(tokens), device=device)
        dist.all_reduce(total)
        return self.size / total


ALONE = World()


# ── joining ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def joined(config: TrainConfig) -> Iterator[World]:
    """All processes that torchrun started, or this one alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield ALONE
        return
    missing = [name for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise RunError(
            f"WORLD_SIZE is {size}, but {missing[0]} is not set; start it with torchrun: "
            "torchrun --nproc-per-node 2 -m regard train …"
        )
    backend = "nccl" if my_device(config).type == "cuda" else "gloo"
    try:
        store, rank, _ = next(iter(rendezvous("env://")))
        dist.init_process_group(backend, store=_of_this_attempt(store), rank=rank, world_size=size)
        yield World(rank, size, dist.new_group(backend="gloo", timeout=PATIENCE))
    except RegardError:
        raise
    except (RuntimeError, OSError) as problem:
        said = " ".join(str(problem).split())
        if not any(word in said.lower() for word in LOST):
            raise
        raise RunError(
            f"lost contact with another process of this run, which ended or was stopped ({said[:150]})"
        ) from None
    dist.destroy_process_group()  # after a failure others may be gone, and taking leave of them would wait for ever


def _of_this_attempt(store: Any) -> Any:
    """On one machine torchrun keeps its store when it starts processes again, with the addresses of the dead in it. On
    several, machines count attempts differently; torchrun makes new stores if TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1."""
    if os.environ.get("GROUP_WORLD_SIZE", "1") != "1":
        return store
    return PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def my_device(config: TrainConfig) -> torch.device:
    """The device of this process: with several of them, the GPU of its number on this machine."""
    device = pick_device(config.device)
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or device.type == "cpu":
        return device
    if device.type == "mps":
        raise InputError("device mps takes one process, but there are several; add --device cpu, or leave torchrun out")
    number, count = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if number >= count:
        raise InputError(f"{number + 1} or more processes on this machine, but {count} GPUs; --nproc-per-node {count}")
    torch.cuda.set_device(number)
    return torch.device("cuda", number)


def is_first() -> bool:
    """Whether this process is the one that speaks, also before it has joined the others."""
    return os.environ.get("RANK", "0") == "0" or int(os.environ.get("WORLD_SIZE", "1")) == 1


def was_restarted(world: World) -> bool:
    """Whether torchrun has started the processes anew after one of them died, here or on another machine."""
    here = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) if world.size > 1 else 0
    return world.summed([here])[0] > 0


def seed_apart(seed: int, world: World, step: int = 0) -> None:
    """Weights were drawn alike everywhere; dropout and samples must not be. The first goes on as it would alone."""
    if world.rank:
        torch.manual_seed((seed * 1_000_003 + step) * 65_537 + world.rank)


# ── learning together ───────────────────────────────────────────────────────────────────────────────────────────────


class Objective(nn.Module):
    """The model with a loss as its forward pass, whichever of the model's methods the loss calls: what is wrapped
    around it sees one forward and one backward."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, loss: Callable[..., Tensor], *given: Any) -> Tensor:
        return loss(*given)


def objective(model: Model, config: TrainConfig, world: World) -> nn.Module:
    """The objective for this world. To be made before optimizer and means: with fsdp the parameters become others."""
    plain = Objective(model)
    if world.size == 1:
        return plain
    if config.parallel == "fsdp":
        if config.optimizer != "adamw":
            raise RecipeError(
                f"train.parallel is fsdp, which cuts matrices apart, but {config.optimizer} needs them whole; "
                "add --optimizer adamw, or --parallel ddp"
            )
        from torch.distributed.fsdp import fully_shard

        fully_shard(plain)
        return plain
    if model.device.type == "cuda":
        torch._dynamo.config.optimize_ddp = False  # layers are compiled one by one: gradients overlap as it is
    return DistributedDataParallel(plain, gradient_as_bucket_view=True)


def learn_together(learn: Callable[[Batch], Tensor], batches: Sequence[Batch], objective: nn.Module) -> Tensor:
    """The sum of `learn`, which adds to gradients, over all batches; the last one's pass exchanges them. A batch that
    memory has no room for is an error here: a process that tried again would leave the others waiting."""
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


# ── weights that are spread ─────────────────────────────────────────────────────────────────────────────────────────


def is_spread(tensor: Tensor) -> bool:
    if not dist.is_available() or not dist.is_initialized():
        return False
    from torch.distributed.tensor import DTensor

    return isinstance(tensor, DTensor)


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor, in every process; where it is spread, all must ask together."""
    if not is_spread(tensor):
        return tensor
    spread: DTensor = tensor  # type: ignore[assignment]
    return spread.full_tensor()


def spread_like(tensor: Tensor, model: Tensor) -> Tensor:
    """A whole tensor, the same in all processes, laid out as `model` is: each keeps its part."""
    if not is_spread(model) or is_spread(tensor) or tensor.shape != model.shape:
        return tensor
    from torch.distributed.tensor import distribute_tensor

    pattern: DTensor = model  # type: ignore[assignment]
    return distribute_tensor(tensor.to(pattern.device), pattern.device_mesh, pattern.placements, src_data_rank=None)


def whole_bundle(bundle: Bundle) -> Bundle:
    """The bundle with whole weights, to evaluate and to save: itself, unless its weights are spread. Then all processes
    must ask together."""
    named = unique_tensors(bundle.model)
    if not any(is_spread(tensor) for tensor in named.values()):
        return bundle
    with torch.random.fork_rng():  # what the constructor draws must not be missed by the training
        model = make_model(bundle.architecture, bundle.config, bundle.tokenizer).to(bundle.model.device)
    with torch.no_grad():
        for name, mine in unique_tensors(model).items():
            mine.copy_(whole(named[name]))
    return replace(bundle, model=model)
