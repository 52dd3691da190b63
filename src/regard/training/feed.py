"""Batches on their way to the device: prepared ahead, each with the position in the corpus after it.

For a GPU another process prepares batches while the last update runs, and copies are asynchronous; where epochs differ,
it has the next one encoded while this one is used. On a CPU, whose cores are busy, and where a process cannot be
forked, each batch is prepared when it is needed. `data` decides which batches there are.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import torch
from torch.utils.data import DataLoader, IterableDataset

from regard.batch import Batch, FlatBatch
from regard.data.batching import Batches
from regard.data.rows import RowBatches
from regard.training.cost import Cost
from regard.training.guided import Guide

AHEAD = 4  # batches that are prepared ahead


@dataclass(frozen=True)
class Ready:
    """A batch, its size, and the position in the corpus after it."""

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
        """Called by the loader: copies from pinned memory are asynchronous."""
        return replace(self, batch=self.batch.pin_memory())


class Stream(IterableDataset[Ready]):
    """With `encodes_ahead`, the next epoch is begun when half of one is done."""

    def __init__(
        self, batches: Batches | RowBatches, cost: Cost, guide: Guide | None = None, encodes_ahead: bool = False
    ) -> None:
        self.batches, self.cost, self.guide = batches, cost, guide
        self.begin_epoch = batches.begin_epoch if encodes_ahead else None

    def __iter__(self) -> Iterator[Ready]:
        epoch, made = self.batches.epoch, 0
        for flat in self.batches:
            made = made + 1 if self.batches.epoch == epoch else 1
            epoch = self.batches.epoch
            if self.begin_epoch is not None and made == -(-self.batches.per_epoch // 2):
                self.begin_epoch(epoch + 1)
            yield self._ready(flat)

    def _ready(self, flat: FlatBatch) -> Ready:
        batches = self.batches
        width = batches.width if isinstance(batches, RowBatches) else 0
        batch = flat.pad() if self.guide is None else self.guide.on(flat, flat.pad())
        return Ready(batch, flat.target_tokens, len(flat), self.cost.of(flat), batches.epoch, batches.index, width)


def _ignore_signals(worker: int) -> None:
    """A request to stop may be sent to all processes of a group, as by torchrun; this one is needed until the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def feed(
    batches: Batches | RowBatches, cost: Cost, device: torch.device, guide: Guide | None = None
) -> Generator[Ready, None, None]:
    """Endless. `batches` runs ahead of what is consumed; the position to resume from is that of the last `Ready`.

    It has to be closed: the other process, which hears no request to stop, ends with it, and this one waits for that
    one when it ends itself."""
    prepares = prepares_ahead(device)
    stream = Stream(batches, cost, guide, encodes_ahead=prepares)
    for ready in ahead(stream, pin=device.type == "cuda") if prepares else stream:
        yield ready.to(device)


def prepares_ahead(device: torch.device) -> bool:
    """Whether batches are made ready in another process: for a GPU, where processes can be forked."""
    return device.type == "cuda" and "fork" in multiprocessing.get_all_start_methods()


def ahead(stream: Stream, pin: bool) -> DataLoader[Ready]:
    """Iterate over the stream in another process. It is forked, whatever the default here, because the function that
    makes the corpus of an epoch cannot be sent to a new process."""
    return DataLoader(
        stream,
        batch_size=None,
        num_workers=1,
        prefetch_factor=AHEAD,
        pin_memory=pin,
        worker_init_fn=_ignore_signals,
        multiprocessing_context="fork",
        generator=torch.Generator(),  # of its own, for the worker's seed: the run's random state stays as it is
    )
