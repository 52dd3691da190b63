"""The interface that every architecture implements and that search, training and explanation rely on.

    B sentences   N = B × beam rows   S source   T target   V target vocabulary   H heads

    forward(batch)      → logits (B, T, V)     teacher forcing, all positions at once
    encode(src, mask)   → Memory               read the source once
    start(memory)       → State                a decoder before its first token, with `beams` rows for each sentence
    step(token, state)  → Step                 read one token: next logits, new state, attention
    state.select(rows)  → State                reorder the rows of each sentence
    state.keep(some)    → State                drop and reorder sentences
    state.join(other)   → State                add sentences
    attention(batch)    → AttentionMaps        every attention weight of a teacher-forced pass
    flops(S, T)         → float                operations of a forward pass

Differences between architectures are declared, so that no code depends on a class:

    has_attention       whether there is attention to the source
    last_layer_aligns   which of several cross-attention layers is used as the alignment
    max_positions       maximum tokens of a sentence, with EOS, if positions are learned
    attention_parts()   the modules of each attention, to ablate heads and to show a step in numbers
    decoder_stack()     the decoder's layers and the map from their states to logits, for layer-wise predictions
    layer_parts()       the modules of every layer, to record what each part of it computes
    outline(S, T)       its modules in the order of the computation, for its diagram

A KV cache, an LSTM cell or a convolution buffer is private to the model's State. Search does not depend on the
architecture. Modules have no state between calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.models.attention_parts import AttentionParts
from regard.models.layer_parts import LayerParts
from regard.models.outline import Outline, module_outline
from regard.models.stack_outline import stack_outline


@dataclass(frozen=True)
class Memory:
    """The encoder's output."""

    states: Tensor  # (B, S, D)
    mask: Tensor  # (B, S) True at real tokens


class State(Protocol):
    """The decoder state between two steps, for B sentences of b rows each: row n belongs to sentence n // b."""

    def select(self, rows: Tensor) -> State:
        """Returns the state whose row i is this one's row `rows[i]` (N,), of the same sentence; rows may repeat. With
        one row for each sentence and no `room`, any rows may be selected."""
        ...

    def keep(self, sentences: Tensor) -> State:
        """Returns the state of the given sentences (M,), in this order, each with all its rows."""
        ...

    def join(self, other: Any) -> State:
        """Returns the state of the sentences of both, this one's first. Each sentence has its own length, and sources
        are padded to the longest. `other` must be of the same model with as many rows for each sentence."""
        ...


@dataclass
class FixedLogits:
    """The memory to which a recorded model writes the logits of every step, so that a search can be recorded too."""

    logits: Tensor  # (at least N, V)
    recordings: dict[Hashable, Any] = field(default_factory=dict)  # what reads them


class Step(NamedTuple):
    """The result of a step. `logits` need not be normalized; log-probabilities are logits too."""

    logits: Tensor  # (N, V) of the next token
    state: State
    attention: Tensor | None  # (N, L, H, S) cross-attention of this step, if the state was started with trace=True
    decoder: tuple[Tensor, ...] = ()  # per layer (N, H, t): self-attention to the t tokens read, if there is any
    fixed: FixedLogits | None = None  # where the logits of every step are, if they are always there

    @property
    def log_probs(self) -> Tensor:
        """Log-probabilities (N, V) in float32, or in float64 if the logits are."""
        return self.logits.log_softmax(dim=-1, dtype=torch.promote_types(self.logits.dtype, torch.float32))


@dataclass(frozen=True)
class AttentionMaps:
    """All attention weights of a teacher-forced pass: one tensor (B, H, queries, keys) per layer; each row sums to 1. A
    kind that a model does not have is an empty list.

    Row t of `cross` and `decoder` is the query of the position that reads tgt_in[t] and predicts tgt_out[t].
    """

    encoder: list[Tensor]  # (B, H, S, S)
    decoder: list[Tensor]  # (B, H, T, T)
    cross: list[Tensor]  # (B, H, T, S)


