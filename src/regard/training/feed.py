"""Batches for the device: prepared ahead, each with the position in the corpus after it.

For a GPU a worker process prepares batches while the last update runs, and copies are asynchronous; where epochs
differ, it encodes the next one while this one is used. On a CPU, whose cores are busy, and where a process cannot be
forked, each batch is prepared when it is needed. The batches themselves are defined in `data`.
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
    tokens: int  # target tokens
    flops: float  # operations of learning from it
    epoch: int
    index: int
    width: int  # width of rows that sentences share, or 0

    def to(self, device: torch.device) -> PreparedBatch:
        return replace(self, batch=self.batch.to(device))

    def pin_memory(self) -> PreparedBatch:
        """Called by the loader: copies from pinned memory are asynchronous."""
        return replace(self, batch=self.batch.pin_memory())


class BatchStream(IterableDataset[PreparedBatch]):
    """A stream of prepared batches. With `encodes_ahead`, the next epoch is encoded once half of one is used."""

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
    """Yields batches endlessly. `batches` runs ahead of the consumer; the position to resume from is that of the last
    batch that was consumed.

    The generator must be closed: this ends the worker process, which ignores requests to stop, and this process waits
    for the worker when it exits."""
    worker = uses_worker(device)
    stream = BatchStream(batches, cost, guide, encodes_ahead=worker)
    for prepared in prefetch(stream, pin=device.type == "cuda") if worker else stream:
        yield prepared.to(device)


def uses_worker(device: torch.device) -> bool:
    """Whether batches are prepared in another process: for a GPU, where processes can be forked."""
    return device.type == "cuda" and "fork" in multiprocessing.get_all_start_methods()


def prefetch(stream: BatchStream, pin: bool) -> DataLoader[PreparedBatch]:
    """Iterates over the stream in another process. It is forked, whatever the platform's default, because the function
    that makes the corpus of an epoch cannot be pickled."""
    return DataLoader(
        stream,
        batch_size=None,
        num_workers=1,
        prefetch_factor=PREFETCHED,
        pin_memory=pin,
        worker_init_fn=_ignore_signals,
        multiprocessing_context="fork",
        generator=torch.Generator(),  # for the worker's seed, so that the run's random state does not change
    )


def _ignore_signals(worker: int) -> None:
    """Ignores requests to stop, which may go to a whole process group (torchrun): the worker is needed to the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
