"""Guided attention: a head learns to attend where an aligner links words (Chen et al. 2016; Garg et al. 2019).

    ℓ = NLL + λ · Σ_t −Σ_s A_ts log α_ts          A_t the aligner's links of target token t, shared evenly; α the head

The row is the one that *predicts* the token, as a search needs it. A token without a link adds nothing. λ is
`train.guided_weight`, off at 0; the head is the first of layer `train.guided_layer`.

The links are those of our own aligner (`align/hmm.py`, which links each target word to at most one source word, as a
row of attention requires), learnt from the training text itself; a link between words becomes links between all their
subwords. They are found in passes over the encoded corpus and stored in a memory-mapped file of the cache, so that RAM
holds some twenty bytes per pair while they are learnt. The links of a batch are looked up by its ids.

The weights come from a second pass (`Model.attention`), so this works for every architecture with attention, at twice
the cost.

    B sentences   T target tokens   S source tokens   H heads
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from regard.align import hmm
from regard.batch import Batch, FlatBatch
from regard.data.batching import Encoded
from regard.data.encode import EncodedCorpus
from regard.data.order import Mixture
from regard.errors import BundleError, RecipeError
from regard.files import write_atomically
from regard.models.base import Model
from regard.recipe.train import TrainConfig
from regard.search.alignment_heads import cross_layers, default_layer
from regard.text.pieces import piece_spans
from regard.text.tokenizer import Tokenizer
from regard.text.words import subword_shares, word_spans

FORMAT = 2  # version of the file of links, and of the algorithm
FOOTER = 4  # numbers at its end: format, pairs, links, checksum
BLOCK = 1 << 20  # numbers that are read at a time
Link = tuple[int, int]
Ids = tuple[list[int], list[int]]  # source and target ids of a pair
Numbers = NDArray[np.int64]


def guided_nll(weights: Tensor, links: Tensor) -> Tensor:
    """Σ −A log α: weights (B, T, S) whose rows sum to 1, links (B, T, S) True where the aligner links."""
    wanted = links / links.sum(dim=-1, keepdim=True).clamp_min(1)  # (B, T, S)
    return -(wanted * weights.float().clamp_min(1e-9).log()).sum()


def guided_loss(model: Model, batch: Batch, config: TrainConfig) -> Tensor:
    """λ times the loss of the guided head, summed over the batch."""
    assert batch.links is not None
    cross = model.attention(batch).cross  # per layer (B, H, T, S)
    return config.guided_weight * guided_nll(cross[guided_layer(model, len(cross), config)][:, 0], batch.links)


def guided_layer(model: Model, layers: int, config: TrainConfig) -> int:
    return config.guided_layer - 1 if config.guided_layer else default_layer(layers, model.last_layer_aligns)


def check_guided(model: Model, architecture: str, config: TrainConfig) -> None:
    layers = cross_layers(model)
    if layers < max(1, config.guided_layer):
        what = f"has {layers} layers that attend to the source" if layers else "has no attention"
        raise RecipeError(
            f"train.guided_layer is {config.guided_layer}, but {architecture} {what}; "
            + (f"use 1 to {layers}, or 0" if layers else "train one with attention: --architecture rnn-attention")
        )


class AlignmentGuide:
    """The links of every training pair in subwords, found by the pair's ids."""

    def __init__(
        self, corpus: Encoded, tokenizer: Tokenizer, cache: Path, warn: Callable[[str], object] = lambda line: None
    ) -> None:
        """Reads the links from the cache, or learns them. `warn` is called with a line if they cannot be cached."""
        corpora = corpus.corpora if isinstance(corpus, Mixture) else [corpus]
        path = cache / f"{_fingerprint(corpora, tokenizer)}.links"

        def pairs() -> Iterator[Ids]:
            return (one.pair(i) for one in corpora for i in range(len(one)))

        try:
            with path.open("rb") as file:
                self.table = LinkTable(file)
        except (OSError, ValueError):  # not there, or damaged
            self.table = _learn(pairs, tokenizer, path, warn)

    def add_links(self, flat: FlatBatch, batch: Batch) -> Batch:
        """Returns `batch`, which must be `flat` padded, with its links."""
        links = torch.zeros(*batch.tgt_out.shape, batch.src.shape[1], dtype=torch.bool)  # (B, T, S)
        src, tgt = flat.src.numpy(), flat.tgt_out.numpy()
        src_ends, tgt_ends = flat.src_offsets.tolist(), flat.tgt_offsets.tolist()
        for n in range(len(flat)):
            source = src[src_ends[n] : src_ends[n + 1] - 1]  # without EOS
            found = self.table.of(source, tgt[tgt_ends[n] : tgt_ends[n + 1] - 1])
            if found is not None:
                links[n, found[:, 1], found[:, 0]] = True
        return replace(batch, links=links)


def padded(flat: FlatBatch, guide: AlignmentGuide | None) -> Batch:
    """Pads a batch, and adds its word alignments if there is a guide."""
    return flat.pad() if guide is None else guide.add_links(flat, flat.pad())


def _learn(
    pairs: Callable[[], Iterable[Ids]], tokenizer: Tokenizer, path: Path, warn: Callable[[str], object]
) -> LinkTable:
    with tempfile.TemporaryFile() as made:
        write_links(made, pairs(), learn_links(pairs, tokenizer))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, lambda place: _copy(made, place))
        except (OSError, BundleError) as problem:
            warn(f"word links are not kept for the next run: {problem}")
        return LinkTable(made)


