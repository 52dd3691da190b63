"""/api/anatomy and /api/anatomy/part: the parts of a model and their values for a sentence, down to one dot product."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from regard.batch import EOS
from regard.errors import InputError
from regard.explain.anatomy import TEMPERATURES, Anatomy, ModelPart, step_distributions
from regard.explain.dot_product import dot_product
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.mechanisms import Query
from regard.explain.recorded_parts import record_parts
from regard.explain.sentence_pair import SentencePair
from regard.explain.views import stored_view
from regard.models.attention_parts import AttentionKind
from regard.models.base import Model
from regard.serve.api.own.explain_sentence import json_numbers, pair_data, view_numbers
from regard.serve.errors import FieldError, ServeError

MOST_CELLS = 700_000  # maximum numbers in a response
SHOWN_TOKENS = 10  # of a step's distribution
SAMPLE = 16  # numbers of each vector in a picture of a part
DECIMALS = 3  # of a value
WEIGHT_DECIMALS = 5  # of an attention weight: the rows of a long sentence still sum to 1
HEAD = re.compile(r"(encoder|decoder|cross)\.(\d+)\.(?:(attention|cross)\.)?(\d+)")


# The last sentence of each model: the page asks for several parts of one. Used by one thread.
_recent: WeakKeyDictionary[Model, tuple[SentencePair, Anatomy]] = WeakKeyDictionary()


def recorded_pair(pair: SentencePair) -> Anatomy:
    model = pair.bundle.model
    known = _recent.get(model)
    if known is None or known[0] is not pair:
        known = _recent[model] = (pair, record_parts(model, pair.source_ids, pair.target_ids))
    return known[1]


# ── the tree ────────────────────────────────────────────────────────────────────────────────────────────────────────


def anatomy_answer(pair: SentencePair, model: str) -> dict[str, Any]:
    """The parts with a sample of the numbers of the stack, the tokens of both sides, the distribution of each step."""
    found = recorded_pair(pair)
    own = pair.bundle.model
    return {
        **pair_data(pair, model),
        "architecture": pair.bundle.architecture,
        "parameters": own.parameter_count(),
        **_tokens(pair),
        "parts": [_part_data(part) for part in found.parts],
        "missing": found.missing,
        "vocabulary": found.logits.shape[-1],
        "temperatures": list(TEMPERATURES),
        "steps": _steps(pair, found),
        **_looks(pair),
    }


def _looks(pair: SentencePair) -> dict[str, Any]:
    """How much each step attends to each source token, in the view that is used as the alignment."""
    if not pair.bundle.model.has_attention:
        return {"looks": None, "view": None}
    view, _ = stored_view(pair.bundle)
    return {"looks": json_numbers(pair.trace.weights(view), DECIMALS), "view": view_numbers(view)}


def _tokens(pair: SentencePair) -> dict[str, Any]:
    """The labels of the rows: what the encoder reads, what each decoder position reads, and what it predicts."""
    tokenizer, slots = pair.bundle.tokenizer, pair.source.slots
    target = tokenizer.target.labels(pair.target_ids, slots.target)
    return {
        "source_tokens": [*tokenizer.source.labels(pair.source_ids, slots.source), EOS_LABEL],
        "target_tokens": [BOS_LABEL, *target],
        "predicted_tokens": [*target, EOS_LABEL],
    }


def _part_data(part: ModelPart, depth: int = 1) -> dict[str, Any]:
    """A part and those within it, without the vectors of heads; to this depth with a sample of their numbers."""
    inside = [] if part.kind == "head" else part.parts
    sampled = part.values is not None and part.keys is None and depth > 0
    return {
        "id": part.id,
        "kind": part.kind,
        "name": part.name,
        "what": part.what,
        "side": part.side,
        "shape": None if part.values is None else list(part.values.shape),
        "parameters": part.parameters,
        "sample": json_numbers(_window(part, 0, SAMPLE), 2) if sampled else None,
        "parts": [_part_data(one, depth - 1) for one in inside],
    }


def _steps(pair: SentencePair, found: Anatomy) -> list[dict[str, Any]]:
    tokenizer = pair.bundle.tokenizer
    steps = []
    for step in step_distributions(found.logits, [*pair.target_ids, EOS], SHOWN_TOKENS):
        labels = tokenizer.target.labels(step.tokens, pair.source.slots.target)
        names = [EOS_LABEL if token == EOS else label for token, label in zip(step.tokens, labels, strict=True)]
        rows = [{"token": name, "logit": json_numbers(value)} for name, value in zip(names, step.logits, strict=True)]
        steps.append({"top": rows, "log_sums": json_numbers(step.log_sums), "rank": step.rank})
    return steps


# ── one part ────────────────────────────────────────────────────────────────────────────────────────────────────────


def part_answer(
    pair: SentencePair,
    model: str,
    part: str,
    first: int = 0,
    numbers: int = 64,
    query: int | None = None,
    key: int | None = None,
) -> dict[str, Any]:
    """The values of a part and of those directly within it, or of all heads of a layer: `numbers` columns from `first`
    of each vector, or all columns of scores and weights. With `query` and `key`, also the dot product of a head."""
    found = recorded_pair(pair)
    try:
        chosen = found.find(part)
    except InputError as problem:
        raise FieldError("part", str(problem)) from None
    shown = chosen.parts
    if chosen.kind == "layer":
        shown = tuple(one for one in chosen.walk() if one.kind == "head")
    cells = sum(_window(one, first, numbers).size for one in (chosen, *shown) if one.values is not None)
    if cells > MOST_CELLS:
        message = f"these are {cells:,} numbers, but at most {MOST_CELLS:,} are given; ask for a part of this part"
        raise ServeError(413, message, field="part")
    return {
        **pair_data(pair, model),
        **_tokens(pair),
        **_part_data(chosen, 2),
        **_values(chosen, first, numbers),
        "first": first,
        "inside": [{"id": one.id, "kind": one.kind, "name": one.name, "what": one.what, "side": one.side}
                   | _values(one, first, numbers) for one in shown],
        "dot": None if query is None or key is None else _dot(pair, chosen, query, key),
    }  # fmt: skip


def _window(part: ModelPart, first: int, numbers: int) -> Any:
    assert part.values is not None
    return part.values if part.keys is not None else part.values[:, first : first + numbers]


def _values(part: ModelPart, first: int, numbers: int) -> dict[str, Any]:
    decimals = WEIGHT_DECIMALS if part.kind == "weights" else DECIMALS
    rounded = None if part.values is None else json_numbers(_window(part, first, numbers), decimals)
    return {"keys": part.keys, "values": rounded}


def _dot(pair: SentencePair, part: ModelPart, query: int, key: int) -> dict[str, Any]:
    matched = HEAD.fullmatch(part.id)
    if part.kind != "head" or matched is None:
        raise FieldError("part", f"only a head has dot products, but {part.id} is none; name one such as {part.id}.1")
    side, layer, sublayer, head = matched.groups()
    kind = cast(AttentionKind, "cross" if sublayer == "cross" else side)
    rows, columns = np.shape(part.values) if part.values is not None else (0, 0)
    for name, value, most in (("query", query, rows), ("key", key, columns)):
        if value >= most:
            raise FieldError(name, f"{name} must be from 0 to {most - 1} in this head, but is {value}")
    asked = Query(kind, int(layer) - 1, int(head) - 1, query)
    found = dot_product(pair.bundle.model, pair.source_ids, pair.target_ids, asked, key)
    vectors = ("left", "right", "products", "scaled", "weights")
    rest = {name: value for name, value in asdict(found).items() if name not in vectors}
    return {
        "query": query,
        "key": key,
        **rest,
        "names": list(found.names),
        **{name: json_numbers(getattr(found, name)) for name in vectors},
    }
