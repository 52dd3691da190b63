"""/api/attention, /api/cut, /api/steer and /api/step as data: attention looked at, cut, edited and written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.align.attention import RowMeaning, View
from regard.explain.ablation import Head, ablated
from regard.explain.edited_attention import EditedModel, Floats, Place, checked_edits, cross_parts, weights_of_words
from regard.explain.explanation import TITLES, explain_pair
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.grid import Grid, trace_grid
from regard.explain.heads import entropy, sheet_of
from regard.explain.mechanisms import Query
from regard.explain.rerun import own_translation, pair_log_probs, rerun_translation, word_diff
from regard.explain.sentence_pair import Ablation, PlacedWord, SentencePair
from regard.explain.step import as_dict, step_numbers
from regard.explain.trace import Kind
from regard.explain.views import stored_view
from regard.models.attention_parts import MultiHeadPart
from regard.models.base import Model
from regard.serve.api.own.explain_sentence import (
    MOST_HEADS,
    MOST_ROWS,
    Units,
    numbers,
    pair_data,
    placed,
    stored_rates,
    view_data,
)
from regard.serve.errors import FieldError, ServeError
from regard.text.words import subword_shares, word_spans

MOST_CELLS = 1_500_000  # numbers of an answer
DECIMALS = 4  # of an attention weight


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def attention_answer(
    pair: SentencePair,
    model: str,
    kind: Kind = "cross",
    units: Units = "words",
    row: RowMeaning | None = None,
    layer: int | None = None,
) -> dict[str, Any]:
    """Every head of every layer, or of one layer, counted from 1."""
    found = explain_pair(pair)
    view, words = found.chosen(kind, row=row), units == "words"
    every: Sequence[Floats] = getattr(found.trace, kind)
    if not every:
        raise FieldError("kind", f"this model has no {kind} attention; it has {', '.join(found.trace.kinds)}")
    if layer is not None and layer > len(every):
        raise FieldError("layer", f"layer must be from 1 to {len(every)} for {kind} attention, but is {layer}")
    if sum(maps.size for maps in (every if layer is None else every[layer - 1 : layer])) > MOST_CELLS:
        raise ServeError(413, "these are too many numbers for one answer; ask for one layer at a time", field="layer")
    known = {} if found.trust is None or kind != "cross" else {found.view: found.trust}
    sheet = sheet_of(found.trace, kind, view.row, words=words, known=known)
    rates = stored_rates(pair.bundle)
    layers = [number for number in range(len(every)) if layer is None or number == layer - 1]

    def mean(number: int) -> Grid:
        own = View(number, None, view.row)
        return trace_grid(found.trace, own, kind, words=words, trust=known.get(own))

    rows, columns = _sides(pair, kind, words)
    chosen = found.grid(kind, view.layer, view.head, view.row, words=words)
    return {
        **pair_data(pair, model),
        "kind": kind,
        "kinds": list(found.trace.kinds),
        "units": units,
        "reading": view.row.replace("-", "_"),
        "rows": placed(rows if words else rows[: len(chosen.rows)]) + _ends(chosen, rows, words),
        "columns": placed(columns),
        "layers": [
            [
                _map(thumb.grid, thumb.view, thumb.entropy, rates if thumb.view in known else None)
                for thumb in sheet.layers[number]
            ]
            for number in layers
        ],
        "means": [
            _map(grid, own, entropy(grid), rates if own in known else None)
            for grid, own in ((mean(number), View(number, None, view.row)) for number in layers)
        ],
        "chosen": {"layer": view.layer + 1, "head": None if view.head is None else view.head + 1},
        "view": view_data(pair.bundle),
        "hidden_name": chosen.hidden_name,
        "title": TITLES[kind],
        "caption": chosen.caption,
    }


def _sides(pair: SentencePair, kind: Kind, words: bool) -> tuple[tuple[PlacedWord, ...], tuple[PlacedWord, ...]]:
    source = pair.source_words if words else pair.source_pieces
    target = pair.target_words if words else pair.target_pieces
    return {"cross": (target, source), "encoder": (source, source), "decoder": (target, target)}[kind]


def _ends(chosen: Grid, rows: Sequence[PlacedWord], words: bool) -> list[dict[str, Any]]:
    """Rows of a map that are no text."""
    return [] if words else [{"text": label, "span": None} for label in chosen.rows[len(rows) :]]


def _map(grid: Grid, view: View, bits: float, aer: Mapping[str, float] | None) -> dict[str, Any]:
    return {
        "layer": view.layer + 1,
        "head": None if view.head is None else view.head + 1,
        "values": numbers(grid.values, DECIMALS),
        "hidden": numbers(grid.hidden, DECIMALS),
        "problems": list(grid.problems),
        "entropy": numbers(bits, DECIMALS),
        "hidden_mass": numbers(np.nanmean(grid.hidden) if len(grid.hidden) else 0.0, DECIMALS),
        "aer": aer,
        "caption": grid.caption,
    }


# ── heads cut ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def cut_answer(pair: SentencePair, model: str, heads: Sequence[Head], how: Ablation | None = None) -> dict[str, Any]:
    own = pair.bundle.model
    before, old = pair_log_probs(pair, own), own_translation(pair.source)
    with ablated(own, heads, how):
        after, new = pair_log_probs(pair, own), rerun_translation(pair.source, own)
    return {
        **pair_data(pair, model),
        "heads": [[head.kind, head.layer + 1, head.head + 1] for head in heads],
        "cut": how or default_cut(own),
        **changed(pair, before, after, old, new, "cut"),
    }


def default_cut(model: Model) -> Ablation:
    """What `cut` does where nothing is said: heads of multi-head attention are removed, others attend to all alike."""
    heads = any(isinstance(part, MultiHeadPart) for part in model.attention_parts().values())
    return "zero" if heads else "uniform"


def changed(pair: SentencePair, before: Floats, after: Floats, old: str, new: str, name: str) -> dict[str, Any]:
    """What a change of the model does: to the pair's translation, and to the search."""
    lost = before - after
    return {
        "log_prob": numbers(before.sum()),
        f"{name}_log_prob": numbers(after.sum()),
        "drop": numbers(lost.sum()),
        "word_drops": numbers(pair.by_word(lost)),
        "end_drop": numbers(lost[-1]),
        "own_translation": old,
        f"{name}_translation": new,
        "changed": old != new,
        "diff": [{"kind": kind, "text": text} for kind, text in word_diff(old, new)],
    }


