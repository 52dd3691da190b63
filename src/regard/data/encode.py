"""A corpus as ids on disk: filtered, encoded once, cached by fingerprint, and memory-mapped.

Memory does not grow with the corpus, except for eight bytes per pair to find duplicates. An entry of the cache is
written under a temporary name and renamed when it is complete, so that two processes may build it at once; a damaged
entry is built again. `corpus.py` reads the files, `chunks.py` makes ids on all cores, `batching.py` makes batches.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.cache import cache_folder
from regard.data.chunks import ChunkEncoder, ChunkRandom, TextChunk, encoded_chunks, in_chunks
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.filters import FilterReport, Filters
from regard.errors import InputError
from regard.files import checksum
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from regard.batch import FlatBatch

FORMAT = 2
CHUNK, CHUNK_CHARACTERS = 10_000, 8_000_000  # pairs and characters in memory at a time, for each process
SCANNED = 1 << 22  # ids read at a time
FILES = ("src", "tgt", "src_offsets", "tgt_offsets", "kept")
Ints = NDArray[np.int64]


class EncodedCorpus:
    """Sentence pairs as memory-mapped ids. Pair i was pair `kept[i]` of the input."""

    def __init__(self, folder: Path) -> None:
        """Opens an entry; raises ValueError or OSError if it is incomplete or damaged."""
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if meta["format"] != FORMAT or set(meta["sizes"]) != set(FILES):
            raise ValueError(f"{folder} is of another format")
        for name in FILES:
            if (folder / name).stat().st_size != meta["sizes"][name] or checksum(folder / name) != meta["sums"][name]:
                raise ValueError(f"{folder / name} is damaged")
        self.report = FilterReport(**meta["report"])
        self.longest: int = meta["longest"]  # maximum tokens of a side, with EOS
        kinds = {"src": meta["dtype"], "tgt": meta["dtype"]}
        arrays = {n: np.memmap(folder / n, dtype=kinds.get(n, "int64"), mode="r") for n in FILES}
        self.src, self.tgt = arrays["src"], arrays["tgt"]
        self.src_offsets: Ints = arrays["src_offsets"]
        self.tgt_offsets: Ints = arrays["tgt_offsets"]
        self.kept: Ints = arrays["kept"]

    def __len__(self) -> int:
        return len(self.kept)

    def lengths_of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns the lengths of the sources and targets of some pairs, with EOS; other pairs are not read."""
        src, tgt = ((o[rows + 1] - o[rows] + 1) for o in (self.src_offsets, self.tgt_offsets))
        return src, tgt

    @property
    def tokens(self) -> int:
        """The total tokens of the longer side, each sentence with its EOS."""
        return max(len(self.src), len(self.tgt)) + len(self)

    def has_target_ids(self, wanted: Collection[int]) -> bool:
        """Whether any target holds one of these ids."""
        some = (self.tgt[start : start + SCANNED] for start in range(0, len(self.tgt), SCANNED))
        return bool(wanted) and any(np.isin(ids, list(wanted)).any() for ids in some)

    def target_counts(self, size: int) -> Ints:
        """Returns the number of occurrences of each id in the targets, (size,)."""
        counts = np.zeros(size, np.int64)
        for start in range(0, len(self.tgt), SCANNED):
            counts += np.bincount(self.tgt[start : start + SCANNED], minlength=size)
        return counts

    def pair(self, i: int) -> tuple[list[int], list[int]]:
        """Returns the ids of one pair, without BOS or EOS."""
        i = range(len(self))[i]
        src = self.src[self.src_offsets[i] : self.src_offsets[i + 1]]
        return src.tolist(), self.tgt[self.tgt_offsets[i] : self.tgt_offsets[i + 1]].tolist()

    def gather(self, indices: NDArray[np.integer[Any]] | Sequence[int]) -> FlatBatch:
        """Returns the pairs at `indices`, in that order, as one batch."""
        rows = np.asarray(indices, dtype=np.int64)
        return gather_pairs(self.src, self.src_offsets, self.tgt, self.tgt_offsets, rows)


def gather_pairs(src: NDArray[Any], src_offsets: Ints, tgt: NDArray[Any], tgt_offsets: Ints, rows: Ints) -> FlatBatch:
    """Returns some rows of ids as a batch, with BOS and EOS."""
    import torch

    from regard.batch import BOS, EOS, FlatBatch

    sources, src_starts = gather_ids(src, src_offsets, rows, EOS)
    tgt_out, tgt_starts = gather_ids(tgt, tgt_offsets, rows, EOS)
    tgt_in = np.empty_like(tgt_out)
    tgt_in[1:] = tgt_out[:-1]  # y1 … yn EOS shifted by one is BOS y1 … yn, once each start is set
    tgt_in[tgt_starts[:-1]] = BOS
    flat = [torch.from_numpy(array) for array in (sources, src_starts, tgt_in, tgt_out, tgt_starts)]
    return FlatBatch(flat[0], flat[1], flat[2], flat[3], flat[4])


def gather_ids(ids: NDArray[Any], offsets: Ints, rows: Ints, last: int | None = None) -> tuple[Ints, Ints]:
    """Returns flat ids, with `last` after each row if it is given, and offsets, without a Python loop."""
    starts, lengths = offsets[rows], offsets[rows + 1] - offsets[rows] + (last is not None)
    out = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    from_ = np.arange(out[-1]) + np.repeat(starts - out[:-1], lengths)
    ends = out[1:] - 1
    if last is None:
        return ids[from_].astype(np.int64), out
    from_[ends] = 0  # any valid index
    flat = ids[from_].astype(np.int64)
    flat[ends] = last
    return flat, out


