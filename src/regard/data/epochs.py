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

from regard.data.config import DataConfig
from regard.data.encode import EncodedCorpus, encode_corpus
from regard.data.splits import TrainingCorpus
from regard.errors import RegardError
from regard.text.tokenizer import Tokenizer
from regard.workers import Report, WorkerPool

NICENESS = 10  # lower priority than training


def encode_epoch(
    corpora: Sequence[TrainingCorpus],
    tokenizer: Tokenizer,
    data: DataConfig,
    seed: int,
    epoch: int | None,
    progress: Callable[[int], None] | None = None,
) -> list[EncodedCorpus]:
    """Encodes the corpora one after another, each on all cores; epoch None: without changes that vary by epoch."""
    return [
        encode_corpus(
            one.files, tokenizer, data.with_scaled_transforms(one.rough), progress, epoch=epoch, seed=seed, tag=one.tag
        )
        for one in corpora
    ]


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
