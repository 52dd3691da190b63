"""Training, development and test files, as a recipe names them.

Training may have several corpora, each with a weight (how many times an epoch goes through it) and a tag before its
sources, as for back-translated text (Caswell et al. 2019) or for several languages. With one corpus and no development
files, a development set is held out of it. Files are only named here; `corpus.py` reads them.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from regard.data.config import CorpusConfig, DataConfig
from regard.data.corpus import Pair, PairFiles, read_pairs, source_hash
from regard.errors import InputError

HELD_OUT = 1000  # pairs, unless a twentieth of the corpus is less


@dataclass(frozen=True)
class TrainingCorpus:
    """One of the corpora to learn from."""

    files: PairFiles
    weight: float = 1.0
    tag: str | None = None
    rough: float = 1.0  # times the chances of [data] for changes to text


@dataclass(frozen=True)
class TrainingPairs:
    """All pairs to learn from, each once whatever its corpus weighs: read from the files each time it is iterated."""

    corpora: tuple[TrainingCorpus, ...]

    def __iter__(self) -> Iterator[Pair]:
        return chain.from_iterable(read_pairs(corpus.files) for corpus in self.corpora)


@dataclass(frozen=True)
class Splits:
    """Training corpora, and development and test files, which may be missing."""

    train: tuple[TrainingCorpus, ...]
    dev: PairFiles | None
    test: PairFiles | None

    def training_pairs(self) -> TrainingPairs:
        return TrainingPairs(self.train)

    def fingerprint(self) -> str:
        """Of all training data; that of one plain corpus is the fingerprint of its files."""
        if len(self.train) == 1 and self.train[0] == TrainingCorpus(self.train[0].files):
            return self.train[0].files.fingerprint()
        parts = [(corpus.files.fingerprint(), corpus.weight, corpus.tag) for corpus in self.train]
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def find_splits(config: DataConfig) -> Splits:
    """The files a recipe names, with a part of train held out when no dev files are given."""
    first, dev, test = (_named(config, config, prefix) for prefix in ("", "dev_", "test_"))
    train = [TrainingCorpus(first)] if first else []
    for table in config.corpus:
        files = _named(table, config, "")
        if files is None:
            raise InputError("a [[data.corpus]] names no files; give it src and tgt, or pairs")
        train.append(TrainingCorpus(files, table.weight, table.tag, table.rough))
    if not train:
        raise InputError("no training data: give data.src and data.tgt, or data.pairs (.tsv or .jsonl)")
    if dev is None and config.dev_size != 0:
        if len(train) > 1:
            raise InputError(
                f"there are {len(train)} corpora, so no dev set can be held out; "
                "give data.dev_src and data.dev_tgt, or set data.dev_size to 0"
            )
        held, dev = hold_out(train[0].files, config.dev_size)
        train = [replace(train[0], files=held)]
    return Splits(tuple(train), dev, test)


def _named(config: DataConfig | CorpusConfig, data: DataConfig, prefix: str) -> PairFiles | None:
    src, tgt, pairs = (getattr(config, prefix + name) for name in ("src", "tgt", "pairs"))
    keys = [f"data.{prefix}{name}" for name in ("src", "tgt", "pairs")]
    if pairs and (src or tgt):
        raise InputError(f"{keys[2]} and {keys[0]}/{keys[1]} were both given; give one or the other")
    if pairs:
        return PairFiles((Path(pairs),), data.src_key, data.tgt_key)
    if bool(src) != bool(tgt):
        given, lacking = (keys[0], keys[1]) if src else (keys[1], keys[0])
        raise InputError(
            f"{given} is {src or tgt}, but {lacking} is not given; add it, with the translations line by line"
        )
    return PairFiles((Path(src), Path(tgt))) if src else None


def hold_out(files: PairFiles, size: int | None) -> tuple[PairFiles, PairFiles]:
    """(train, dev): about `size` pairs chosen by the hash of their source, so that equal sources stay together."""
    total, largest = 0, 0

    def hashes() -> Iterator[int]:
        nonlocal total, largest
        for src, _ in read_pairs(files):
            number = source_hash(src)
            total, largest = total + 1, max(largest, number)
            yield number

    least = heapq.nsmallest((HELD_OUT if size is None else size) + 1, hashes())  # only these are kept in memory
    count = max(1, min(HELD_OUT, total // 20)) if size is None else size
    if count >= total:
        raise InputError(f"dev_size is {count:,}, but {files} holds only {total:,} pairs; ask for fewer")
    bound = least[count]
    if bound == least[0]:  # more copies of one source than wanted: all of them
        bound += 1
    if bound > largest:
        raise InputError(
            f"{files} holds {total:,} pairs, too few different ones to hold out a dev set; "
            "give data.dev_src and data.dev_tgt, or set data.dev_size to 0"
        )
    return replace(files, from_=bound), replace(files, below=bound)
