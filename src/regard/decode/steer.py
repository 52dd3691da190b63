"""A neural model steered by what is known of words: by a learnt lexicon (Arthur et al. 2016), or by the rules.

    P'(w) = (1 − λ m) P(w) + λ q(w)        m = Σ_w q(w) ≤ 1

    lexicon:  q(w) = Σ_s a_s t(w | x_s)    a: the model's cross-attention at this step, t: the lexicon
    rules:    q(w) = 1 for the next word of the rules' translation, as long as all words before were its words

Where the steering has nothing to say (a token without entries, a sentence that the rules cannot read, a translation
that has left theirs) the share m is missing, and the model speaks for it; with m = 1 it is Arthur et al.'s
interpolation. A model without attention has a_s equal over the source, EOS left out. EOS has no entry in the lexicon:
looking there is how many models look at nothing.

Both wrappers keep the contract, so search takes them for a model. As an ensemble does, `forward` gives
log-probabilities. Nothing here is meant for training, and a weight of 0 needs no wrapper.

    B sentences   N = B × beam rows   S source   T target   V target vocabulary   K entries of a token   R rules' words
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.batch import BOS, EOS, Batch
from regard.decode.reading import Reading
from regard.decode.token_lexicon import IdTable
from regard.errors import InputError
from regard.models.base import Around, Memory, Model, State, Step
from regard.text.tokenizer import Tokenizer

NOTHING = -1  # in a plan: behind its end
RuleSystem = Callable[[str], str | None]  # a sentence → its translation; None where the rules cannot read it
Suggest = Callable[[Sequence[int]], Sequence[int] | None]  # source ids, without EOS → target ids, without EOS


def blend(log_probs: Tensor, proposal: Tensor, weight: float) -> Tensor:
    """log P' of log P and q, each (…, V). Where q is 0 everywhere, log P comes back bit for bit."""
    kept = log_probs + torch.log1p(-weight * proposal.sum(dim=-1, keepdim=True).clamp(max=1.0))
    tiny = torch.finfo(proposal.dtype).tiny  # below it the logarithm has no gradient
    raised = torch.logaddexp(kept, (weight * proposal).clamp_min(tiny).log())
    return torch.where(proposal > 0, raised, kept)


def check_weight(name: str, weight: float) -> None:
    if not 0 <= weight < 1:
        raise InputError(f"{name} must be from 0 (off) to below 1, but is {weight:g}; try 0.2")


# ------------------------------------------------------------------------------------------------ the lexicon


def lexicon_proposal(attention: Tensor, targets: Tensor, probs: Tensor, size: int) -> Tensor:
    """q(w) = Σ_s a_s t(w | x_s): a (…, S), the entries of each source token (…, S, K) → (…, V)."""
    shares = (attention[..., None] * probs).flatten(-2)  # (…, S·K)
    return shares.new_zeros(*shares.shape[:-1], size).scatter_add(-1, targets.flatten(-2).expand_as(shares), shares)


@dataclass(frozen=True)
class SteeredState:
    model: State
    even: Tensor  # (N, S) the attention of a model that has none
    targets: Tensor  # (N, S, K)
    probs: Tensor  # (N, S, K)
    trace: bool

    def select(self, rows: Tensor) -> SteeredState:
        picked = {name: getattr(self, name)[rows] for name in ("even", "targets", "probs")}
        return replace(self, model=self.model.select(rows), **picked)


@dataclass(frozen=True)
class SteeredMemory(Memory):
    src: Tensor  # (B, S)
    model: Memory


class Steered(Around):
    """A model steered by a lexicon; `reading` says which of its attentions is the alignment."""

    targets: Tensor  # (source vocabulary, K)
    probs: Tensor  # (source vocabulary, K)

    def __init__(self, model: Model, table: IdTable, reading: Reading, weight: float) -> None:
        super().__init__(model)
        check_weight("the weight of the lexicon", weight)
        self.reading, self.weight = reading, weight
        self.register_buffer("targets", table.targets.to(model.device))
        self.register_buffer("probs", table.probs.to(model.device))

    def encode(self, src: Tensor, mask: Tensor) -> SteeredMemory:
        inner = self.model.encode(src, mask)
        return SteeredMemory(inner.states, mask, src, inner)

    def start(self, memory: Memory, trace: bool = False) -> SteeredState:
        assert isinstance(memory, SteeredMemory)
        state = self.model.start(memory.model, trace=trace or bool(self.reading))
        src = memory.src
        return SteeredState(state, evenly(src, memory.mask), self.targets[src], self.probs[src], trace)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, SteeredState)
        step = self.model.step(token, state.model)
        looked = state.even
        if self.reading:
            assert step.attention is not None
            looked = self.reading.of(step.attention.unbind(dim=1))  # (N, S)
        proposal = lexicon_proposal(looked, state.targets, state.probs, self.target_size)  # (N, V)
        log_probs = blend(step.log_probs, proposal, self.weight)
        seen = (step.attention, step.decoder) if state.trace else (None, ())
        return Step(log_probs, replace(state, model=step.state), *seen)

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities (B, T, V)."""
        looked = evenly(batch.src, batch.src_mask)[:, None].expand(-1, batch.tgt_in.shape[1], -1)  # (B, T, S)
        if self.reading:
            looked = self.reading.of(self.model.attention(batch).cross)
        targets, probs = self.targets[batch.src][:, None], self.probs[batch.src][:, None]  # (B, 1, S, K)
        proposal = lexicon_proposal(looked, targets, probs, self.target_size)  # (B, T, V)
        return blend(self.model(batch).float().log_softmax(dim=-1), proposal, self.weight)


def evenly(src: Tensor, mask: Tensor) -> Tensor:
    """Each source word looked at as much as each other: (B, S) → (B, S)."""
    words = (mask & (src != EOS)).float()
    return words / words.sum(dim=1, keepdim=True).clamp_min(1.0)


# ------------------------------------------------------------------------------------------------ the rules


def rules_in_ids(rules: RuleSystem, tokenizer: Tokenizer) -> Suggest:
    """A rule system's translation of a source, in ids; None where the rules cannot read it."""

    def suggest(source: Sequence[int]) -> Sequence[int] | None:
        said = rules(tokenizer.decode_source(source))
        return None if said is None else tokenizer.encode_target([said])[0]

    return suggest


