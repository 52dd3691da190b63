"""A model whose probabilities are mixed with those of a learnt lexicon (Arthur et al. 2016) or of a rule system.

    P'(w) = (1 − λ m) P(w) + λ q(w)        m = Σ_w q(w) ≤ 1

    lexicon:  q(w) = Σ_s a_s t(w | x_s)    a: the model's cross-attention at this step, t: the lexicon
    rules:    q(w) = 1 for the next token of the rules' translation, as long as all tokens before it were produced

Where q has no mass (a token without entries, a sentence that the rules cannot parse, a translation that differs from
theirs) m is small or 0 and the model's own probabilities take its share; with m = 1 it is Arthur et al.'s
interpolation. For a model without attention, a_s is uniform over the source without EOS. EOS has no entry in the
lexicon, because many models attend to EOS when a word has no source.

Both wrappers satisfy the model contract, so search treats them as a model. Like an ensemble's, their `forward` returns
log-probabilities. They are not meant for training. A weight of 0 needs no wrapper.

    B sentences   N = B × beam rows   S source   T target   V target vocabulary   K entries of a token   R plan length
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.batch import BOS, EOS, Batch
from regard.models.base import Memory, Model, ModelWrapper, State, Step
from regard.models.state import BatchState, inner, per_row, per_sentence, repeat_rows
from regard.search.alignment_heads import AlignmentHeads
from regard.search.token_lexicon import IdTable
from regard.text.tokenizer import Tokenizer

NO_TOKEN = -1  # in a plan: after its end
RuleSystem = Callable[[str], str | None]  # a sentence → its translation, or None if it cannot be parsed
Suggest = Callable[[Sequence[int]], Sequence[int] | None]  # source ids, without EOS → target ids, without EOS


def blend(log_probs: Tensor, proposal: Tensor, weight: float) -> Tensor:
    """Returns log P' from log P and q, each (…, V). Where q is 0 everywhere, the result is exactly log P."""
    kept = log_probs + torch.log1p(-weight * proposal.sum(dim=-1, keepdim=True).clamp(max=1.0))
    tiny = torch.finfo(proposal.dtype).tiny  # below it the logarithm has no gradient
    raised = torch.logaddexp(kept, (weight * proposal).clamp_min(tiny).log())
    return torch.where(proposal > 0, raised, kept)


# ------------------------------------------------------------------------------------------------ the lexicon


def lexicon_proposal(attention: Tensor, targets: Tensor, probs: Tensor, size: int) -> Tensor:
    """q(w) = Σ_s a_s t(w | x_s): a (…, S), the entries of each source token (…, S, K) → (…, V)."""
    shares = (attention[..., None] * probs).flatten(-2)  # (…, S·K)
    return shares.new_zeros(*shares.shape[:-1], size).scatter_add(-1, targets.flatten(-2).expand_as(shares), shares)


@dataclass(frozen=True)
class LexiconSteeredState(BatchState):
    trace: bool
    model: State = inner()
    uniform: Tensor = per_sentence(grows=1)  # (B, S) used where the model has no attention
    targets: Tensor = per_sentence(grows=1)  # (B, S, K)
    probs: Tensor = per_sentence(grows=1)  # (B, S, K)


@dataclass(frozen=True)
class LexiconSteeredMemory(Memory):
    src: Tensor  # (B, S)
    model: Memory