def read_heads(given: Sequence[Any]) -> list[Head]:
    """[["cross", 1, 2], …], counted from 1."""
    found = []
    _check_count("heads", given, MOST_HEADS)
    for one in given:
        good = isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and one[0] in TITLES
        if not good or not all(type(n) is int and 1 <= n <= 1000 for n in one[1:]):
            raise FieldError("heads", 'a head is [KIND, LAYER, HEAD] from 1, such as ["cross", 1, 2]')
        found.append(Head(one[0], one[1] - 1, one[2] - 1))
    return sorted(set(found))


def _check_count(name: str, given: Sequence[Any], most: int) -> None:
    if not 1 <= len(given) <= most:
        raise FieldError(name, f"{name} must be a list of 1 to {most:,}, but there are {len(given):,}")


# ── attention edited ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class EditedRow:
    """Weights over the source words, or pieces, of one target word, or piece; `hidden` goes to EOS."""

    position: int
    weights: tuple[float, ...]
    hidden: float = 0.0


def read_rows(given: Sequence[Any]) -> list[EditedRow]:
    found = []
    _check_count("rows", given, MOST_ROWS)
    for one in given:
        values = one if isinstance(one, dict) else {}
        position, weights, hidden = values.get("position"), values.get("weights"), values.get("hidden", 0)
        numbers_given = isinstance(weights, list) and all(map(_weight, (*weights, hidden)))
        if not isinstance(position, int) or isinstance(position, bool) or position < 0 or not numbers_given:
            shape = '{"position": 0, "weights": [0.5, 0.5], "hidden": 0}'
            raise FieldError("rows", f"a row is {shape}, with weights from 0 on")
        assert isinstance(weights, list)
        found.append(EditedRow(position, tuple(map(float, weights)), float(hidden)))
    return found


