"""Encodes all corpora of a run for an epoch, and those of the next epoch in the background.

BPE-dropout and transforms change with the epoch, so every epoch is encoded again. Encoded ahead, it is in the cache
when it is needed, and a GPU does not wait for it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

from regard.data.chunks import ONE_THREAD
from regard.data.config import DataConfig
from regard.data.encode import EncodedCorpus, cache_entry, encode_corpus
from regard.data.splits import TrainingCorpus
from regard.errors import RegardError
from regard.text.tokenizer import Tokenizer
from regard.workers import Report, WorkerPool, usable_cores

NICENESS = 10  # lower priority than training
WORTH_PROCESSES = 4_000_000  # bytes of text from which on starting processes saves time


def encode_epoch(
    corpora: Sequence[TrainingCorpus],
    tokenizer: Tokenizer,
    data: DataConfig,
    seed: int,
    epoch: int | None,
    progress: Callable[[int], None] | None = None,
) -> list[EncodedCorpus]:
    """Encodes the corpora: small ones side by side, each in one process, then the others one after another, each on all
    cores. Epoch None: without changes that vary by epoch."""
    encode, cores = partial(_encode_one, tokenizer, data, seed, epoch), usable_cores()
    small = small_ones(_missing(corpora, tokenizer, data, seed, epoch), cores) if cores > 1 else []
    if sum(map(_bytes_of, small)) > WORTH_PROCESSES:
        work = partial(_make_encoder, partial(encode, processes=1))
        with WorkerPool(work, min(cores, len(small)), ONE_THREAD) as pool:
            for total in accumulate(count for _, count in pool.results(small)):
                if progress:
                    progress(total)
    return [encode(one, progress=progress) for one in corpora]


def _encode_one(
    tokenizer: Tokenizer,
    data: DataConfig,
    seed: int,
    epoch: int | None,
    one: TrainingCorpus,
    progress: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> EncodedCorpus:
    changes = data.with_scaled_transforms(one.rough)
    return encode_corpus(
        one.files, tokenizer, changes, progress, epoch=epoch, seed=seed, tag=one.tag, processes=processes
    )


def _missing(
    corpora: Sequence[TrainingCorpus], tokenizer: Tokenizer, data: DataConfig, seed: int, epoch: int | None
) -> list[TrainingCorpus]:
    """Returns the corpora that are not in the cache."""
    entries = {
        cache_entry(one.files, tokenizer, data.with_scaled_transforms(one.rough), epoch, seed, one.tag): one
        for one in corpora
    }
    return [one for entry, one in entries.items() if not entry.exists()]


def small_ones(corpora: Sequence[TrainingCorpus], cores: int) -> list[TrainingCorpus]:
    """Returns the corpora to encode side by side, the largest first: those that are at most half of what a core has to
    encode of all, so that no core works long when the others have finished."""
    most = max(WORTH_PROCESSES, sum(map(_bytes_of, corpora)) / cores / 2)
    small = sorted((one for one in corpora if _bytes_of(one) <= most), key=_bytes_of, reverse=True)
    return small if len(small) > 1 else []


def _bytes_of(one: TrainingCorpus) -> int:
    return sum(path.stat().st_size for shard in one.files.shards() for path in shard if path.is_file())


def _make_encoder(
    encode: Callable[[TrainingCorpus], EncodedCorpus], number: int, report: Report
) -> Callable[[TrainingCorpus], int]:
    return lambda one: len(encode(one))  # the ids are in the cache and are not returned


class BackgroundEncoder:
    """Encodes one epoch at a time in the background. A failure is ignored; the epoch is then encoded when needed."""

    def __init__(self, corpora: Sequence[TrainingCorpus], tokenizer: Tokenizer, data: DataConfig, seed: int) -> None:
        self._make_work = partial(_make_work, partial(encode_epoch, tuple(corpora), tokenizer, data, seed))
        self._thread: threading.Thread | None = None

    def begin(self, epoch: int) -> None:
        self.wait()
        self._thread = threading.Thread(target=self._encode, args=(epoch,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Waits until nothing is being encoded in the background."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _encode(self, epoch: int) -> None:
        with contextlib.suppress(RegardError, OSError), WorkerPool(self._make_work, 1, {}) as pool:
            for _ in pool.results([epoch]):
                pass


def _make_work(encode: Callable[[int], list[EncodedCorpus]], number: int, report: Report) -> Callable[[int], None]:
    os.nice(NICENESS)

    def work(epoch: int) -> None:
        encode(epoch)  # the corpora are in the cache and are not returned

    return work
