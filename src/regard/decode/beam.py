"""Batched beam search: the b most probable partial translations of every sentence, expanded together (the notes, 3.2).

    b beam   B live sentences   N = B × b rows   V vocabulary

Scores are log-probabilities; a finished hypothesis Y is ranked by log P(Y) / lp(Y), lp(Y) = ((5 + |Y|) / 6)^α (Wu et
al. 2016), EOS counted. A sentence is done when it has b finished hypotheses and no live one, at its present length,
ranks above the worst of them, or when its own length limit is reached. Nothing here depends on the other sentences of
the batch. A `Record` holds every continuation that the search considered and what became of it.

A sentence may have a constraint (`constraints.py`). Then its rows are shared over banks of hypotheses that have said
equally much of what must be said (dynamic beam allocation, Post & Vilar 2018), tokens that are wanted are considered
however improbable they are, and its length limit grows by what must be said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.constraints import Constraint
from regard.decode.hypothesis import Hypothesis, check_log_probs, length_limits
from regard.decode.penalties import length_penalty
from regard.decode.permitted import Continuation, considered, permitted, shared_over_banks
from regard.models.base import Model

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

    width: int  # live rows
    keep: int  # finished hypotheses
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
        outranked = len(self.finished) > self.keep and self.finished.pop() is new
        return "outranked" if outranked else "finished"

    def advance(self, candidates: list[Continuation]) -> list[int]:
        """Take continuations best first; return the old row behind each new one."""
        ids, log_probs, parents = [], [], []
        fates: list[Fate] = ["crowded out"] * len(candidates)
        for i in self.choose(candidates):
            row, token, log_prob = candidates[i]
            history = (*self.log_probs[row], log_prob)
            if token == EOS:
                fates[i] = self.finish(self.ids[row], history)
            else:
                ids.append((*self.ids[row], token))
                log_probs.append(history)
                parents.append(row)
                fates[i] = "kept"
        if self.record is not None:
            self.record.steps.append(self._considered(candidates, fates))
        self.ids, self.log_probs = ids, log_probs
        return parents

    def choose(self, candidates: list[Continuation]) -> Sequence[int]:
        """Those that are taken: the best, until `width` of them go on."""
        going_on = [i for i, (_, token, _) in enumerate(candidates) if token != EOS]
        return range(going_on[self.width - 1] + 1 if len(going_on) >= self.width else len(candidates))

    def _considered(self, candidates: list[Continuation], fates: list[Fate]) -> list[Considered]:
        rows = []
        for (row, token, log_prob), fate in zip(candidates, fates, strict=True):
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
        return "none better" if len(self.finished) >= self.keep and best_live <= self.finished[-1].score else None


@dataclass
class _BoundBeam(_Beam):
    """The same for a sentence with a constraint: `rules` holds one for each live row."""

    rules: list[Constraint] = field(default_factory=list)

    def advance(self, candidates: list[Continuation]) -> list[int]:
        if not candidates:  # nothing is permitted, so the constraint cannot be met: the rows are cut off here
            self.limit = len(self.ids[0])
            return []
        return super().advance(candidates)

    def choose(self, candidates: list[Continuation]) -> Sequence[int]:
        rules = [self.rules[row] if token == EOS else self.rules[row].after(token) for row, token, _ in candidates]
        taken = shared_over_banks(candidates, [rule.met for rule in rules], self.width)
        self.rules = [rules[i] for i in taken if candidates[i][1] != EOS]
        return taken

    def joined(self, best: list[Continuation], asked: Sequence[Sequence[tuple[int, float]]]) -> list[Continuation]:
        """The best continuations together with what the constraint of each row asks for, best first."""
        every = {(row, token): log_prob for row, token, log_prob in best}
        every |= {(row, token): log_prob for row, some in enumerate(asked) for token, log_prob in some}
        totals = [sum(history) for history in self.log_probs]
        ordered = sorted(every.items(), key=lambda item: -totals[item[0][0]] - item[1])
        return [(row, token, log_prob) for (row, token), log_prob in ordered]

    def _ending(self) -> Ending | None:
        if self.ids and len(self.ids[0]) >= self.limit and not self.finished:  # cut off: those that said most
            least = min(rule.needs for rule in self.rules)
            kept = [i for i, rule in enumerate(self.rules) if rule.needs == least]
            self.ids, self.log_probs = [self.ids[i] for i in kept], [self.log_probs[i] for i in kept]
        return super()._ending()


@torch.inference_mode()
def beam_search(
    model: Model,
    src: Tensor,
    mask: Tensor,
    beam: int = 4,
    alpha: float = 0.6,
    record: list[Record] | None = None,
    constraints: Sequence[Constraint | None] | None = None,
    keep: int | None = None,
) -> list[list[Hypothesis]]:
    """The n-best list of every source sentence, best first: src (B, S) ids with EOS, mask (B, S). Each sentence's
    search is appended to `record`, if given. `constraints`: one for each sentence, None where there is none. `keep`:
    how many finished hypotheses are looked for, by default `beam`."""
    rules = [None] * len(src) if constraints is None else constraints
    limits = length_limits(mask, model.max_positions, needs=[0 if c is None else c.needs + c.margin + 1 for c in rules])
    beams = [
        _beam(beam, keep or beam, limit, alpha, None if record is None else Record(), rule)
        for limit, rule in zip(limits, rules, strict=True)
    ]
    live = list(range(len(beams)))
    state = model.start(model.encode(src, mask))
    token = torch.full((len(live),), BOS, device=src.device)  # (N,): one row per sentence in the first step
    total = torch.zeros(len(live), 1, device=src.device)  # (B, b): log-probability of each live row
    while live:
        step = model.step(token, state)
        log_probs = step.log_probs.view(len(live), -1, step.log_probs.shape[-1])  # (B, b, V)
        candidates = _candidates(total, log_probs, 2 * beam, [beams[sentence] for sentence in live])
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


def _beam(
    width: int, keep: int, limit: int, alpha: float, record: Record | None, constraint: Constraint | None
) -> _Beam:
    if constraint is None:
        return _Beam(width, keep, limit, alpha, record)
    return _BoundBeam(width, keep, limit, alpha, record, rules=[constraint])


def _candidates(total: Tensor, log_probs: Tensor, count: int, beams: list[_Beam]) -> list[list[Continuation]]:
    """Per sentence, the continuations to choose from, best first: total (B, b), log_probs (B, b, V)."""
    bound = {place: beam for place, beam in enumerate(beams) if isinstance(beam, _BoundBeam)}
    if not bound:
        return _best(total, log_probs, count)
    rows = log_probs.shape[1]
    constraints: list[Constraint | None] = [None] * (len(beams) * rows)
    for place, beam in bound.items():
        constraints[place * rows : place * rows + len(beam.rules)] = beam.rules
    rooms = [beam.limit - 1 - len(beam.ids[0]) for beam in beams for _ in range(rows)]
    allowed = permitted(log_probs.flatten(0, 1), constraints, rooms)
    asked = considered(allowed, constraints)  # of each row
    found = _best(total, log_probs, count, allowed.view_as(log_probs))
    for place, beam in bound.items():
        found[place] = beam.joined(found[place], asked[place * rows : (place + 1) * rows])
    return found


def _best(total: Tensor, log_probs: Tensor, count: int, permitted: Tensor | None = None) -> list[list[Continuation]]:
    """Per sentence, the `count` best continuations, best first; of the permitted ones, where these are given."""
    vocabulary = log_probs.shape[-1]
    if permitted is not None:
        check_log_probs((total[:, :, None] + log_probs).flatten(1).amax(1).tolist())
        log_probs = permitted
    scores = (total[:, :, None] + log_probs).flatten(1)  # (B, b·V)
    top, index = scores.topk(min(count, scores.shape[1]), dim=1)
    if permitted is None:
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
