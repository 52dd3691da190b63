"""Batches for the device: prepared ahead, each with the position in the corpus after it.

For a GPU a worker process prepares batches while the last update runs, and copies are asynchronous; where epochs
differ, it has the next one encoded while this one is used. On a CPU, whose cores are busy, and where a process cannot
be forked, each batch is prepared when it is needed. `data` decides which batches there are.
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
from regard.training.cost import FlopCounter
from regard.training.guided import AlignmentGuide, padded

PREFETCHED = 4  # batches that are prepared ahead


@dataclass(frozen=True)
class PreparedBatch:
    """A batch, its size, and the position in the corpus after it."""

    batch: Batch
    tokens: int  # of the target
    flops: float  # of learning from it
    epoch: int
    index: int
    width: int  # of rows that sentences share, or 0

    def to(self, device: torch.device) -> PreparedBatch:
        return replace(self, batch=self.batch.to(device))

    def pin_memory(self) -> PreparedBatch:
        """Called by the loader: copies from pinned memory are asynchronous."""
        return replace(self, batch=self.batch.pin_memory())


class BatchStream(IterableDataset[PreparedBatch]):
    """With `encodes_ahead`, the encoding of the next epoch begins when half of one is used."""

    def __init__(
        self,
        batches: Batches | RowBatches,
        cost: FlopCounter,
        guide: AlignmentGuide | None = None,
        encodes_ahead: bool = False,
    ) -> None:
        self.batches, self.cost, self.guide = batches, cost, guide
        self.begin_epoch = batches.begin_epoch if encodes_ahead else None

    def __iter__(self) -> Iterator[PreparedBatch]:
        epoch, made = self.batches.epoch, 0
        for flat in self.batches:
            made = made + 1 if self.batches.epoch == epoch else 1
            epoch = self.batches.epoch
            if self.begin_epoch is not None and made == -(-self.batches.per_epoch // 2):
                self.begin_epoch(epoch + 1)
            yield self._prepare(flat)

    def _prepare(self, flat: FlatBatch) -> PreparedBatch:
        batches = self.batches
        batch, flops = padded(flat, self.guide), self.cost.of_batch(flat)
        return PreparedBatch(batch, flat.target_tokens, flops, batches.epoch, batches.index, batches.width)


def feed(
    batches: Batches | RowBatches, cost: FlopCounter, device: torch.device, guide: AlignmentGuide | None = None
) -> Generator[PreparedBatch, None, None]:
    """Endless. `batches` runs ahead of what is consumed; the position to resume from is that of the last batch that was
    consumed.

    It has to be closed: the worker process, which ignores requests to stop, ends with it, and this process waits for
    the worker when it ends itself."""
    worker = uses_worker(device)
    stream = BatchStream(batches, cost, guide, encodes_ahead=worker)
    for prepared in prefetch(stream, pin=device.type == "cuda") if worker else stream:
        yield prepared.to(device)


def uses_worker(device: torch.device) -> bool:
    """Whether batches are prepared in another process: for a GPU, where processes can be forked."""
    return device.type == "cuda" and "fork" in multiprocessing.get_all_start_methods()


def prefetch(stream: BatchStream, pin: bool) -> DataLoader[PreparedBatch]:
    """Iterate over the stream in another process. It is forked, whatever the default here, because the function that
    makes the corpus of an epoch cannot be sent to a new process."""
    return DataLoader(
        stream,
        batch_size=None,
        num_workers=1,
        prefetch_factor=PREFETCHED,
        pin_memory=pin,
        worker_init_fn=_ignore_signals,
        multiprocessing_context="fork",
        generator=torch.Generator(),  # of its own, for the worker's seed: the run's random state stays as it is
    )


def _ignore_signals(worker: int) -> None:
    """A request to stop may be sent to all processes of a group, as by torchrun; this one is needed until the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
