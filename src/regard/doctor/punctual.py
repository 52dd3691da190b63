"""A model that ends each translation at a given length, so that a search can be timed with an untrained model.

An untrained model hardly ever predicts EOS, so its translations grow to the limit and a search takes several times as
long as after training. Here EOS has probability 0 before `ratio` × the source's length, and 1 from there on. Every step
is otherwise the model's own, so its time is right. The translations are of no use.

    B sentences   N = B × beam rows   S source   V target vocabulary
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.batch import EOS
from regard.models.base import Memory, Model, ModelWrapper, State, Step
from regard.models.state import BatchState, inner, per_sentence, repeat_rows


@dataclass(frozen=True)
class PunctualState(BatchState):
    model: State = inner()
    left: Tensor = per_sentence()  # (B,) words before EOS


@dataclass(frozen=True)
class PunctualMemory(Memory):
    model: Memory


class Punctual(ModelWrapper):
    def __init__(self, model: Model, ratio: float) -> None:
        super().__init__(model)
        self.ratio = ratio

    def encode(self, src: Tensor, mask: Tensor) -> PunctualMemory:
        inner = self.model.encode(src, mask)
        return PunctualMemory(inner.states, mask, inner)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> PunctualState:
        assert isinstance(memory, PunctualMemory)
        left = (memory.mask.sum(dim=1) * self.ratio).round().long()  # (B,)
        return PunctualState(beams, self.model.start(memory.model, trace, beams=beams, room=room), left)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, PunctualState)
        step = self.model.step(token, state.model)
        due = repeat_rows(state.left <= 1, state.beams)  # (N,)
        logits = step.logits.masked_fill(due[:, None], -torch.inf)  # (N, V)
        logits[:, EOS] = torch.where(due, 0.0, -torch.inf)
        return step._replace(logits=logits, state=replace(state, model=step.state, left=state.left - 1))
