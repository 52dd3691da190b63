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
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.batch import BOS, pad_sources
from regard.explain.evidence import read_as_mean
from regard.models.base import Model

Ids = Sequence[int]


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
    """log p of each word (W,): with both, the source alone, the words before alone, neither.

    Row 0 blanks nothing and row 1 the source; then for each word there is a row that blanks what stands before it, with
    the source and without. The source is encoded twice, whole and blanked, whatever the number of rows.
    """
    count, device = words.shape[1], model.device
    firsts = [int(np.flatnonzero(column)[0]) for column in words.T]  # the first token of each word
    before = torch.tensor([0, 0, *firsts, *firsts], device=device)
    blank = torch.tensor([0, 1, *[0] * count, *[1] * count], device=device)
    src, mask = (tensor.to(device) for tensor in pad_sources([source, source]))
    gone = torch.zeros_like(mask)
    gone[1, tags : len(source)] = True
    with read_as_mean(model, gone):
        state = model.start(model.encode(src, mask)).select(blank)
    rows = []
    for place, (read, said) in enumerate(zip([BOS, *target], target, strict=False)):
        unread = ((place >= 1) & (place <= before))[:, None]  # (rows, 1): BOS stays
        with read_as_mean(model, unread, "target"):
            step = model.step(torch.full_like(before, read), state)
        state = step.state
        rows.append(step.log_probs[:, said])
    of_words = torch.stack(rows, dim=1).cpu().double().numpy() @ words  # (rows, T − 1) → (rows, W)
    own = np.arange(count)
    return [of_words[0], of_words[2 + own, own], of_words[1], of_words[2 + count + own, own]]
