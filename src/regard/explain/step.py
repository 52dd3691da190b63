"""One look of one head, in numbers: every term of the equation for one query, equal to what the model computed.

    B = 1 sentence   S source   T target   D width   K head size   H heads

The model runs once over the sentence pair while the parts concerned are overheard (`hearing.py`). The terms are then
computed from the model's weights and hidden states by the equation as it is written (`terms.py`), in double precision,
and held against what the model itself had: queries and keys, weights, the weighted sum, the projection. Where any
differs by more than 1e-5 nothing is shown: an explanation that is not the model's is none.

Which part of a model holds what is in `step_models.py`. Not here: ensembles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import InputError, RegardError
from regard.explain.capture import no_attention
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.step_models import Checks, Which, array, has_attention, working
from regard.explain.terms import Array, Term
from regard.models.base import AttentionMaps, Model

TOLERANCE = 1e-5  # of weights; of other numbers relative to the largest of them, where that is above 1


@dataclass(frozen=True)
class Numbers:
    """The working of one look, and how near each part of it is to the model's own."""

    equation: str
    terms: tuple[Term, ...]
    differences: dict[str, float]  # of what was checked, the largest difference

    def term(self, name: str) -> Array:
        return next(term.values for term in self.terms if term.name == name)


@dataclass(frozen=True)
class StepNumbers:
    """The same with words."""

    architecture: str
    which: Which
    source: str
    target: str
    query: str  # which piece asks, in words
    keys: tuple[str, ...]
    numbers: Numbers


def step_numbers(bundle: Bundle, source: str, target_ids: Sequence[int], which: Which) -> StepNumbers:
    """The working of one look while `source` is translated as the target ids (without EOS) say."""
    tokenizer = bundle.tokenizer
    (source_ids,) = tokenizer.encode_source([source])
    if not has_attention(bundle.model):
        raise no_attention(bundle)
    numbers = numbers_of(bundle.model, source_ids, target_ids, which)
    source_pieces = (*(tokenizer.source.pieces[i] for i in source_ids), EOS_LABEL)
    said = [tokenizer.target.pieces[i] for i in target_ids]
    read, predicted = (BOS_LABEL, *said), (*said, EOS_LABEL)
    at = which.position
    asks = f"{source_pieces[at]}" if which.kind == "encoder" else f"read {read[at]}, predicts {predicted[at]}"
    keys = read if which.kind == "decoder" else source_pieces
    return StepNumbers(bundle.architecture, which, source, tokenizer.decode(target_ids), asks, keys, numbers)


@torch.inference_mode()
def numbers_of(model: Model, source: Sequence[int], target: Sequence[int], which: Which) -> Numbers:
    """The same in ids, without BOS and EOS."""
    batch = flat_batch([source], [target]).pad().to(model.device)
    check_which(model.attention(batch), which)
    equation, terms, checks = working(model, batch, which)
    return Numbers(equation, tuple(terms), checked(checks, which))


def check_which(maps: AttentionMaps, which: Which) -> None:
    layers: list[Tensor] = getattr(maps, which.kind)
    kinds = [kind for kind in ("encoder", "decoder", "cross") if getattr(maps, kind)]
    if not layers:
        raise InputError(f"this model has no {which.kind} attention; --kind can be {', '.join(kinds) or 'nothing'}")
    heads, queries = layers[min(max(which.layer, 0), len(layers) - 1)].shape[1:3]
    for name, value, count in (
        ("layer", which.layer, len(layers)),
        ("head", which.head, heads),
        ("position", which.position, queries),
    ):
        if not 0 <= value < count:
            raise InputError(f"--{name} must be from 1 to {count} for {which.kind} attention, but is {value + 1}")


def checked(checks: Checks, which: Which) -> dict[str, float]:
    found = {}
    for name, (ours, theirs) in checks.items():
        own = array(theirs)
        difference = float(np.abs(ours - own).max(initial=0.0)) / max(1.0, float(np.abs(own).max(initial=0.0)))
        if not difference <= TOLERANCE:  # NaN too
            raise RegardError(
                f"{which}: the equation's {name} differ from the model's own by {difference:.1e}, more than "
                f"{TOLERANCE:.0e}, so nothing is shown; please report this with the model"
            )
        found[name] = difference
    return found


def as_dict(step: StepNumbers) -> dict[str, Any]:
    """For JSON: everything in full, numbers to six decimals; null where a score is masked."""
    which, numbers = step.which, step.numbers
    return {
        "architecture": step.architecture,
        "kind": which.kind,
        "layer": which.layer + 1,
        "head": which.head + 1,
        "position": which.position + 1,
        "source": step.source,
        "target": step.target,
        "query": step.query,
        "keys": list(step.keys),
        "equation": numbers.equation,
        "terms": [
            {"name": term.name, "what": term.what, "of_keys": term.of_keys, "values": _rounded(term.values.tolist())}
            for term in numbers.terms
        ],
        "largest_differences": {name: float(f"{value:.1e}") for name, value in numbers.differences.items()},
    }


def _rounded(values: Any) -> Any:
    if isinstance(values, list):
        return [_rounded(value) for value in values]
    return round(values, 6) if np.isfinite(values) else None
