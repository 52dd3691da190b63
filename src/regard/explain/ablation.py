"""Removes parts of a loaded model within a `with` block, to measure what they contribute.

    B rows   T queries   H heads   K head size   D = H·K

Heads are cut in one of two ways:

    zero      the head's output is removed: its K numbers before Wᴼ are 0
    uniform   the head attends to all keys alike: its query is 0, so all scores are equal

`zero` removes all that a head does, `uniform` only its choice of keys. Heads of multi-head attention support both; the
one head of a recurrent model supports only `uniform`, since without its context nothing of the source would be left.

`with_changes` weakens or removes other parts: the scaling of scores, the causal mask, positions, residual sums. A model
declares its parts (`Model.attention_parts`, `Model.layer_parts`). Query matrices are changed and restored, so the model
must not be used elsewhere meanwhile; everything else uses forward hooks. `course/claims/ablations.py` removes parts for
training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from regard.errors import InputError
from regard.explain.hooks import head_output_hook
from regard.explain.mechanisms import head_size
from regard.explain.sentence_pair import Ablation
from regard.explain.trace import Kind
from regard.layers.attention import MultiHeadAttention
from regard.layers.residual import Residual
from regard.models.attention_parts import AttentionPart, MultiHeadPart, ScorePart
from regard.models.base import Model


@dataclass(frozen=True, order=True)
class Head:
    """One attention head. Layers and heads count from 0 here and from 1 in output."""

    kind: Kind
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.layer + 1}:{self.head + 1}"


def parse_head(words: str) -> Head:
    """
    >>> parse_head("encoder:2:1")
    Head(kind='encoder', layer=1, head=0)
    """
    kind, *numbers = words.split(":")
    good = len(numbers) == 2 and all(n.isascii() and n.isdecimal() and int(n) >= 1 for n in numbers)
    if kind not in get_args(Kind) or not good:
        raise InputError(f'a head is written KIND:LAYER:HEAD from 1, such as encoder:2:1, but is "{words}"')
    return Head(kind, int(numbers[0]) - 1, int(numbers[1]) - 1)  # type: ignore[arg-type]  # checked above


def heads_of(model: Model) -> list[Head]:
    """Every head that can be ablated, in the order of the model's layers."""
    return [
        Head(kind, layer, head)
        for (kind, layer), part in model.attention_parts().items()
        if isinstance(part, (MultiHeadPart, ScorePart))
        for head in range(part.heads)
    ]


@contextmanager
def ablated(model: Model, heads: Sequence[Head], how: Ablation | None = None) -> Iterator[None]:
    """Ablates `heads` within the block: by `how`, or by default `zero` where that is possible."""
    parts = model.attention_parts()
    known = set(heads_of(model))
    with ExitStack() as hooks:
        for head in heads:
            if head not in known:
                have = f"{min(map(str, known))} … {max(map(str, known))}" if known else "none that can be cut"
                raise InputError(f"there is no head {head} in this model; it has {have}")
            part = parts[head.kind, head.layer]
            hooks.callback(_ablate_head(part, head.head, how))
        yield


def _ablate_head(part: AttentionPart, head: int, how: Ablation | None) -> Callable[[], None]:
    """Ablates one head and returns a function that restores it."""
    match part:
        case MultiHeadPart(attention=attention) if how == "uniform":  # its query is 0: all keys get the same score
            size = head_size(attention)
            return _scale_query(attention, 0.0, slice(head * size, (head + 1) * size))
        case MultiHeadPart(attention=attention):
            return attention.output.register_forward_pre_hook(head_output_hook(0.0, head, attention.heads)).remove
        case ScorePart() if how != "zero":
            return _scale_scores(part, 0.0)
        case ScorePart():
            raise InputError('the one head of a recurrent model cannot be cut to zero; how must be "uniform"')
    raise AssertionError("no head of it is known")


def _scale_query(attention: MultiHeadAttention, factor: float, rows: slice = slice(None)) -> Callable[[], None]:
    """Multiplies queries, and so scores, by a factor. Changes the matrix itself, because a step of a search reads it
    without calling the module."""
    kept = [(matrix, matrix[rows].clone()) for matrix in (attention.query.weight, attention.query.bias)]

    def put(values: Sequence[Tensor]) -> None:
        with torch.no_grad():
            for (matrix, _), value in zip(kept, values, strict=True):
                matrix[rows] = value

    put([was * factor for _, was in kept])
    return lambda: put([was for _, was in kept])


# ── parts of layers ───────────────────────────────────────────────────────────────────────────────────────────────────

Side = Literal["encoder", "decoder"]