class DecoderStack(NamedTuple):
    """A decoder whose layers all update one state per position, and the map from such a state to logits."""

    layers: Sequence[nn.Module]  # each maps states (B, T, D) to states, or to a tuple that begins with them
    norm: nn.Module
    output: nn.Module


class Model(nn.Module, ABC):
    """An encoder–decoder with the interface above."""

    target_size: int
    has_attention = True  # whether `attention` and traced steps return cross-attention
    max_positions: int | None = None  # maximum tokens of either side; None: no limit
    trainings = 0  # number of switches to training mode: the weights may have changed since
    last_layer_aligns = False  # the last cross-attention layer aligns best; otherwise the one before it does
    fixed_logits = False  # whether the logits of every step are at one address, so that the search can be recorded too

    @abstractmethod
    def encode(self, src: Tensor, mask: Tensor) -> Memory: ...

    @abstractmethod
    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> State:
        """Returns the state before the first token. Tensors of the source are stored once for each sentence. Without
        `room` a state is immutable. With it, memory for `room` tokens may be allocated at once, and `step`, `select`,
        `keep` and `join` may modify the state in place: only their result may be used afterwards."""
        ...

    @abstractmethod
    def step(self, token: Tensor, state: State) -> Step: ...

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor: ...

    @abstractmethod
    def attention(self, batch: Batch) -> AttentionMaps: ...

    @abstractmethod
    def flops(self, source: int, target: int) -> float:
        """Returns the operations of a forward pass over one sentence pair of these lengths (with EOS); a multiply-add
        counts as two. Matrix products only, as in the papers; training costs three times this."""
        ...

    def most_sentences(self, beams: int, source: int, room: int) -> int | None:
        """Returns how many sentences of `source` tokens, with room for `room` output tokens, can be searched at a time,
        if their memory is fixed; None: any number."""
        return None

    def attention_parts(self) -> AttentionParts:
        """Returns the modules of each attention, by kind and layer. If it is empty, attention can be shown, but heads
        cannot be ablated and steps cannot be shown in numbers."""
        return {}

    def decoder_stack(self) -> DecoderStack | None:
        """Returns the decoder's layers; None if the output does not read a layer's state, as in recurrent models."""
        return None

    def layer_parts(self) -> LayerParts | None:
        """Returns the modules of every layer; None if its layers are not residual sublayers."""
        return None

    def outline(self, source: int, target: int) -> Outline:
        """Returns the modules in the order of the computation, for a sentence pair of these lengths (with EOS); by
        default those of `layer_parts`, or else in the order of their declaration, without operations."""
        stack = self.layer_parts()
        return module_outline(self) if stack is None else stack_outline(stack, source, target)

    def train(self, mode: bool = True) -> Self:
        """As in torch, and counts the calls, since a fused optimizer does not update torch's version counters."""
        self.trainings += mode
        return super().train(mode)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def parameter_count(self) -> int:
        """Returns the number of trainable parameters; a shared matrix counts once."""
        return sum(p.numel() for p in self.parameters())


class ModelWrapper(Model):
    """A model that wraps another one and changes its steps; methods that it does not define are the inner model's."""

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

    def layer_parts(self) -> LayerParts | None:
        return self.model.layer_parts()

    def flops(self, source: int, target: int) -> float:
        return self.model.flops(source, target)

    def outline(self, source: int, target: int) -> Outline:
        return self.model.outline(source, target)


class RowModel(Model):
    """A model that supports sentences that share a row (`batch.Shared`), and exposes the factors of its logits, so that
    a loss need not store all of them."""

    @abstractmethod
    def states(self, batch: Batch) -> Tensor:
        """Returns the states (B, T, D) whose products with `output_matrix` are the logits."""
        ...

    @property
    @abstractmethod
    def output_matrix(self) -> Tensor:
        """(V, D)"""
        ...


def unique_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Returns the model's tensors by name, a shared one once, under its first name."""
    named: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor
    return named