def learn_links(pairs: Callable[[], Iterable[Ids]], tokenizer: Tokenizer) -> Iterator[list[Link]]:
    """Trains an aligner on pairs in ids, which are read several times, and yields the links (source subword, target
    subword) of each pair."""

    def texts() -> Iterator[tuple[str, str]]:
        return ((tokenizer.decode_source(source), tokenizer.decode(target)) for source, target in pairs())

    aligned = hmm.train(texts()).align_each(texts())
    for (source, target), (text, translation), links in zip(pairs(), texts(), aligned, strict=True):
        spans = piece_spans([tokenizer.source.bytes[i] for i in source])
        yield in_subwords(links, (text, spans), (translation, tokenizer.target_pieces(target)))


def in_subwords(links: Iterable[Link], source: tuple[str, list[Link]], target: tuple[str, list[Link]]) -> list[Link]:
    """Converts links between words to links between all their subwords; a side is a text and its subwords' spans."""
    parts = [subword_shares(spans, word_spans(text)) > 0 for text, spans in (source, target)]  # (subwords, words)
    return [
        (int(s), int(t))
        for i, j in links
        for s in np.flatnonzero(parts[0][:, i])
        for t in np.flatnonzero(parts[1][:, j])
    ]


# ------------------------------------------------------------------------------------------------ the file of links


class LinkTable:
    """A memory-mapped file of links: all links, the start of each pair's links, and a sorted table of hashes of pairs.

    Raises ValueError if the file is incomplete.
    """

    def __init__(self, file: BinaryIO) -> None:
        size = file.seek(0, os.SEEK_END)
        if size < FOOTER * 8:
            raise ValueError("too short")
        file.seek(size - FOOTER * 8)
        version, pairs, links, checksum = (int(n) for n in np.frombuffer(file.read(), np.int64))
        if version != FORMAT or size != 8 * (links + pairs + 1 + 2 * pairs + FOOTER):
            raise ValueError("of another format, or cut short")
        if _checksum(file, size - FOOTER * 8) != checksum:
            raise ValueError("damaged")
        at = iter(np.cumsum([0, 8 * links, 8 * (pairs + 1), 8 * pairs]).tolist())
        self.links = _mapped(file, np.int32, next(at), (links, 2))  # source subword, target subword
        self.offsets = _mapped(file, np.int64, next(at), (pairs + 1,))
        self._hashes = _mapped(file, np.uint64, next(at), (pairs,))
        self._rows = _mapped(file, np.int64, next(at), (pairs,))  # the pair of each hash

    def of(self, source: Numbers, target: Numbers) -> Numbers | None:
        """Returns the links (links, 2) of a pair; None if the corpus has no such pair."""
        wanted = np.uint64(_hash(source, target))
        place = int(np.searchsorted(self._hashes, wanted))
        if place == len(self._hashes) or self._hashes[place] != wanted:
            return None
        row = self._rows[place]
        return self.links[self.offsets[row] : self.offsets[row + 1]].astype(np.int64)


def write_links(file: BinaryIO, pairs: Iterable[Ids], links: Iterable[list[Link]]) -> None:
    ends, hashes = array("q", [0]), array("Q")
    for (source, target), some in zip(pairs, links, strict=True):
        file.write(np.array(some, dtype=np.int32).tobytes())
        ends.append(ends[-1] + len(some))
        hashes.append(_hash(np.array(source, dtype=np.int64), np.array(target, dtype=np.int64)))
    order = np.argsort(np.asarray(hashes), kind="stable")
    for part in (np.asarray(ends), np.asarray(hashes)[order], order.astype(np.int64)):
        file.write(part.data)
    file.flush()
    footer = (FORMAT, len(hashes), ends[-1], _checksum(file, file.tell()))
    file.write(np.array(footer, dtype=np.int64).tobytes())
    file.flush()


def _copy(file: BinaryIO, place: Path) -> None:
    file.seek(0)
    with place.open("wb") as copy:
        shutil.copyfileobj(file, copy)


def _mapped(file: BinaryIO, dtype: DTypeLike, start: int, shape: tuple[int, ...]) -> NDArray[Any]:
    empty = 0 in shape  # which cannot be mapped
    return np.zeros(shape, dtype) if empty else np.memmap(file, dtype, "r", start, shape)


def _checksum(file: BinaryIO, size: int) -> int:
    file.seek(0)
    total = 0
    while size and (block := file.read(min(size, 1 << 20))):
        total, size = zlib.crc32(block, total), size - len(block)
    return total


def _fingerprint(corpora: Sequence[EncodedCorpus], tokenizer: Tokenizer) -> str:
    made = hashlib.blake2b(f"{FORMAT} {tokenizer.fingerprint}".encode(), digest_size=12)
    for corpus in corpora:
        for ids in (corpus.src, corpus.src_offsets, corpus.tgt, corpus.tgt_offsets):
            for start in range(0, len(ids), BLOCK):
                made.update(ids[start : start + BLOCK].tobytes())
    return made.hexdigest()


def _hash(source: Numbers, target: Numbers) -> int:
    """Returns a hash of a pair that is the same in every process."""
    made = hashlib.blake2b(source.tobytes() + b"|" + target.tobytes(), digest_size=8)
    return int.from_bytes(made.digest(), "little")
