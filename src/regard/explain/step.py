"""One query of one attention head in numbers: every term of its equation, checked against the model.

    B = 1 sentence   S source   T target   D width   K head size   H heads

The model runs once over the sentence pair while the modules concerned are recorded (`hooks.py`). The terms are then
computed from the model's weights and hidden states by the equation (`terms.py`, `mechanisms.py`), in double precision,
and compared with the model's own values: queries and keys, weights, the weighted sum, the projection. If any differs
by more than 1e-5, nothing is shown. Ensembles are not supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.errors import InputError, RegardError
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.mechanisms import Checks, Query, array, attention_terms
from regard.explain.terms import Array, Term
from regard.explain.trace import Trace, no_attention
from regard.models.attention_parts import MultiHeadPart
from regard.models.base import AttentionMaps, Model
from regard.report.json import rounded
from regard.text.slots import NO_SLOTS, SlotTexts, fill

TOLERANCE = 1e-5  # for weights; for other numbers relative to the largest of them, if that is above 1


@dataclass(frozen=True)
class Numbers:
    """The terms of one query, and their differences from the model's own values."""

    equation: str
    terms: tuple[Term, ...]
    differences: dict[str, float]  # the largest difference of each checked term

    def term(self, name: str) -> Array:
        return next(term.values for term in self.terms if term.name == name)


@dataclass(frozen=True)
class StepNumbers:
    """The numbers of one query, with the labels of its query and keys."""

    architecture: str
    query: Query
    source: str
    target: str
    query_label: str  # the piece that attends
    keys: tuple[str, ...]
    numbers: Numbers


def step_numbers(
    bundle: Bundle,
    source: str,
    target_ids: Sequence[int],
    query: Query,
    slots: SlotTexts = NO_SLOTS,
    trace: Trace | None = None,
) -> StepNumbers:
    """The numbers of one query when `source`, as the model reads it, is translated to the target ids (without EOS).
    `trace` is that of the pair, if it is known."""
    tokenizer = bundle.tokenizer
    (source_ids,) = tokenizer.encode_source([source])
    if not bundle.model.has_attention:
        raise no_attention(bundle)
    numbers = query_numbers(bundle.model, source_ids, target_ids, query, trace)
    source_pieces = (*tokenizer.source.labels(source_ids, slots.source), EOS_LABEL)
    pieces = tokenizer.target.labels(target_ids, slots.target)
    read, predicted = (BOS_LABEL, *pieces), (*pieces, EOS_LABEL)
    at = query.position
    query_label = f"{source_pieces[at]}" if query.kind == "encoder" else f"read {read[at]}, predicts {predicted[at]}"
    keys = read if query.kind == "decoder" else source_pieces
    texts = fill(source, slots.source), fill(tokenizer.decode(target_ids), slots.target)
    return StepNumbers(bundle.architecture, query, *texts, query_label, keys, numbers)


MOST_WORDS = 40  # for which the output of every word is computed


def self_attention_outputs(bundle: Bundle, source: str, target_ids: Sequence[int], query: Query) -> Array | None:
    """The new vector of every word (S, D) in the encoder's self-attention; None for other kinds and long sentences."""
    (source_ids,) = bundle.tokenizer.encode_source([source])
    part = bundle.model.attention_parts().get((query.kind, query.layer))
    if query.kind != "encoder" or not isinstance(part, MultiHeadPart) or len(source_ids) >= MOST_WORDS:
        return None
    places = range(len(source_ids) + 1)
    terms = [query_numbers(bundle.model, source_ids, target_ids, replace(query, position=n)) for n in places]
    return np.stack([numbers.term("output") for numbers in terms])


@torch.inference_mode()
def query_numbers(
    model: Model, source: Sequence[int], target: Sequence[int], query: Query, trace: Trace | None = None
) -> Numbers:
    """The numbers of one query of a pair of ids, given without BOS and EOS. Raises InputError for a query out of
    range."""
    batch = flat_batch([source], [target]).pad().to(model.device)
    check_query(trace or model.attention(batch), query)
    equation, terms, checks = attention_terms(model, batch, query)
    return Numbers(equation, tuple(terms), compared(checks, query))


def check_query(maps: AttentionMaps | Trace, query: Query) -> None:
    layers: Sequence[Tensor | Array] = getattr(maps, query.kind)
    kinds = [kind for kind in ("encoder", "decoder", "cross") if getattr(maps, kind)]
    if not layers:
        raise InputError(f"kind must be one of {', '.join(kinds) or 'none'} for this model, but is {query.kind}")
    heads, queries = layers[min(max(query.layer, 0), len(layers) - 1)].shape[-3:-1]
    for name, value, count in (
        ("layer", query.layer, len(layers)),
        ("head", query.head, heads),
        ("position", query.position, queries),
    ):
        if not 0 <= value < count:
            raise InputError(f"{name} must be below {count} for {query.kind} attention, counted from 0, but is {value}")


def compared(checks: Checks, query: Query) -> dict[str, float]:
    found = {}
    for name, (ours, theirs) in checks.items():
        own = array(theirs)
        difference = float(np.abs(ours - own).max(initial=0.0)) / max(1.0, float(np.abs(own).max(initial=0.0)))
        if not difference <= TOLERANCE:  # NaN too
            raise RegardError(
                f"{query}: the equation's {name} differ from the model's own by {difference:.1e}, more than "
                f"{TOLERANCE:.0e}, so nothing is shown; please report this with the model"
            )
        found[name] = difference
    return found


def query_data(step: StepNumbers) -> dict[str, Any]:
    query = step.query
    return {
        "architecture": step.architecture,
        "kind": query.kind,
        "layer": query.layer + 1,
        "head": query.head + 1,
    }


def term_data(term: Term) -> dict[str, Any]:
    """A term without its values."""
    return {"name": term.name, "what": term.what, "of_keys": term.of_keys}


def difference_data(step: StepNumbers) -> dict[str, float]:
    return {name: float(f"{value:.1e}") for name, value in step.numbers.differences.items()}


def as_dict(step: StepNumbers) -> dict[str, Any]:
    """Returns a dictionary for JSON: numbers to six decimals, null for masked scores; indices count from 1."""
    numbers = step.numbers
    return {
        **query_data(step),
        "position": step.query.position + 1,
        "source": step.source,
        "target": step.target,
        "query": step.query_label,
        "keys": list(step.keys),
        "equation": numbers.equation,
        "terms": [term_data(term) | {"values": rounded(term.values)} for term in numbers.terms],
        "largest_differences": difference_data(step),
    }
