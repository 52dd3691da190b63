"""How important the heads of a model are: what given translations lose without them (Michel et al. 2019, with log p in
place of BLEU).

Heads are chosen on some sentences and compared with random heads on others. `ablation.py` cuts them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.batch import pad_sources
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.ablation import Head, ablated, heads_of
from regard.explain.sentence_pair import Ablation
from regard.models.base import Model
from regard.search.forced_decoding import Ids, forced_log_probs
from regard.search.search import greedy
from regard.text.slots import NO_SLOTS, SlotTexts, fill


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
