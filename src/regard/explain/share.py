"""The contributions of the source and of the preceding target words to each target word.

    W target words   T target subwords, EOS last   S source subwords

The model computes the probability of a word four times: with both, with the source alone, with the preceding words
alone, and with neither. What is left out is blanked: its embeddings are replaced by the mean of all embeddings, so that
positions and lengths stay the same. Shapley's value divides the gain fairly between the two:

    φ(source) = ½ [log p(both) − log p(before)] + ½ [log p(source) − log p(neither)]
    φ(before) = ½ [log p(both) − log p(source)] + ½ [log p(before) − log p(neither)]
    φ(source) + φ(before) = log p(both) − log p(neither)

The share of the source is φ(source) / (φ(source) + φ(before)), where a part that makes the word less probable counts 0.
Nothing precedes the first word, so its share is all the source's. A word's own earlier subwords are never blanked.

It needs no attention and works for every architecture. It is not ALTI+ (Ferrando et al. 2022), which follows the norms
of contributions through the layers of a Transformer: blanking changes the input and observes only the output. A source
of mean embeddings is outside the training data, as in `evidence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.batch import BOS, pad_sources
from regard.explain.hooks import blanked_embeddings
from regard.models.base import Model, State

Ids = Sequence[int]


@dataclass(frozen=True)
class Shares:
    """The contributions of the source and of the preceding words, for each target word."""

    source: NDArray[np.float64]  # (W,) φ(source), in nats
    before: NDArray[np.float64]  # (W,) φ(before), in nats

    @property
    def from_source(self) -> NDArray[np.float64]:
        """(W,) the source's share from 0 to 1; NaN if neither makes the word more probable. The rest is `before`."""
        source, before = np.maximum(self.source, 0.0), np.maximum(self.before, 0.0)
        total = source + before
        share: NDArray[np.float64] = np.where(total > 0, source / np.where(total > 0, total, 1.0), np.nan)
        return share


def shares_of(model: Model, source: Ids, target: Ids, words: NDArray[np.float64], tags: int = 0) -> Shares:
    """Computes the contributions. `words` (T − 1, W) is the part of each target token that belongs to each word; ids
    are without EOS. The first `tags` source tokens are not words: like EOS they are never blanked."""
    whole, only_source, only_before, neither = _four_log_probs(model, source, target, words, tags)
    gain_source = 0.5 * ((whole - only_before) + (only_source - neither))
    gain_before = 0.5 * ((whole - only_source) + (only_before - neither))
    return Shares(gain_source, gain_before)


@torch.inference_mode()
def _four_log_probs(
    model: Model, source: Ids, target: Ids, words: NDArray[np.float64], tags: int
) -> list[NDArray[np.float64]]:
    """log p of each word (W,): with both, with the source alone, with the preceding words alone, with neither.

    Four rows decode the target in parallel: with the source or a blanked one, and with the prefix or a blanked one.
    Further tokens of a word are read unblanked, in a branch of the rows with a blanked prefix. So there are at most
    twice as many steps as tokens.
    """
    device, rows = model.device, torch.arange(4, device=model.device)
    unread = ((rows % 2) == 1)[:, None]  # (4, 1): source and before, source alone, before alone, neither
    src, mask = (tensor.to(device) for tensor in pad_sources([source, source]))
    gone = torch.zeros_like(mask)
    gone[1, tags : len(source)] = True
    with blanked_embeddings(model, gone):
        state = model.start(model.encode(src, mask), beams=2)
    chain: list[NDArray[np.float64]] = []  # (4,) for each token
    states: list[State] = []
    for place, (read, output) in enumerate(zip([BOS, *target], target, strict=False)):
        with blanked_embeddings(model, unread & (place > 0), "target"):  # BOS is not blanked
            step = model.step(torch.full_like(rows, read), state)
        state = step.state
        states.append(state)
        chain.append(step.log_probs[:, output].cpu().double().numpy())
    found = np.zeros((4, words.shape[1]))
    for word, column in enumerate(words.T):
        tokens = np.flatnonzero(column).tolist()
        of_tokens = [chain[tokens[0]]]
        branch = states[tokens[0]]
        for token in tokens[1:]:
            step = model.step(torch.full_like(rows, target[token - 1]), branch)
            branch = step.state
            blanked = step.log_probs[:, target[token]].cpu().double().numpy()
            of_tokens.append(np.where(unread[:, 0].cpu().numpy(), blanked, chain[token]))
        found[:, word] = np.stack(of_tokens, axis=1) @ column[tokens]
    return list(found)