class LexiconSteered(ModelWrapper):
    """A model mixed with a lexicon; `heads` are the attention heads that give the alignment."""

    targets: Tensor  # (source vocabulary, K)
    probs: Tensor  # (source vocabulary, K)

    def __init__(self, model: Model, table: IdTable, heads: AlignmentHeads, weight: float) -> None:
        super().__init__(model)
        self.heads, self.weight = heads, weight
        self.register_buffer("targets", table.targets.to(model.device))
        self.register_buffer("probs", table.probs.to(model.device))

    def encode(self, src: Tensor, mask: Tensor) -> LexiconSteeredMemory:
        inner = self.model.encode(src, mask)
        return LexiconSteeredMemory(inner.states, mask, src, inner)

    def start(
        self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None
    ) -> LexiconSteeredState:
        assert isinstance(memory, LexiconSteeredMemory)
        state = self.model.start(memory.model, trace=trace or bool(self.heads), beams=beams, room=room)
        src = memory.src
        uniform = uniform_attention(src, memory.mask)
        return LexiconSteeredState(beams, trace, state, uniform, self.targets[src], self.probs[src])

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, LexiconSteeredState)
        step = self.model.step(token, state.model)
        weights = state.uniform[:, None].expand(-1, state.beams, -1)  # (B, b, S)
        if self.heads:
            assert step.attention is not None
            weights = self.heads.average(step.attention.unbind(dim=1)).view(*weights.shape[:2], -1)
        proposal = lexicon_proposal(weights, state.targets[:, None], state.probs[:, None], self.target_size)
        log_probs = blend(step.log_probs, proposal.flatten(0, 1), self.weight)  # (B, b, V) → (N, V)
        traced = (step.attention, step.decoder) if state.trace else (None, ())
        return Step(log_probs, replace(state, model=step.state), *traced)

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities (B, T, V)."""
        if self.heads:
            weights = self.heads.average(self.model.attention(batch).cross)  # (B, T, S)
        else:
            weights = uniform_attention(batch.src, batch.src_mask)[:, None].expand(-1, batch.tgt_in.shape[1], -1)
        targets, probs = self.targets[batch.src][:, None], self.probs[batch.src][:, None]  # (B, 1, S, K)
        proposal = lexicon_proposal(weights, targets, probs, self.target_size)  # (B, T, V)
        return blend(self.model(batch).float().log_softmax(dim=-1), proposal, self.weight)


def uniform_attention(src: Tensor, mask: Tensor) -> Tensor:
    """Returns equal weights for all source tokens but EOS: (B, S) → (B, S)."""
    tokens = (mask & (src != EOS)).float()
    return tokens / tokens.sum(dim=1, keepdim=True).clamp_min(1.0)


# ------------------------------------------------------------------------------------------------ the rules


def rules_in_ids(rules: RuleSystem, tokenizer: Tokenizer) -> Suggest:
    """Returns a function that translates source ids by a rule system, or returns None if it cannot parse them."""

    def suggest(source: Sequence[int]) -> Sequence[int] | None:
        translation = rules(tokenizer.decode_source(source))
        return None if translation is None else tokenizer.encode_target([translation])[0]

    return suggest


@dataclass(frozen=True)
class RuleSteeredState(BatchState):
    model: State = inner()
    plan: Tensor = per_sentence(grows=1, fill=NO_TOKEN)  # (B, R) the rules' tokens, EOS, then NO_TOKEN
    due: Tensor = per_sentence()  # (B,) the position of the plan's next token
    following: Tensor = per_row()  # (N,) True while the translation is the beginning of the plan


@dataclass(frozen=True)
class RuleSteeredMemory(Memory):
    plan: Tensor  # (B, R)
    model: Memory


class RuleSteered(ModelWrapper):
    """A model mixed with the translation returned by `suggest`, if there is one."""

    def __init__(self, model: Model, suggest: Suggest, weight: float) -> None:
        super().__init__(model)
        self.suggest, self.weight = suggest, weight

    def encode(self, src: Tensor, mask: Tensor) -> RuleSteeredMemory:
        inner = self.model.encode(src, mask)
        return RuleSteeredMemory(inner.states, mask, self.plans(src, mask), inner)

    def plans(self, src: Tensor, mask: Tensor) -> Tensor:
        """(B, S) → (B, R); a row of NO_TOKEN where nothing is suggested."""
        found = []
        for ids, real in zip(src.tolist(), mask.tolist(), strict=True):
            target = self.suggest([i for i, is_token in zip(ids, real, strict=True) if is_token and i != EOS])
            found.append([] if target is None else [*target, EOS])
        longest = max(1, *map(len, found))
        return torch.tensor([row + [NO_TOKEN] * (longest - len(row)) for row in found], device=src.device)

    def start(
        self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None
    ) -> RuleSteeredState:
        assert isinstance(memory, RuleSteeredMemory)
        due = torch.zeros(len(memory.plan), dtype=torch.long, device=memory.plan.device)
        following = torch.ones(len(memory.plan) * beams, dtype=torch.bool, device=memory.plan.device)
        inside = self.model.start(memory.model, trace, beams=beams, room=room)
        return RuleSteeredState(beams, inside, memory.plan, due, following)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, RuleSteeredState)
        step = self.model.step(token, state.model)
        due, before = planned(state.plan, state.due), planned(state.plan, state.due - 1)  # (B,)
        following = state.following & (token == repeat_rows(before, state.beams))
        proposal = plan_proposal(repeat_rows(due, state.beams), following, self.target_size)  # (N, V)
        left = replace(state, model=step.state, following=following, due=state.due + 1)
        return step._replace(logits=blend(step.log_probs, proposal, self.weight), state=left)

    def forward(self, batch: Batch) -> Tensor:
        """Log-probabilities (B, T, V)."""
        plan = self.plans(batch.src, batch.src_mask)
        places = torch.arange(batch.tgt_in.shape[1], device=plan.device)
        due = torch.stack([planned(plan, place.expand(len(plan))) for place in places], dim=1)  # (B, T)
        before = torch.cat([torch.full_like(due[:, :1], BOS), due[:, :-1]], dim=1)
        following = (batch.tgt_in == before).cummin(dim=1).values  # (B, T)
        proposal = plan_proposal(due, following, self.target_size)
        return blend(self.model(batch).float().log_softmax(dim=-1), proposal, self.weight)


def planned(plan: Tensor, position: Tensor) -> Tensor:
    """Returns each plan's token (B,) at a position (B,): BOS before its beginning, NO_TOKEN after its end.

    >>> planned(torch.tensor([[7, 2], [8, 9]]), torch.tensor([-1, 1])).tolist()
    [1, 9]
    """
    last = plan.shape[1] - 1
    inside = plan.gather(1, position.clamp(0, last)[:, None])[:, 0]
    return inside.masked_fill(position < 0, BOS).masked_fill(position > last, NO_TOKEN)


def plan_proposal(due: Tensor, following: Tensor, size: int) -> Tensor:
    """Returns q: 1 for the token that is due, as long as the plan is followed and has not ended: (…) → (…, V)."""
    mass = (following & (due != NO_TOKEN)).float()
    return mass.new_zeros(*due.shape, size).scatter(-1, due.clamp_min(0)[..., None], mass[..., None])
