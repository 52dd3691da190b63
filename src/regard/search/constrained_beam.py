"""Beam search under constraints (`constraints.py`), with a constraint for each hypothesis.

The rows of a sentence are divided among banks of hypotheses that have generated equally many of the required tokens
(dynamic beam allocation, Post & Vilar 2018), wanted tokens are considered however improbable they are, and the length
limit grows by the number of required tokens. A hypothesis that ended has met its constraint; one that could not is cut
off at the limit. Otherwise it is the search of `beam.py`. Constraints are evaluated row by row in Python, for these
sentences only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.models.base import Step
from regard.search.batch_rows import SearchItem, concatenated_memos
from regard.search.beam import Strategy
from regard.search.constraint_masks import Continuation, allocate_banks, candidate_tokens, permitted
from regard.search.constraints import Constraint
from regard.search.engine import Hypothesis, check_log_probs, length_penalty
from regard.search.search_trace import Considered, Ending, Fate, SearchTrace
from regard.search.strategy import reachable_at_limit


def constrained_width(beam: int, constraint: Constraint) -> int:
    """Returns the rows of a constrained sentence: more than `beam`, at most three times as many, because hypotheses
    that have met more and less of the constraint are kept side by side; a beam of 1 could not postpone a phrase."""
    return beam * min(3, 1 + -(-constraint.needs // beam))


@dataclass
class ConstrainedBeam:
    """The search of one sentence: the histories and constraints of its live rows, and its finished hypotheses."""

    item: SearchItem
    width: int  # live rows
    keep: int  # finished hypotheses to keep
    strategy: Strategy
    rules: list[Constraint]  # of each live row
    limit: int
    record: SearchTrace | None = None
    ids: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    log_probs: list[tuple[float, ...]] = field(default_factory=lambda: [()])  # of the model
    sums: list[float] = field(default_factory=lambda: [0.0])  # of the adjusted scores
    finished: list[Hypothesis] = field(default_factory=list)
    done: bool = False

    def score(self, total: float, length: int) -> float:
        """Returns the score of a hypothesis, without the coverage penalty."""
        return total / length_penalty(length, self.strategy.alpha)

    def totals(self) -> list[float]:
        return self.sums + [-math.inf] * (self.width - len(self.sums))

    def last(self) -> list[int]:
        tokens = [ids[-1] for ids in self.ids] if self.ids and self.ids[0] else [BOS]
        return tokens + [tokens[-1]] * (self.width - len(tokens))

    def finish(self, ids: tuple[int, ...], log_probs: tuple[float, ...], score: float) -> Fate:
        new = Hypothesis(ids, log_probs, score)
        self.finished.append(new)
        self.finished.sort(key=lambda h: -h.score)
        outranked = len(self.finished) > self.keep and self.finished.pop() is new
        return "outranked" if outranked else "finished"

    def forced(self) -> int | None:
        """Returns the next token of the prefix, None after its end."""
        generated, prefix = len(self.ids[0]), self.item.request.prefix
        return prefix[generated] if generated < len(prefix) else None

    def advance(self, candidates: list[Continuation], own: Tensor, covered: list[float]) -> list[int]:
        """Takes continuations best first; returns the old row that each new one extends. `own` (b, V) has the model's
        log-probabilities, `covered` the coverage penalty of each row."""
        if not candidates:  # no token is permitted: the constraint cannot be met, so the rows are cut off
            self.limit = len(self.ids[0])
            return []
        ids, log_probs, sums, parents = [], [], [], []
        fates: list[Fate] = ["crowded out"] * len(candidates)
        rows, tokens, _ = zip(*candidates, strict=True)
        gains = own[list(rows), list(tokens)].tolist()
        for i in self._choose(candidates):
            row, token, score = candidates[i]
            history, total = (*self.log_probs[row], gains[i]), self.sums[row] + score
            if token == EOS:
                fates[i] = self.finish(self.ids[row], history, self.score(total, len(history)) + covered[row])
            else:
                ids.append((*self.ids[row], token))
                log_probs.append(history)
                sums.append(total)
                parents.append(row)
                fates[i] = "kept"
        if self.record is not None:
            self.record.steps.append(self._considered(candidates, fates))
        self.ids, self.log_probs, self.sums = ids, log_probs, sums
        return parents

    def _choose(self, candidates: list[Continuation]) -> Sequence[int]:
        rules = [self.rules[row] if token == EOS else self.rules[row].after(token) for row, token, _ in candidates]
        taken = allocate_banks(candidates, [rule.met for rule in rules], self.width)
        self.rules = [rules[i] for i in taken if candidates[i][1] != EOS]
        return taken

    def _considered(self, candidates: list[Continuation], fates: list[Fate]) -> list[Considered]:
        rows = []
        for (row, token, log_prob), fate in zip(candidates, fates, strict=True):
            total, length = self.sums[row] + log_prob, len(self.log_probs[row]) + 1
            rows.append(Considered(row, token, log_prob, total, self.score(total, length), fate))
        return rows

    def joined(self, best: list[Continuation], asked: Sequence[Sequence[tuple[int, float]]]) -> list[Continuation]:
        """Merges the best continuations with those that each row's constraint wants, best first."""
        every = {(row, token): log_prob for row, token, log_prob in best}
        every |= {(row, token): log_prob for row, some in enumerate(asked) for token, log_prob in some}
        ordered = sorted(every.items(), key=lambda item: -self.sums[item[0][0]] - item[1])
        return [(row, token, log_prob) for (row, token), log_prob in ordered]

    def stop(self) -> None:
        ending = self._ending()
        self.done = ending is not None
        if self.record is not None:
            self.record.ending = ending

    def _ending(self) -> Ending | None:
        """Returns why the sentence is done, or None if it is not."""
        length = len(self.ids[0]) if self.ids else 0
        if not self.ids:
            return "all ended"
        if length >= self.limit:
            if not self.finished:  # cut off those that need the fewest further tokens
                least = min(rule.needs for rule in self.rules)
                for ids, log_probs, total, rule in zip(self.ids, self.log_probs, self.sums, self.rules, strict=True):
                    if rule.needs == least:
                        self.finish(ids, log_probs, self.score(total, length))
            return "length limit"
        best_live = self.score(max(self.sums), self.limit if self.strategy.reach is reachable_at_limit else length)
        return "none better" if len(self.finished) >= self.keep and best_live <= self.finished[-1].score else None


