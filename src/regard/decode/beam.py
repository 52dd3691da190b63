"""Batched beam search: the b most probable partial translations of every sentence, expanded together (the notes, 3.2).

    b beam   B live sentences   N = B × b rows   V vocabulary

Scores are log-probabilities; a finished hypothesis Y is ranked by log P(Y) / lp(Y), lp(Y) = ((5 + |Y|) / 6)^α (Wu et
al. 2016), EOS counted. A sentence is done when it has b finished hypotheses and no live one, at its present length,
ranks above the worst of them, or when its own length limit is reached. Nothing here depends on the other sentences of
the batch. A `Record` holds every continuation that the search considered and what became of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.hypothesis import Hypothesis, check_log_probs, length_limits
from regard.models.base import Model


def length_penalty(length: int, alpha: float) -> float:
    """
    >>> length_penalty(1, 0.6), round(length_penalty(13, 0.5), 3)
    (1.0, 1.732)
    """
    return float(((5 + length) / 6) ** alpha)


# kept: extended in the next step · finished: ended, and among the b best that ended · outranked: ended, but b ended
# ones rank higher · crowded out: b better continuations were kept first
Fate = Literal["kept", "finished", "outranked", "crowded out"]
Ending = Literal["all ended", "length limit", "none better"]  # none better: no live row ranks above the b finished ones


class Considered(NamedTuple):
    """One continuation: token `token` after live row `row` (the row-th hypothesis kept in the step before)."""

    row: int
    token: int
    log_prob: float  # of the token
    total: float  # of everything up to it
    score: float  # what the hypothesis would be ranked by if it were complete
    fate: Fate


@dataclass
class Record:
    """One sentence's search: the continuations considered at each step, best first, and why it stopped."""

    steps: list[list[Considered]] = field(default_factory=list)
    ending: Ending | None = None


@dataclass
class _Beam:
    """One sentence's search: its live rows' histories and its finished hypotheses."""

    width: int
    limit: int
    alpha: float
    record: Record | None = None
    ids: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    log_probs: list[tuple[float, ...]] = field(default_factory=lambda: [()])
    finished: list[Hypothesis] = field(default_factory=list)

    def score(self, log_probs: tuple[float, ...]) -> float:
        return sum(log_probs) / length_penalty(len(log_probs), self.alpha)

    def finish(self, ids: tuple[int, ...], log_probs: tuple[float, ...]) -> Fate:
        new = Hypothesis(ids, log_probs, self.score(log_probs))
        self.finished.append(new)
        self.finished.sort(key=lambda h: -h.score)
        outranked = len(self.finished) > self.width and self.finished.pop() is new
        return "outranked" if outranked else "finished"

    def advance(self, candidates: list[tuple[int, int, float]]) -> list[int]:
        """Take (row, token, log-probability) best first; return the old row behind each new one."""
        ids, log_probs, parents = [], [], []
        fates: list[Fate] = []
        for row, token, log_prob in candidates:
            history = (*self.log_probs[row], log_prob)
            if token == EOS:
                fates.append(self.finish(self.ids[row], history))
            else:
                ids.append((*self.ids[row], token))
                log_probs.append(history)
                parents.append(row)
                fates.append("kept")
            if len(ids) == self.width:
                break
        if self.record is not None:
            self.record.steps.append(self._considered(candidates, fates))
        self.ids, self.log_probs = ids, log_probs
        return parents

    def _considered(self, candidates: list[tuple[int, int, float]], fates: list[Fate]) -> list[Considered]:
        """`fates` covers the first candidates; the others were crowded out."""
        late: list[Fate] = ["crowded out"] * (len(candidates) - len(fates))
        rows = []
        for (row, token, log_prob), fate in zip(candidates, fates + late, strict=True):
            history = (*self.log_probs[row], log_prob)
            rows.append(Considered(row, token, log_prob, sum(history), self.score(history), fate))
        return rows

    def done(self) -> bool:
        ending = self._ending()
        if self.record is not None:
            self.record.ending = ending
        return ending is not None

    def _ending(self) -> Ending | None:
        """Why the sentence is done, or None while it goes on."""
        length = len(self.ids[0]) if self.ids else 0
        if not self.ids or length >= self.limit:
            for history in zip(self.ids, self.log_probs, strict=True) if not self.finished else ():
                self.finish(*history)  # cut off at the limit, only if no hypothesis has ended
            return "length limit" if self.ids else "all ended"
        best_live = max(sum(p) for p in self.log_probs) / length_penalty(length, self.alpha)
        return "none better" if len(self.finished) >= self.width and best_live <= self.finished[-1].score else None


@torch.inference_mode()
def beam_search(
    model: Model, src: Tensor, mask: Tensor, beam: int = 4, alpha: float = 0.6, record: list[Record] | None = None
) -> list[list[Hypothesis]]:
    """The n-best list of every source sentence, best first: src (B, S) ids with EOS, mask (B, S). Each sentence's
    search is appended to `record`, if given."""
    limits = length_limits(mask, model.max_positions)
    beams = [_Beam(beam, limit, alpha, None if record is None else Record()) for limit in limits]
    live = list(range(len(beams)))
    state = model.start(model.encode(src, mask))
    token = torch.full((len(live),), BOS, device=src.device)  # (N,): one row per sentence in the first step
    total = torch.zeros(len(live), 1, device=src.device)  # (B, b): log-probability of each live row
    while live:
        step = model.step(token, state)
        log_probs = step.log_probs.view(len(live), -1, step.log_probs.shape[-1])  # (B, b, V)
        candidates = _best(total, log_probs, 2 * beam)
        parents, kept = [], []
        for place, sentence in enumerate(live):
            rows = beams[sentence].advance(candidates[place])
            if not beams[sentence].done():
                kept.append(sentence)
                rows += [rows[-1]] * (beam - len(rows))  # fill the beam with copies that score −∞
                parents += [place * log_probs.shape[1] + r for r in rows]
        live = kept
        if live:
            state = step.state.select(torch.tensor(parents, device=src.device))
            token = torch.tensor([_last(beams[s]) for s in live], device=src.device).flatten()
            total = torch.tensor([_totals(beams[s]) for s in live], device=src.device)
    if record is not None:
        record += [b.record for b in beams if b.record is not None]
    return [b.finished for b in beams]


def _best(total: Tensor, log_probs: Tensor, count: int) -> list[list[tuple[int, int, float]]]:
    """Per sentence, the `count` best continuations as (row, token, log-probability), best first."""
    vocabulary = log_probs.shape[-1]
    scores = (total[:, :, None] + log_probs).flatten(1)  # (B, b·V)
    top, index = scores.topk(min(count, scores.shape[1]), dim=1)
    check_log_probs(top[:, 0].tolist())
    gained = log_probs.flatten(1).gather(1, index)
    return [
        [(i // vocabulary, i % vocabulary, g) for t, i, g in zip(*row, strict=True) if t > -math.inf]
        for row in zip(top.tolist(), index.tolist(), gained.tolist(), strict=True)
    ]


def _last(beam: _Beam) -> list[int]:
    tokens = [i[-1] for i in beam.ids]
    return tokens + [tokens[-1]] * (beam.width - len(tokens))


def _totals(beam: _Beam) -> list[float]:
    totals = [sum(p) for p in beam.log_probs]
    return totals + [-math.inf] * (beam.width - len(totals))
