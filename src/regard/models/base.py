"""The contract that every architecture keeps and that search, training and explanation rely on.

    B sentences   N = B × beam rows   S source   T target   V target vocabulary   H heads

    forward(batch)      → logits (B, T, V)     teacher forcing, all positions at once
    encode(src, mask)   → Memory               read the source once
    start(memory)       → State                a decoder before its first token, with `beams` rows for each sentence
    step(token, state)  → Step                 read one token: next logits, new state, attention
    state.select(rows)  → State                rows of a sentence change places
    state.keep(some)    → State                sentences are dropped and reordered
    state.join(other)   → State                sentences are added
    attention(batch)    → AttentionMaps        every attention weight of a teacher-forced pass
    flops(S, T)         → float                operations of a forward pass

What differs between architectures is declared, so that nobody asks for a class:

    has_attention       whether there is attention to the source
    last_layer_aligns   which of several cross-attention layers is read as the alignment
    max_positions       tokens of the longest sentence, EOS counted, where positions are learned
    attention_parts()   the modules of each attention, for cutting heads and for writing a step out in numbers
    decoder_stack()     the decoder's layers and what makes logits of their states, for reading them layer by layer

A KV cache, an LSTM cell or a convolution buffer is private to the model's State. Search never asks which model it
holds. Modules remember nothing between calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.models.attention_parts import AttentionParts


@dataclass(frozen=True)
class Memory:
    """The encoder's output."""

    states: Tensor  # (B, S, D)
    mask: Tensor  # (B, S) True at real tokens


class State(Protocol):
    """What a decoder keeps between two steps, for B sentences of b rows each: row n belongs to sentence n // b."""

    def select(self, rows: Tensor) -> State:
        """The state whose row i is this one's row `rows[i]` (N,), a row of the same sentence; rows may repeat. With one
        row for each sentence and no `room`, any rows may be selected."""
        ...

    def keep(self, sentences: Tensor) -> State:
        """The state of the given sentences (M,), in this order, each with all its rows."""
        ...

    def join(self, other: Any) -> State:
        """The state of the sentences of both, this one's first. Each sentence has its own length, and the sources are
        padded to the longest. `other` was started by the same model with as many rows for each sentence."""
        ...


class Step(NamedTuple):
    """What a step gives. `logits` need not be normalized; log-probabilities are logits too."""

    logits: Tensor  # (N, V) of the next token
    state: State
    attention: Tensor | None  # (N, L, H, S) cross-attention of this step, when the state was started with trace=True
    decoder: tuple[Tensor, ...] = ()  # per layer (N, H, t): self-attention to the t tokens read, where there is any

    @property
    def log_probs(self) -> Tensor:
        """(N, V) in float32, or in what is finer."""
        return self.logits.log_softmax(dim=-1, dtype=torch.promote_types(self.logits.dtype, torch.float32))


@dataclass(frozen=True)
class AttentionMaps:
    """Every attention of a teacher-forced pass: one tensor (B, H, queries, keys) per layer; each row sums to 1. A kind
    that a model does not have is an empty list.

    Row t of `cross` and `decoder` is the query of the position that reads tgt_in[t] and predicts tgt_out[t].
    """

    encoder: list[Tensor]  # (B, H, S, S)
    decoder: list[Tensor]  # (B, H, T, T)
    cross: list[Tensor]  # (B, H, T, S)


class DecoderStack(NamedTuple):
    """A decoder whose layers all write into one state per position, and what makes logits of such a state."""

    layers: Sequence[nn.Module]  # each takes states (B, T, D) and returns them, or a tuple that begins with them
    norm: nn.Module
    output: nn.Module


class Model(nn.Module, ABC):
    """An encoder–decoder on the contract above."""

    target_size: int
    has_attention = True  # `attention` gives cross-attention, and so does a step that is traced
    max_positions: int | None = None  # tokens that either side may have; None: any number
    trainings = 0  # times that it was put into training: its weights may be others since
    last_layer_aligns = False  # the last cross-attention layer aligns best; otherwise the one before it does
    fixed_logits = False  # the logits of every step of a search lie in the same place, so that what follows can too

    @abstractmethod
    def encode(self, src: Tensor, mask: Tensor) -> Memory: ...

    @abstractmethod
    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> State:
        """Before the first token. What is read of the source is held once for each sentence. Without `room` a state is
        pure: it stays as it is, whatever is made of it. With it, memory for so many tokens may be taken at once, and a
        state is used up by `step`, `select`, `keep` and `join`, which may write into it."""
        ...

    @abstractmethod
    def step(self, token: Tensor, state: State) -> Step: ...

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor: ...

    @abstractmethod
    def attention(self, batch: Batch) -> AttentionMaps: ...

    @abstractmethod
    def flops(self, source: int, target: int) -> float:
        """Operations of a forward pass over one sentence pair of so many tokens (EOS counted), a multiplication and an
        addition counted as two. Matrix products only, as in the papers; training costs three times this."""
        ...

    def most_sentences(self, beams: int, source: int, room: int) -> int | None:
        """How many sentences of so many source tokens, with room for so many said, can be searched at a time from now
        on, where the memory for them is fixed; None: any number."""
        return None

    def attention_parts(self) -> AttentionParts:
        """Each attention by kind and layer, as the modules that compute it. Where a model leaves it empty, attention
        can be shown, but heads cannot be cut and steps cannot be written out."""
        return {}

    def decoder_stack(self) -> DecoderStack | None:
        """None where a layer's state is not what the output reads, as in recurrent models."""
        return None

    def train(self, mode: bool = True) -> Self:
        """As in torch; and count it, since a fused optimizer changes weights without torch's own count of changes."""
        self.trainings += mode
        return super().train(mode)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        """Numbers that training changes; a shared matrix counts once."""
        return sum(p.numel() for p in self.parameters())


class ModelWrapper(Model):
    """A model that wraps another one and changes its steps; whatever it does not define is that of the inner model."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model, self.target_size, self.training = model, model.target_size, model.training
        self.has_attention, self.last_layer_aligns = model.has_attention, model.last_layer_aligns
        self.max_positions = model.max_positions

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        return self.model.encode(src, mask)

    def forward(self, batch: Batch) -> Tensor:
        logits: Tensor = self.model(batch)
        return logits

    def attention(self, batch: Batch) -> AttentionMaps:
        return self.model.attention(batch)

    def attention_parts(self) -> AttentionParts:
        return self.model.attention_parts()

    def decoder_stack(self) -> DecoderStack | None:
        return self.model.decoder_stack()

    def flops(self, source: int, target: int) -> float:
        return self.model.flops(source, target)


class RowModel(Model):
    """A model that keeps sentences apart that share a row (`batch.Shared`), and gives the factors of its logits, so
    that a loss need not hold all of them."""

    @abstractmethod
    def states(self, batch: Batch) -> Tensor:
        """(B, T, D); times `output_matrix` they are the logits."""
        ...

    @property
    @abstractmethod
    def output_matrix(self) -> Tensor:
        """(V, D)"""
        ...


def unique_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The model's tensors by name, a shared one once, under its first name."""
    named: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor
    return named
