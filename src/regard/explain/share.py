"""How much of each target word comes from the source, and how much from the words before it.

    W target words   T target subwords, EOS last   S source subwords

The model is asked four times for the probability of a word: with both, with the source alone, with the words before it
alone, and with neither. What is taken away is blanked: its embeddings are replaced by the mean of all embeddings, so
that positions and lengths stay. Of two parts that act together, Shapley's value is the fair division of what they give:

    φ(source) = ½ [log p(both) − log p(before)] + ½ [log p(source) − log p(neither)]
    φ(before) = ½ [log p(both) − log p(source)] + ½ [log p(before) − log p(neither)]
    φ(source) + φ(before) = log p(both) − log p(neither)

The share of the source is φ(source) / (φ(source) + φ(before)), where a part that makes the word less probable counts 0.
Before the first word there is nothing, so all of it is the source's. A word's own earlier subwords are never blanked.

It needs no attention and holds for every architecture. It is not ALTI+ (Ferrando et al. 2022), which follows the norms
of contributions through the layers of a Transformer: blanking changes the input and looks at the output alone. A source
of mean embeddings is outside the training data, as in `evidence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.batch import flat_batch
from regard.budget import budgeted
from regard.decode.likelihood import token_log_probs
from regard.explain.evidence import read_as_mean
from regard.models.base import Model

Ids = Sequence[int]
BATCH_TOKENS = 4096


@dataclass(frozen=True)
class Shares:
    """Of each target word."""

    source: NDArray[np.float64]  # (W,) φ(source), in nats
    before: NDArray[np.float64]  # (W,) φ(words before)

    @property
    def from_source(self) -> NDArray[np.float64]:
        """(W,) from 0 to 1; NaN where neither makes the word more probable. The rest is from the words before."""
        source, before = np.maximum(self.source, 0.0), np.maximum(self.before, 0.0)
        total = source + before
        share: NDArray[np.float64] = np.where(total > 0, source / np.where(total > 0, total, 1.0), np.nan)
        return share


def shares_of(model: Model, source: Ids, target: Ids, words: NDArray[np.float64], tags: int = 0) -> Shares:
    """`words` (T − 1, W) says which part of each target token belongs to which word; ids are without EOS. The first
    `tags` source tokens are no words: like EOS they are never blanked."""
    whole, only_source, only_before, neither = _four(model, source, target, words, tags)
    gain_source = 0.5 * ((whole - only_before) + (only_source - neither))
    gain_before = 0.5 * ((whole - only_source) + (only_before - neither))
    return Shares(gain_source, gain_before)


@torch.inference_mode()
def _four(model: Model, source: Ids, target: Ids, words: NDArray[np.float64], tags: int) -> list[NDArray[np.float64]]:
    """log p of each word (W,): with both, the source alone, the words before alone, neither."""
    count = words.shape[1]
    firsts = [int(np.flatnonzero(column)[0]) for column in words.T]  # the first token of each word
    # row 0: nothing blanked; row 1: the source; then for each word what stands before it, without and with the source
    before = [0, 0, *firsts, *firsts]
    blank = [False, True, *[False] * count, *[True] * count]
    rows = np.zeros((len(before), len(target)))
    for some in budgeted([max(len(source), len(target)) + 1] * len(before), BATCH_TOKENS):
        batch = flat_batch([source] * len(some), [target] * len(some)).pad().to(model.device)
        gone = torch.zeros_like(batch.src_mask)  # (B, S)
        gone[torch.tensor([blank[i] for i in some]), tags : len(source)] = True
        read = _begins(batch.tgt_in, [before[i] for i in some])
        with ExitStack() as both:
            both.enter_context(read_as_mean(model, gone))
            both.enter_context(read_as_mean(model, read, "target"))
            rows[some] = token_log_probs(model, batch).cpu().double().numpy()[:, : len(target)]
    of_words = rows @ words  # (rows, W)
    own = np.arange(count)
    return [of_words[0], of_words[2 + own, own], of_words[1], of_words[2 + count + own, own]]


def _begins(tgt_in: Tensor, counts: Sequence[int]) -> Tensor:
    """(B, T) True at the first so many target tokens of each row; BOS is before them and stays."""
    place = torch.arange(tgt_in.shape[1], device=tgt_in.device)
    return (place >= 1) & (place <= torch.tensor(counts, device=tgt_in.device)[:, None])
