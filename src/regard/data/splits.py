"""Splits: training, development and test files as a recipe names them, and a split of pairs that does not leak.

Training may have several corpora, each with a weight (how many times an epoch goes through it) and a tag before its
sources, as for back-translated text (Caswell et al. 2019) or for several languages. With one corpus and no development
files, a development set is held out of it. Files are only named here; `corpus.py` reads them.

Collections such as Tatoeba translate one sentence several times. Split line by line, most test sentences have been seen
in training with another translation, and scores mean little. In `split_connected` two pairs are connected if their
sources or their targets are equal except for case, punctuation and white space; whole components go to one part.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from regard.data.config import CorpusConfig, DataConfig
from regard.data.corpus import Pair, PairFiles, read_pairs, source_hash
from regard.data.overlap import key_words
from regard.errors import InputError

HELD_OUT = 1000  # pairs, unless a twentieth of the corpus is less


@dataclass(frozen=True)
class TrainingCorpus:
    """One of the corpora to learn from."""

    files: PairFiles
    weight: float = 1.0
    tag: str | None = None
    rough: float = 1.0  # factor of the probabilities of changes to text in [data]


@dataclass(frozen=True)
class TrainingPairs:
    """All pairs to learn from, each once, whatever the weight of its corpus; every iteration reads the files."""

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
        """Returns the fingerprint of all training data; for a single plain corpus, the fingerprint of its files."""
        if len(self.train) == 1 and self.train[0] == TrainingCorpus(self.train[0].files):
            return self.train[0].files.fingerprint()
        parts = [(corpus.files.fingerprint(), corpus.weight, corpus.tag) for corpus in self.train]
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def find_splits(config: DataConfig) -> Splits:
    """Returns the files that a recipe names, with a part of train held out if no dev files are given."""
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
    """Returns (train, dev), dev with about `size` pairs chosen by source hash, so that equal sources stay together."""
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


def sentence_key(text: str) -> str:
    """Returns the words of a sentence as a key, equal for spellings that differ in case, punctuation and spaces.

    >>> sentence_key("It's  late!") == sentence_key("it’s late.")
    True
    >>> sentence_key("It's late.") == sentence_key("It is late.")
    False
    """
    return " ".join(key_words(text))


def components(pairs: Sequence[Pair]) -> list[int]:
    """Returns the component of each pair, as the index of its first pair.

    >>> components([("Hi.", "Salut !"), ("Go.", "Va !"), ("Hello.", "Salut."), ("Hi!", "Bonjour.")])
    [0, 1, 0, 0]
    """
    parent = list(range(len(pairs)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]  # path halving
            i = parent[i]
        return i

    first: dict[tuple[int, str], int] = {}
    for i, pair in enumerate(pairs):
        for side, text in enumerate(pair):
            known = root(first.setdefault((side, sentence_key(text)), i))
            here = root(i)
            parent[max(known, here)] = min(known, here)
    return [root(i) for i in range(len(pairs))]


def split_connected(pairs: Sequence[Pair], dev: int, test: int, seed: int = 1, most: int = 10) -> dict[str, list[Pair]]:
    """Returns the pairs of "train", "dev" and "test". Whole components in the order of a seeded hash fill test, then
    dev, until they have that many sources, one reference each (the first pair of each source); the others are for
    training, and so are components of more than `most` pairs: short common phrases with many translations would make an
    easy test. No pair occurs twice.
    """
    members: dict[int, list[int]] = {}
    for i, component in enumerate(components(pairs)):
        members.setdefault(component, []).append(i)
    order = sorted((c for c in members if len(members[c]) <= most), key=lambda c: _order_key(seed, pairs[c]))
    held: dict[str, list[Pair]] = {"test": [], "dev": []}
    for name, wanted in (("test", test), ("dev", dev)):
        while len(held[name]) < wanted and order:
            component = order.pop(0)
            references: dict[str, Pair] = {}
            for i in members.pop(component):
                references.setdefault(sentence_key(pairs[i][0]), pairs[i])
            held[name] += list(references.values())[: wanted - len(held[name])]
    train = dict.fromkeys(pairs[i] for component in sorted(members) for i in members[component])
    return {"train": list(train), "dev": held["dev"], "test": held["test"]}


def _order_key(seed: int, pair: Pair) -> bytes:
    """Hashes a component's first pair, the same on every machine; it depends on the order of the file."""
    return hashlib.blake2b(f"{seed}\t{sentence_key(pair[0])}\t{sentence_key(pair[1])}".encode(), digest_size=8).digest()