@dataclass(frozen=True)
class GuidedState:
    model: State
    plan: Tensor  # (N, R) the rules' words, EOS, then NOTHING
    following: Tensor  # (N,) True while the translation is the beginning of the plan
    place: int  # words said so far

    def select(self, rows: Tensor) -> GuidedState:
        picked = {name: getattr(self, name)[rows] for name in ("plan", "following")}
        return replace(self, model=self.model.select(rows), **picked)


@dataclass(frozen=True)
class GuidedMemory(Memory):
    plan: Tensor  # (B, R)
    model: Memory


class Guided(Around):
    """A model whose translation is drawn towards the one that `suggest` makes, where it makes one."""

    def __init__(self, model: Model, suggest: Suggest, weight: float) -> None:
        super().__init__(model)
        check_weight("the weight of the rules", weight)
        self.suggest, self.weight = suggest, weight

    def encode(self, src: Tensor, mask: Tensor) -> GuidedMemory:
        inner = self.model.encode(src, mask)
        return GuidedMemory(inner.states, mask, self.plans(src, mask), inner)

    def plans(self, src: Tensor, mask: Tensor) -> Tensor:
        """(B, S) → (B, R); a row of NOTHING where there is no suggestion."""
        found = []
        for ids, real in zip(src.tolist(), mask.tolist(), strict=True):
            said = self.suggest([i for i, there in zip(ids, real, strict=True) if there and i != EOS])
            found.append([] if said is None else [*said, EOS])
        longest = max(1, *map(len, found))
        return torch.tensor([row + [NOTHING] * (longest - len(row)) for row in found], device=src.device)

    def start(self, memory: Memory, trace: bool = False) -> GuidedState:
        assert isinstance(memory, GuidedMemory)
        everyone = torch.ones(len(memory.plan), dtype=torch.bool, device=memory.plan.device)
        return GuidedState(self.model.start(memory.model, trace), memory.plan, everyone, 0)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, GuidedState)
        step = self.model.step(token, state.model)
        due = planned(state.plan, state.place)  # (N,)
        before = planned(state.plan, state.place - 1) if state.place else torch.full_like(token, BOS)
        following = state.following & (token == before)
        proposal = plan_proposal(due, following, self.target_size)  # (N, V)
        left = replace(state, model=step.state, following=following, place=state.place + 1)
        return step._replace(log_probs=blend(step.log_probs, proposal, self.weight), state=left)

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities (B, T, V)."""
        plan = self.plans(batch.src, batch.src_mask)
        due = torch.stack([planned(plan, t) for t in range(batch.tgt_in.shape[1])], dim=1)  # (B, T)
        before = torch.cat([torch.full_like(due[:, :1], BOS), due[:, :-1]], dim=1)
        following = (batch.tgt_in == before).cummin(dim=1).values  # (B, T)
        proposal = plan_proposal(due, following, self.target_size)
        return blend(self.model(batch).float().log_softmax(dim=-1), proposal, self.weight)


def planned(plan: Tensor, place: int) -> Tensor:
    """(N,) the plan's word at a place, NOTHING behind its end."""
    return plan[:, place] if place < plan.shape[1] else torch.full_like(plan[:, 0], NOTHING)


def plan_proposal(due: Tensor, following: Tensor, size: int) -> Tensor:
    """q is 1 at the word that is due, as long as the plan is followed and has a word: (…) → (…, V)."""
    there = (following & (due != NOTHING)).float()
    return there.new_zeros(*due.shape, size).scatter(-1, due.clamp_min(0)[..., None], there[..., None])
