"""Ablation of attention heads within a `with` block, to measure what they contribute.

    B rows   T queries   H heads   K head size   D = H·K

    zero      the head's output is removed: its K numbers before Wᴼ are 0
    uniform   the head attends to all keys alike: its query is 0, so all scores are equal

`zero` removes all that a head does, `uniform` only its choice of keys. Heads of multi-head attention support both; the
one head of a recurrent model supports only `uniform`, since without its context nothing of the source would be left.
The model declares its heads (`Model.attention_parts`). `zero` uses forward hooks; `uniform` changes the query matrix
and restores it, so the model must not be used elsewhere meanwhile.

Importance (Michel et al. 2019, with log p in place of BLEU) is the drop of log p of given translations. Heads are
chosen on some sentences and compared with random heads on others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from regard.batch import pad_sources
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.hooks import head_output_hook
from regard.explain.mechanisms import head_size
from regard.explain.sentence_pair import Ablation
from regard.explain.trace import Kind
from regard.layers.attention import MultiHeadAttention
from regard.models.attention_parts import AttentionPart, MultiHeadPart, ScorePart
from regard.models.base import Model
from regard.search.forced_decoding import Ids, forced_log_probs
from regard.search.search import greedy
from regard.text.slots import NO_SLOTS, SlotTexts, fill


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
        case MultiHeadPart(attention=attention) if how == "uniform":
            return _without_query(attention, head)
        case MultiHeadPart(attention=attention):
            return attention.output.register_forward_pre_hook(head_output_hook(0.0, head, attention.heads)).remove
        case ScorePart(scores=scores) if how != "zero":
            return scores.register_forward_hook(lambda module, inputs, output: output * 0).remove
        case ScorePart():
            raise InputError('the one head of a recurrent model cannot be cut to zero; how must be "uniform"')
    raise AssertionError("no head of it is known")


def _without_query(attention: MultiHeadAttention, head: int) -> Callable[[], None]:
    """Sets a head's query to 0, so that all keys get the same score. Changes the matrix itself, because a step of a
    search reads it without calling the module."""
    rows = slice(head * head_size(attention), (head + 1) * head_size(attention))
    kept = [(matrix, matrix[rows].clone()) for matrix in (attention.query.weight, attention.query.bias)]

    def put(values: Sequence[Tensor | float]) -> None:
        with torch.no_grad():
            for (matrix, _), value in zip(kept, values, strict=True):
                matrix[rows] = value

    put([0.0, 0.0])
    return lambda: put([was for _, was in kept])


# ------------------------------------------------------------------------------------------------ importance


@dataclass(frozen=True)
class Importance:
    """The importance of each head on some pairs, and the best heads compared with random ones on other pairs."""

    drops: dict[Head, float]  # drop of log p per target token, in nats, when this head alone is ablated; largest first
    best: tuple[Head, ...]  # the most important heads, ablated together …
    best_drop: float  # … on pairs other than those they were chosen on
    random_drops: tuple[float, ...]  # as many random heads per draw, on the same pairs

    @property
    def beaten(self) -> int:
        """The number of random draws that cost less than the best heads."""
        return sum(drop < self.best_drop for drop in self.random_drops)


def importance(
    model: Model,
    pairs: Sequence[tuple[Ids, Ids]],
    held_out: Sequence[tuple[Ids, Ids]],
    count: int = 3,
    draws: int = 10,
    seed: int = 1,
    how: Ablation | None = None,
) -> Importance:
    """Ablates each head on `pairs`, then the `count` costliest and `draws` random sets together on `held_out`."""
    heads = heads_of(model)
    if not heads:
        raise InputError(
            "this model has no head that can be cut; a Transformer has some, and so has recurrent attention"
        )
    count = min(count, len(heads))

    def drop(on: Sequence[tuple[Ids, Ids]], before: float, cut_heads: Sequence[Head]) -> float:
        with ablated(model, cut_heads, how):
            return before - mean_log_prob(model, on)

    whole = mean_log_prob(model, pairs)
    drops = {head: drop(pairs, whole, [head]) for head in heads}
    drops = dict(sorted(drops.items(), key=lambda item: -item[1]))
    best = tuple(drops)[:count]
    whole = mean_log_prob(model, held_out)
    sets = random_heads(heads, count, draws, seed)
    return Importance(drops, best, drop(held_out, whole, best), tuple(drop(held_out, whole, some) for some in sets))


def random_heads(heads: Sequence[Head], count: int, draws: int, seed: int = 1) -> list[list[Head]]:
    rng = random.Random(seed)
    return [sorted(rng.sample(list(heads), count)) for _ in range(draws)]


def mean_log_prob(model: Model, pairs: Sequence[tuple[Ids, Ids]]) -> float:
    """The mean log-probability of a target token in nats, EOS included."""
    rows = forced_log_probs(model, [s for s, _ in pairs], [t for _, t in pairs])
    return float(np.concatenate(rows).mean())


# ------------------------------------------------------------------------------------------------ one sentence


def ablated_output(
    bundle: Bundle,
    source: Ids,
    target: Ids,
    heads: Sequence[Head],
    how: Ablation | None = None,
    slots: SlotTexts = NO_SLOTS,
) -> dict[str, Any]:
    """The drop of log p of the forced target when heads are ablated, and the greedy translation of the ablated model.
    Ids are without EOS."""
    pair = [source], [target]
    src, mask = (tensor.to(bundle.model.device) for tensor in pad_sources([source]))
    before = float(forced_log_probs(bundle.model, *pair)[0].sum())
    with ablated(bundle.model, heads, how):
        after = float(forced_log_probs(bundle.model, *pair)[0].sum())
        (found,) = greedy(bundle.model, src, mask)
    output = fill(bundle.tokenizer.decode(found.ids), slots.target)
    return {"heads": " ".join(map(str, heads)), "drop": before - after, "output": output}