def cache_entry(
    files: PairFiles, tokenizer: Tokenizer, config: DataConfig, epoch: int | None, seed: int, tag: str | None
) -> Path:
    """Returns the folder that `encode_corpus` keeps the ids in. Its name tells the epoch if ids depend on it."""
    chance = _chance(tokenizer, config, epoch)
    settings = (
        FORMAT,
        files.fingerprint(),
        tokenizer.fingerprint,
        config.max_length,
        config.max_ratio,
        config.dedupe,
        tokenizer.tag_ids(tag),
        (chance, seed) if any(chance) else None,
        *([("slots for placeholders", config.slots, seed)] if config.slots else []),
    )
    name = hashlib.blake2b(repr(settings).encode(), digest_size=12).hexdigest()
    return cache_folder(config) / (f"{name}-{epoch}" if any(chance) else name)


def _chance(tokenizer: Tokenizer, config: DataConfig, epoch: int | None) -> tuple[float, ...]:
    """Returns the probabilities of the changes that an epoch makes."""
    return (tokenizer.config.bpe_dropout, *config.transforms) if epoch is not None else ()


def encode_corpus(
    files: PairFiles,
    tokenizer: Tokenizer,
    config: DataConfig,
    progress: Callable[[int], None] | None = None,
    *,
    epoch: int | None = None,
    seed: int = 0,
    tag: str | None = None,
    processes: int | None = None,
) -> EncodedCorpus:
    """Returns the corpus as ids, cached or newly encoded; `progress` is called with the number of pairs encoded so far.
    A tag is put before every source.

    With `epoch`, BPE-dropout and transforms are applied, differently for each (seed, epoch); the cache keeps the last
    two epochs. Slots are drawn from the seed alone. A large corpus is encoded by `processes`, by default as many as
    this one may use cores; the files are the same for any number.
    """
    entry = cache_entry(files, tokenizer, config, epoch, seed, tag)
    try:
        return EncodedCorpus(entry)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # missing or damaged: build it
    changes, root = any(_chance(tokenizer, config, epoch)), entry.parent
    encoder = ChunkEncoder(tokenizer, config, ChunkRandom(seed, epoch if changes else None), tokenizer.tag_ids(tag))
    try:
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        work = _aside(entry)
        work.mkdir()
        try:
            _write(work, files, encoder, progress, processes)
            corpus = _publish(work, entry)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        what = "no space left" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or error
        raise InputError(
            f"cannot write encoded data to {root} ({what}); "
            "make room there, or choose another folder: data.cache, or the environment variable REGARD_CACHE"
        ) from None
    if changes and epoch is not None:
        shutil.rmtree(root / f"{entry.name.removesuffix(str(epoch))}{epoch - 2}", ignore_errors=True)
    return corpus


def _publish(work: Path, entry: Path) -> EncodedCorpus:
    """Renames a finished folder to its entry. If another process was first, its entry is used."""
    try:
        work.rename(entry)
    except OSError:
        try:
            return EncodedCorpus(entry)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # a damaged entry is there: move it away
            damaged = _aside(entry)
            entry.rename(damaged)
            shutil.rmtree(damaged, ignore_errors=True)
            work.rename(entry)
    return EncodedCorpus(entry)


def _aside(entry: Path) -> Path:
    """Returns a unique temporary name beside an entry."""
    return entry.with_name(f".{entry.name}-{uuid.uuid4().hex}.tmp")


def _sweep(root: Path) -> None:
    """Removes the temporary files of killed processes that are a day old or more."""
    for left in root.glob(".*.tmp"):
        with suppress(FileNotFoundError):  # another process has just published it
            if time.time() - left.stat().st_mtime > 86_400:
                shutil.rmtree(left, ignore_errors=True)


def _write(
    folder: Path,
    files: PairFiles,
    encoder: ChunkEncoder,
    progress: Callable[[int], None] | None,
    processes: int | None,
) -> None:
    """Streams the pairs through the filters into the five files and meta.json."""
    filters, longest = Filters(encoder.config, encoder.tokenizer.longest_piece), 0
    report = filters.report

    def chunks() -> Iterator[TextChunk]:
        for pairs in in_chunks(read_pairs(files), CHUNK, CHUNK_CHARACTERS):
            first = report.read
            yield TextChunk(first, first + len(pairs), filters.texts(first, pairs))

    with ExitStack() as stack:
        out = {name: stack.enter_context((folder / name).open("wb")) for name in FILES}
        totals = dict.fromkeys(("src", "tgt"), 0)
        for name in totals:
            out[f"{name}_offsets"].write(np.zeros(1, np.int64).tobytes())
        for chunk, encoded in stack.enter_context(closing(encoded_chunks(encoder, chunks(), processes))):
            out["kept"].write(encoded.kept.tobytes())
            for name, side in (("src", encoded.src), ("tgt", encoded.tgt)):
                longest = max(longest, int(side.lengths.max(initial=0)))
                out[name].write(side.ids.tobytes())
                out[f"{name}_offsets"].write((totals[name] + np.cumsum(side.lengths)).tobytes())
                totals[name] += len(side.ids)
            report.too_long += encoded.too_long
            report.ratio += encoded.ratio
            report.kept += encoded.passed
            if progress:
                progress(chunk.end)
    if not report.kept:
        raise InputError(f"nothing is left of {files}: {report.summary()}; check its text, or raise data.max_length")
    meta = {
        "format": FORMAT,
        "dtype": encoder.dtype,
        "sizes": {name: (folder / name).stat().st_size for name in FILES},
        "sums": {name: checksum(folder / name) for name in FILES},
        "longest": longest + 1,
        "report": asdict(report),
    }
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
