"""What the rows of a search have said, in tensors, and how it becomes hypotheses.

    B sentences   b rows of each   L steps at most   K hypotheses of a sentence

At step t of a sentence its row r says a token, after the row `parent` of the step before. Nothing is copied when rows
change places: a hypothesis is followed back from its end, once, when its sentence is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.models.state import FieldAxis, join_tensors
from regard.search.engine import Hypothesis, check_log_probs


@dataclass
class History:
    token: Tensor  # (B, L, b) int32
    parent: Tensor  # (B, L, b) int32
    log_prob: Tensor  # (B, L, b) of each token

    @classmethod
    def empty(cls, sentences: int, steps: int, beams: int, device: torch.device) -> Self:
        shape = sentences, steps, beams
        whole = torch.zeros(shape, dtype=torch.int32, device=device)
        return cls(whole, torch.zeros_like(whole), torch.zeros(shape, device=device))

    def write(self, place: Tensor, step: Tensor, token: Tensor, parent: Tensor | None, log_prob: Tensor) -> None:
        """What each sentence (`place` is 0 … B−1) says at its own step (B,): each (B, b)"""
        self.token[place, step] = token.int()
        self.log_prob[place, step] = log_prob.float()
        if parent is not None:  # else there is one row, after itself
            self.parent[place, step] = parent.int()

    def keep(self, sentences: Tensor) -> History:
        return History(*(part.index_select(0, sentences) for part in (self.token, self.parent, self.log_prob)))

    def join(self, other: History) -> History:
        grows = FieldAxis("sentence", 0, grows=1)
        return History(
            join_tensors(self.token, other.token, grows),
            join_tensors(self.parent, other.parent, grows),
            join_tensors(self.log_prob, other.log_prob, grows),
        )


@dataclass
class Ends:
    """The hypotheses of B sentences, each by where it ends."""

    score: Tensor  # (B, K) what they are ranked by; −∞: there is none
    length: Tensor  # (B, K) tokens before the end
    row: Tensor  # (B, K) that said the last of them
    log_prob: Tensor  # (B, K) of EOS; NaN: cut off at the limit
    broken: Tensor  # (B,) True where the model gave no probabilities

    def keep(self, sentences: Tensor) -> Ends:
        return Ends(*(part.index_select(0, sentences) for part in self.parts()))

    def join(self, other: Ends) -> Ends:
        return Ends(*(torch.cat(pair) for pair in zip(self.parts(), other.parts(), strict=True)))

    def parts(self) -> tuple[Tensor, ...]:
        return self.score, self.length, self.row, self.log_prob, self.broken


def hypotheses(history: History, ends: Ends) -> list[list[Hypothesis]]:
    """The hypotheses of each sentence, in the order of its ends."""
    token, parent, log_prob = (part.cpu().numpy() for part in (history.token, history.parent, history.log_prob))
    score, length, row, end, broken = (part.cpu().numpy() for part in ends.parts())
    check_log_probs([float("nan")] if broken.any() else [])
    there = score > -np.inf  # (M, K)
    length = np.where(there, length, 0)
    ids, log_probs = _trace_back((token, parent, log_prob), length, row)
    steps = length + ~np.isnan(end)
    np.put_along_axis(log_probs, length[..., None], end[..., None], axis=2)

    lists = (part.tolist() for part in (ids, log_probs, length, steps, score, there))  # of plain numbers, in bulk
    return [
        [
            Hypothesis(tuple(words[:said]), tuple(gains[:counted]), rank)
            for words, gains, said, counted, rank, real in zip(*parts, strict=True)
            if real
        ]
        for parts in zip(*lists, strict=True)
    ]


def _trace_back(
    histories: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]],
    length: NDArray[np.int64],
    row: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Tokens and log-probabilities (M, K, T) of the hypotheses that end at `length` and `row`, each (M, K)."""
    token, parent, log_prob = histories
    longest = int(length.max(initial=0))
    ids = np.zeros((*length.shape, longest), dtype=np.int32)
    log_probs = np.zeros((*length.shape, longest + 1), dtype=np.float32)  # and one of EOS
    sentence = np.arange(len(length))[:, None]
    for t in range(longest - 1, -1, -1):
        inside = t < length
        ids[:, :, t], log_probs[:, :, t] = token[sentence, t, row], log_prob[sentence, t, row]
        row = np.where(inside, parent[sentence, t, row], row)
    return ids, log_probs