@dataclass
class ConstrainedBeams:
    """The searches of B sentences with the same number of rows."""

    width: int
    nbest: int
    beams: list[ConstrainedBeam]
    device: torch.device
    strategy: Strategy
    memo: dict[str, Tensor] = field(default_factory=dict)  # (B, b, …) of a variant

    @classmethod
    def begin(
        cls, strategy: Strategy, beam: int, nbest: int, items: Sequence[SearchItem], device: torch.device
    ) -> ConstrainedBeams:
        beams, width = [], 0
        for item in items:
            assert item.request.constraint is not None
            width = constrained_width(beam, item.request.constraint)
            beams.append(ConstrainedBeam(item, width, beam, strategy, [item.request.constraint], item.limit))
        memo = {} if strategy.remember is None else strategy.remember(items, width, device)
        return cls(width, nbest, beams, device, strategy, memo)

    @property
    def step(self) -> Tensor:
        return torch.tensor([len(beam.ids[0]) if beam.ids else 0 for beam in self.beams], device=self.device)

    @property
    def limit(self) -> Tensor:
        return torch.tensor([beam.limit for beam in self.beams], device=self.device)

    @property
    def token(self) -> Tensor:
        return torch.tensor([beam.last() for beam in self.beams], device=self.device).flatten()

    @property
    def done(self) -> Tensor:
        return torch.tensor([beam.done for beam in self.beams], device=self.device)

    def advance(self, step: Step) -> Tensor:
        log_probs = step.log_probs
        log_probs[:, :EOS] = -math.inf  # PAD and BOS are never generated
        scores = log_probs
        for adjust in self.strategy.adjust:
            scores = adjust(scores, self, step)
        own, covered = log_probs.view(len(self.beams), self.width, -1), self._covered()
        rows: list[int] = []
        for place, (beam, candidates) in enumerate(zip(self.beams, self._candidates(scores, log_probs), strict=True)):
            parents: list[int] = []
            if not beam.done:
                parents = beam.advance(candidates, own[place], covered[place])
                beam.stop()
            parents = parents or [0]
            parents += [parents[-1]] * (self.width - len(parents))  # fill the beam with copies of score −∞
            rows += [place * self.width + row for row in parents]
        index = torch.tensor(rows, device=self.device)
        self.memo = {name: value.flatten(0, 1)[index].view_as(value) for name, value in self.memo.items()}
        return index

    def _covered(self) -> list[list[float]]:
        """Returns the coverage penalty of each row; 0 without a coverage penalty."""
        rows = torch.arange(self.width, device=self.device).expand(len(self.beams), -1)
        nothing = torch.zeros(len(self.beams), self.width, dtype=torch.float64, device=self.device)
        if self.strategy.remember is None:
            return nothing.tolist()
        return self.strategy.rank(nothing, self.step + 1, rows, self).tolist()

    def penalty(self, length: Tensor) -> Tensor:
        """lp of each length, (B,)"""
        penalties: Tensor = ((length.double() + 5) / 6) ** self.strategy.alpha
        return penalties

    def _candidates(self, scores: Tensor, log_probs: Tensor) -> list[list[Continuation]]:
        """Returns each sentence's continuations, best first: adjusted scores and model log-probabilities (N, V)."""
        width = self.width
        constraints: list[Constraint | None] = [None] * len(log_probs)
        rooms = [0] * len(log_probs)
        for place, beam in enumerate(self.beams):
            if not beam.done:
                constraints[place * width : place * width + len(beam.rules)] = beam.rules
                rooms[place * width : (place + 1) * width] = [beam.limit - 1 - len(beam.ids[0])] * width
        totals = torch.tensor([beam.totals() for beam in self.beams], device=self.device)  # (B, b)
        wide = (len(self.beams), width, -1)
        best = (totals[:, :, None] + log_probs.view(wide)).flatten(1).amax(1)
        check_log_probs([p for p, beam in zip(best.tolist(), self.beams, strict=True) if not beam.done])
        allowed = permitted(scores, constraints, rooms)
        asked = candidate_tokens(allowed, constraints)  # of each row
        found = _best(totals, allowed.view(wide), 2 * width)
        for place, beam in enumerate(self.beams):
            if beam.done:
                continue
            forced = beam.forced()
            if forced is not None:
                found[place] = [(0, forced, float(log_probs[place * width, forced]))]
            else:
                found[place] = beam.joined(found[place], asked[place * width : (place + 1) * width])
        return found

    def keep(self, sentences: Tensor) -> ConstrainedBeams:
        memo = {name: value[sentences.to(value.device)] for name, value in self.memo.items()}
        return replace(self, beams=[self.beams[i] for i in sentences.tolist()], memo=memo)

    def join(self, other: ConstrainedBeams) -> ConstrainedBeams:
        return replace(self, beams=self.beams + other.beams, memo=concatenated_memos(self, other))

    def results(self) -> list[list[Hypothesis]]:
        return [beam.finished[: self.nbest] for beam in self.beams]


def _best(total: Tensor, log_probs: Tensor, count: int) -> list[list[Continuation]]:
    """Returns each sentence's `count` best continuations, best first: total (B, b), log_probs (B, b, V)."""
    vocabulary = log_probs.shape[-1]
    scores = (total[:, :, None] + log_probs).flatten(1)  # (B, b·V)
    top, index = scores.topk(min(count, scores.shape[1]), dim=1)
    gained = log_probs.flatten(1).gather(1, index)
    return [
        [(i // vocabulary, i % vocabulary, g) for t, i, g in zip(*row, strict=True) if t > -math.inf]
        for row in zip(top.tolist(), index.tolist(), gained.tolist(), strict=True)
    ]