def _weight(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e9


def steer_answer(
    pair: SentencePair,
    model: str,
    rows: Sequence[EditedRow],
    layer: int | None = None,
    heads: Sequence[int] = (),
    units: Units = "words",
    row: RowMeaning | None = None,
) -> dict[str, Any]:
    """Layers and heads count from 1; none: all of them."""
    own = pair.bundle.model
    parts = cross_parts(own)
    meaning = row or stored_view(pair.bundle)[0].row
    layers = [layer - 1] if layer is not None else sorted(parts)
    if not set(layers) <= set(parts):
        raise FieldError("layer", f"layer must be from 1 to {len(parts)}, but is {layer}")
    chosen = [head - 1 for head in heads]
    places = [(number, head) for number in layers for head in (chosen or range(parts[number].heads))]
    edits = checked_edits(own, _edits(pair, rows, places, units, meaning), len(pair.source_ids) + 1)
    edited: Model = EditedModel(own, edits)
    before, old = pair_log_probs(pair, own), own_translation(pair.source)
    after, new = pair_log_probs(pair, edited), rerun_translation(pair.source, edited)
    name = "all heads" if not heads else ", ".join(f"head {head}" for head in heads)
    where = "every layer" if layer is None else f"layer {layer}"
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    return {
        **pair_data(pair, model),
        "layer": layer,
        "heads": list(heads),
        "units": units,
        "reading": meaning.replace("-", "_"),
        "rows": [_normalised(one) for one in rows],
        **changed(pair, before, after, old, new, "steered"),
        "caption": f"{where} · {name} · {meaning.replace('-', ' ')} · weights by hand in {count}",
    }


def _normalised(row: EditedRow) -> dict[str, Any]:
    total = sum(row.weights) + row.hidden
    weights = np.array(row.weights) / (total or 1.0)
    return {"position": row.position, "weights": numbers(weights), "hidden": numbers(row.hidden / (total or 1.0))}


def _edits(
    pair: SentencePair,
    rows: Sequence[EditedRow],
    places: Sequence[tuple[int, int]],
    units: Units,
    meaning: RowMeaning,
) -> dict[Place, Floats]:
    """The rows as weights over source tokens, at decoder positions."""
    shift, tags = int(meaning == "having-read"), len(pair.bundle.tokenizer.mark_ids)
    words = units == "words"
    spans = [(token.start, token.end) for token in pair.bundle.tokenizer.plain.source_tokens(pair.source.model_text)]
    shares = subword_shares(spans, word_spans(pair.source.model_text)) if words else np.eye(len(spans))
    count = len(pair.target_words) if words else len(pair.target_pieces)
    maps = explain_pair(pair).trace.cross
    found: dict[Place, Floats] = {}
    for row in rows:
        if row.position >= count:
            raise FieldError("rows", f"position must be from 0 to {count - 1} in {units}, but is {row.position}")
        tokens = np.flatnonzero(pair.target_shares[:, row.position]).tolist() if words else [row.position]
        for token in tokens:
            for layer, head in places:
                if head >= len(maps[layer]):
                    raise FieldError("heads", f"heads must be from 1 to {len(maps[layer])}, but one is {head + 1}")
                own = maps[layer][head, token + shift]
                found[layer, head, token + shift] = weights_of_words(row.weights, row.hidden, own, shares, tags)
    return found


# ── one step in numbers ───────────────────────────────────────────────────────────────────────────────────────────────


def step_answer(pair: SentencePair, model: str, query: Query, shown: int = 8) -> dict[str, Any]:
    """`query` counts from 0; of each vector the first `shown` numbers."""
    maps: Sequence[Floats] = getattr(explain_pair(pair).trace, query.kind)
    if not maps:
        raise FieldError("kind", f"this model has no {query.kind} attention")
    bounds = len(maps), *maps[min(query.layer, len(maps) - 1)].shape[:2]
    for name, value, count, first in zip(
        ("layer", "head", "position"), (query.layer, query.head, query.position), bounds, (1, 1, 0), strict=True
    ):
        if value >= count:
            most = count - 1 + first
            raise FieldError(name, f"{name} must be from {first} to {most} here, but is {value + first}")
    found = step_numbers(pair.bundle, pair.source.model_text, pair.target_ids, query, pair.source.slots)
    data = as_dict(found)
    pieces = [piece.text for piece in pair.target_pieces]
    labels = (
        list(found.keys)
        if query.kind == "encoder"
        else [f"{read} → {said}" for read, said in zip([BOS_LABEL, *pieces], [*pieces, EOS_LABEL], strict=True)]
    )
    terms = []
    for term, values in zip(data["terms"], (term.values for term in found.numbers.terms), strict=True):
        cut_short = values[..., :shown] if values.ndim > int(term["of_keys"]) else values
        terms.append(term | {"shape": list(values.shape), "values": numbers(cut_short)})
    return {
        **pair_data(pair, model),
        **{name: data[name] for name in ("architecture", "kind", "layer", "head")},
        "position": query.position,
        "positions": labels,
        **{name: data[name] for name in ("query", "keys", "equation")},
        "terms": terms,
        "largest_differences": data["largest_differences"],
    }