@dataclass(frozen=True)
class PartChanges:
    """Changes of a model's parts; the defaults change nothing. Layers count from 0."""

    scores: float = 1.0  # factor of all attention scores: √d_k undoes the scaling, 0 makes all weights equal
    mask: bool = True  # False: a position of the decoder attends to the later ones too
    positions: float = 1.0  # factor of the vectors that are added to the embeddings; 0: no positions
    residual: float = 1.0  # factor of x in x + f(x); 0: f(x) alone
    residual_at: tuple[Side, int | None] | None = None  # of one side or layer; None: of all layers
    heads: tuple[Head, ...] = ()  # heads that are cut


@dataclass(frozen=True)
class RemovableParts:
    """The parts of a model that `with_changes` can change."""

    scores: bool
    mask: bool
    positions: bool
    residual: dict[Side, int]  # layers of each side
    heads: list[Head]
    key_size: int | None = None  # d_k of heads with scaled scores


def removable_parts(model: Model) -> RemovableParts:
    attention, stack = model.attention_parts(), model.layer_parts()
    scaled = [part for part in attention.values() if isinstance(part, MultiHeadPart)]
    return RemovableParts(
        scores=any(isinstance(part, (MultiHeadPart, ScorePart)) for part in attention.values()),
        mask=any(part.causal for part in scaled),
        positions=stack is not None and stack.added_positions is not None,
        residual={} if stack is None else {"encoder": len(stack.encoder.layers), "decoder": len(stack.decoder.layers)},
        heads=heads_of(model),
        key_size=head_size(scaled[0].attention) if scaled else None,
    )


@contextmanager
def with_changes(model: Model, changes: PartChanges) -> Iterator[None]:
    """Changes parts of the model within the block; raises InputError for a part that it does not have."""
    attention, stack = model.attention_parts(), model.layer_parts()
    with ablated(model, changes.heads), ExitStack() as hooks:
        if changes.scores != 1:
            for part in _require(attention, "attention scores").values():
                hooks.callback(_scale_scores(part, changes.scores))
        if not changes.mask:
            parts = [part for part in attention.values() if isinstance(part, MultiHeadPart) and part.causal]
            for part in _require(parts, "causal mask"):
                unmask = part.attention.register_forward_pre_hook(
                    lambda module, inputs, named: (inputs, {**named, "causal": False}), with_kwargs=True
                )
                hooks.callback(unmask.remove)
        if changes.positions != 1:
            added = _require(stack and stack.added_positions, "added positions")
            hooks.callback(added.register_forward_hook(_weaker_sum(changes.positions, of_input=False)).remove)
        if changes.residual != 1:
            for residual in _residuals(model, changes.residual_at):
                hooks.callback(_weaken_residual(residual, changes.residual))
        yield


def _require(part: Any, name: str) -> Any:
    if not part:
        raise InputError(f"this model has no {name} that could be changed; a Transformer has")
    return part


def _scale_scores(part: AttentionPart, factor: float) -> Callable[[], None]:
    match part:
        case MultiHeadPart(attention=attention):
            return _scale_query(attention, factor)
        case ScorePart(scores=scores):
            return scores.register_forward_hook(lambda module, inputs, output: output * factor).remove
    raise InputError("the scores of this model cannot be changed; those of a Transformer or an attentive RNN can")


def _weaker_sum(factor: float, of_input: bool) -> Callable[[nn.Module, Any, Tensor], Tensor]:
    """Returns a hook on a module that computes x + y: x is multiplied by the factor (`of_input`), or else y."""

    def hook(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        x: Tensor = inputs[0]
        return output - (1 - factor) * (x if of_input else output - x)

    return hook


def _residuals(model: Model, at: tuple[Side, int | None] | None) -> list[Residual]:
    stack = _require(model.layer_parts(), "residual sums")
    sides = {"encoder": stack.encoder.layers, "decoder": stack.decoder.layers}
    side, layer = at or (None, None)
    if side is not None and layer is not None and not 0 <= layer < len(sides[side]):
        raise InputError(f"the {side} of this model has layers 1 to {len(sides[side])}, but not {layer + 1}")
    return [
        sublayer.residual
        for name, layers in sides.items()
        for number, sublayers in enumerate(layers)
        if side in (None, name) and layer in (None, number)
        for sublayer in sublayers
    ]


def _weaken_residual(residual: Residual, factor: float) -> Callable[[], None]:
    if not residual.post:
        return residual.register_forward_hook(_weaker_sum(factor, of_input=True)).remove

    def before(module: nn.Module, inputs: Any) -> Any:  # its norm reads the sum
        x, sublayer = inputs
        return x, lambda y: sublayer(y) - (1 - factor) * y

    return residual.register_forward_pre_hook(before).remove
