"""Batches on their way to the device: made ready ahead of time, with the place in the corpus that follows them.

On a GPU another process lays sentences into rows while the last update runs, and copies are asynchronous. On a CPU the
cores have better things to do, so each batch is made when it is asked for; so it is where a process cannot be forked.
Which batches there are is `data`'s affair.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch.utils.data import DataLoader, IterableDataset

from regard.batch import Batch, FlatBatch
from regard.data.batching import Batches
from regard.data.rows import RowBatches
from regard.training.cost import Cost
from regard.training.guided import Guide

AHEAD = 4  # batches that wait, ready


@dataclass(frozen=True)
class Ready:
    """A batch, what it holds, and where the corpus goes on after it."""

    batch: Batch
    tokens: int  # of the target
    pairs: int
    flops: float  # of learning from it
    epoch: int
    index: int
    width: int  # of rows that sentences share, or 0

    def to(self, device: torch.device) -> Ready:
        return replace(self, batch=self.batch.to(device))

    def pin_memory(self) -> Ready:
        """Called by the loader: copies from pinned memory do not hold up the host."""
        return replace(self, batch=self.batch.pin_memory())


class Stream(IterableDataset[Ready]):
    def __init__(self, batches: Batches | RowBatches, cost: Cost, guide: Guide | None = None) -> None:
        self.batches, self.cost, self.guide = batches, cost, guide

    def __iter__(self) -> Iterator[Ready]:
        for flat in self.batches:
            yield self._ready(flat)

    def _ready(self, flat: FlatBatch) -> Ready:
        batches = self.batches
        width = batches.width if isinstance(batches, RowBatches) else 0
        batch = flat.pad() if self.guide is None else self.guide.on(flat, flat.pad())
        return Ready(batch, flat.target_tokens, len(flat), self.cost.of(flat), batches.epoch, batches.index, width)


def _deaf(worker: int) -> None:
    """A request to stop may go to all processes of a group, as torchrun sends it; this one is needed until the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def feed(
    batches: Batches | RowBatches, cost: Cost, device: torch.device, guide: Guide | None = None
) -> Iterator[Ready]:
    """Without end. `batches` runs ahead of what is consumed: where to go on is what the last `Ready` says."""
    stream = Stream(batches, cost, guide)
    forks = "fork" in multiprocessing.get_all_start_methods()
    for ready in ahead(stream, pin=True) if device.type == "cuda" and forks else stream:
        yield ready.to(device)


def ahead(stream: Stream, pin: bool) -> DataLoader[Ready]:
    """Another process goes through the stream. It is forked, whatever is usual here, so that it has the corpus as it
    is: a process begun afresh would need a copy, and what makes an epoch's corpus cannot be sent."""
    return DataLoader(
        stream,
        batch_size=None,
        num_workers=1,
        prefetch_factor=AHEAD,
        pin_memory=pin,
        worker_init_fn=_deaf,
        multiprocessing_context="fork",
        generator=torch.Generator(),  # its seed comes from here: a run that goes on keeps its own dice
    )
