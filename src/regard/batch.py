"""Several sentence pairs as tensors: packed (flat ids with offsets) or padded (rectangles with masks).

    B sentence pairs   S source positions   T target positions

The packed form wastes nothing and is what variable-length kernels read; the padded form is what plain matrix code
reads. Every source ends with EOS, so no row is ever empty. Every target is stored as its words alone; teacher forcing
frames it: the decoder reads BOS y1 … yn and must predict y1 … yn EOS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

PAD, BOS, EOS = 0, 1, 2


@dataclass(frozen=True)
class Batch:
    """The padded form."""

    src: Tensor  # (B, S) ids, EOS at each end, PAD after it
    src_mask: Tensor  # (B, S) True where there is a token
    tgt_in: Tensor  # (B, T) BOS y1 … yn PAD …
    tgt_out: Tensor  # (B, T) y1 … yn EOS PAD …
    tgt_mask: Tensor  # (B, T) True where there is a token

    def __len__(self) -> int:
        return self.src.shape[0]

    @property
    def target_tokens(self) -> int:
        """Tokens the loss is taken over, EOS included."""
        return int(self.tgt_mask.sum())

    def to(self, device: torch.device | str) -> Batch:
        moved = (getattr(self, name).to(device, non_blocking=True) for name in self.__dataclass_fields__)
        return Batch(*moved)


@dataclass(frozen=True)
class PackedBatch:
    """The packed form: sentence i is `src[src_offsets[i]:src_offsets[i+1]]`."""

    src: Tensor  # (ΣS,) ids, EOS at each end
    src_offsets: Tensor  # (B+1,)
    tgt_in: Tensor  # (ΣT,)
    tgt_out: Tensor  # (ΣT,)
    tgt_offsets: Tensor  # (B+1,)

    def __len__(self) -> int:
        return self.src_offsets.shape[0] - 1

    def pad(self) -> Batch:
        src, src_mask = _pad(self.src, self.src_offsets)
        tgt_in, tgt_mask = _pad(self.tgt_in, self.tgt_offsets)
        tgt_out, _ = _pad(self.tgt_out, self.tgt_offsets)
        return Batch(src, src_mask, tgt_in, tgt_out, tgt_mask)


def pack(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> PackedBatch:
    """Sentences as plain ids, without BOS or EOS, become one packed batch.

    >>> pack([[7, 8]], [[9]]).tgt_in.tolist(), pack([[7, 8]], [[9]]).src.tolist()
    ([1, 9], [7, 8, 2])
    """
    assert len(sources) == len(targets), "a batch needs as many targets as sources"
    src, src_offsets = _flatten([(*s, EOS) for s in sources])
    tgt_in, tgt_offsets = _flatten([(BOS, *t) for t in targets])
    tgt_out, _ = _flatten([(*t, EOS) for t in targets])
    return PackedBatch(src, src_offsets, tgt_in, tgt_out, tgt_offsets)


def pad_sources(sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Source ids (B, S) with EOS, and their mask: what `encode` takes when there is no target yet."""
    return _pad(*_flatten([(*s, EOS) for s in sources]))


def _flatten(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    lengths = np.fromiter((len(r) for r in rows), dtype=np.int64, count=len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.fromiter((i for r in rows for i in r), dtype=np.int64, count=int(offsets[-1]))
    return torch.from_numpy(flat), torch.from_numpy(offsets)


def _pad(flat: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    lengths = offsets.diff()  # (B,)
    mask = torch.arange(int(lengths.max()), device=flat.device) < lengths[:, None]  # (B, L)
    rows = torch.full(mask.shape, PAD, dtype=flat.dtype, device=flat.device)
    rows[mask] = flat
    return rows, mask
