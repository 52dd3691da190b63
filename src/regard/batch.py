"""Several sentence pairs as tensors: flat (ids with offsets) or in rows (rectangles with masks).

    B rows   S source positions   T target positions

A row usually holds one sentence pair, with padding at its end. On a GPU, rectangles of one size with little padding are
faster: several pairs may share a row (`Places` holds where each pair is, `Shared` the sentence of each token), and
attention is masked to a token's own sentence. Every source ends with EOS, so no sentence is empty. Targets are stored
without BOS and EOS; for teacher forcing the decoder reads BOS y1 … yn and predicts y1 … yn EOS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor

PAD, BOS, EOS = 0, 1, 2


@dataclass(frozen=True)
class Shared:
    """Rows of several sentences: the number of each token's sentence, and its position in that sentence."""

    src_sentence: Tensor  # (B, S) from 1 on; 0 at padding
    src_position: Tensor  # (B, S) from 0 on
    tgt_sentence: Tensor  # (B, T)
    tgt_position: Tensor  # (B, T)

    def tensors(self) -> list[Tensor]:
        return [self.src_sentence, self.src_position, self.tgt_sentence, self.tgt_position]


@dataclass(frozen=True)
class Batch:
    """Sentence pairs in rows, padded."""

    src: Tensor  # (B, S) ids, EOS at each end, PAD after it
    src_mask: Tensor  # (B, S) True where there is a token
    tgt_in: Tensor  # (B, T) BOS y1 … yn PAD …
    tgt_out: Tensor  # (B, T) y1 … yn EOS PAD …
    tgt_mask: Tensor  # (B, T) True where there is a token
    shared: Shared | None = None  # None: a row is one sentence pair
    links: Tensor | None = None  # (B, T, S) True where an aligner links the two, for `training/guided.py`

    def __len__(self) -> int:
        return self.src.shape[0]

    @property
    def target_tokens(self) -> int:
        """Tokens the loss is taken over, EOS included."""
        return int(self.tgt_mask.sum())

    def to(self, device: torch.device | str) -> Batch:
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        return self._each(lambda tensor: tensor.pin_memory())

    def clone(self) -> Batch:
        return self._each(lambda tensor: tensor.clone())

    def twice(self) -> Batch:
        """The rows of the batch, followed by the same rows again."""
        return self._each(lambda tensor: torch.cat([tensor, tensor]))

    def rows(self, part: slice) -> Batch:
        return self._each(lambda tensor: tensor[part])

    def tensors(self) -> list[Tensor]:
        own = [self.src, self.src_mask, self.tgt_in, self.tgt_out, self.tgt_mask]
        return own + (self.shared.tensors() if self.shared is not None else [])

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        src, src_mask, tgt_in, tgt_out, tgt_mask, *shared = (change(tensor) for tensor in self.tensors())
        links = change(self.links) if self.links is not None else None
        return Batch(src, src_mask, tgt_in, tgt_out, tgt_mask, Shared(*shared) if shared else None, links)


@dataclass(frozen=True)
class Places:
    """The positions of B pairs in `rows` rows of `width`: pair i is in row `row[i]`, from `src_start[i]` on."""

    rows: int
    width: int
    row: Tensor  # (B,)
    src_start: Tensor  # (B,)
    tgt_start: Tensor  # (B,)


@dataclass(frozen=True)
class FlatBatch:
    """Sentence pairs as flat ids: sentence i is `src[src_offsets[i]:src_offsets[i+1]]`."""

    src: Tensor  # (ΣS,) ids, EOS at each end
    src_offsets: Tensor  # (B+1,)
    tgt_in: Tensor  # (ΣT,)
    tgt_out: Tensor  # (ΣT,)
    tgt_offsets: Tensor  # (B+1,)
    places: Places | None = None  # None: one row per pair

    def __len__(self) -> int:
        return self.src_offsets.shape[0] - 1

    @property
    def target_tokens(self) -> int:
        return len(self.tgt_out)

    def pad(self) -> Batch:
        if self.places is not None:
            return self._in_shared_rows(self.places)
        src, src_mask = _pad(self.src, self.src_offsets)
        tgt_in, tgt_mask = _pad(self.tgt_in, self.tgt_offsets)
        tgt_out, _ = _pad(self.tgt_out, self.tgt_offsets)
        return Batch(src, src_mask, tgt_in, tgt_out, tgt_mask)

    def _in_shared_rows(self, places: Places) -> Batch:
        shape = (places.rows, places.width)

        def lay(offsets: Tensor, start: Tensor, *values: Tensor) -> list[Tensor]:
            """Each token's values in rows, then the number of its sentence and its position in that sentence."""
            lengths = offsets.diff()
            inside = torch.arange(int(offsets[-1])) - offsets[:-1].repeat_interleave(lengths)
            to = (places.row * places.width + start).repeat_interleave(lengths) + inside
            sentence = torch.arange(1, len(self) + 1).repeat_interleave(lengths)
            return [torch.zeros(shape, dtype=torch.int64).view(-1).index_copy_(0, to, v).view(shape)
                    for v in (*values, sentence, inside)]  # fmt: skip

        src, src_sentence, src_position = lay(self.src_offsets, places.src_start, self.src)
        tgt_in, tgt_out, tgt_sentence, tgt_position = lay(self.tgt_offsets, places.tgt_start, self.tgt_in, self.tgt_out)
        shared = Shared(src_sentence, src_position, tgt_sentence, tgt_position)
        return Batch(src, src_sentence > 0, tgt_in, tgt_out, tgt_sentence > 0, shared)


def flat_batch(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> FlatBatch:
    """Makes a flat batch from sentences given as plain ids, without BOS or EOS.

    >>> flat_batch([[7, 8]], [[9]]).tgt_in.tolist(), flat_batch([[7, 8]], [[9]]).src.tolist()
    ([1, 9], [7, 8, 2])
    """
    assert len(sources) == len(targets), "a batch needs as many targets as sources"
    src, src_offsets = _flatten([(*s, EOS) for s in sources])
    tgt_in, tgt_offsets = _flatten([(BOS, *t) for t in targets])
    tgt_out, _ = _flatten([(*t, EOS) for t in targets])
    return FlatBatch(src, src_offsets, tgt_in, tgt_out, tgt_offsets)


def pad_sources(sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Returns source ids (B, S) with EOS, and their mask: the arguments of `encode` when there is no target yet."""
    flat, offsets = (part.numpy() for part in _flatten([(*s, EOS) for s in sources]))
    lengths = np.diff(offsets)
    mask = np.arange(lengths.max()) < lengths[:, None]  # (B, S)
    rows = np.full(mask.shape, PAD)
    rows[mask] = flat
    return torch.from_numpy(rows), torch.from_numpy(mask)


def _flatten(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(offsets[-1]))
    return torch.from_numpy(flat), torch.from_numpy(offsets)


def _pad(flat: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    lengths = offsets.diff()  # (B,)
    mask = torch.arange(int(lengths.max()), device=flat.device) < lengths[:, None]  # (B, L)
    rows = torch.full(mask.shape, PAD, dtype=flat.dtype, device=flat.device)
    rows[mask] = flat
    return rows, mask
