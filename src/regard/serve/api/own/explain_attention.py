"""/api/attention, /api/cut, /api/steer and /api/step: attention maps, ablated heads, edited weights, one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
from regard.explain.rerun import pair_log_probs, rerun_translation, word_diff
from regard.explain.sentence_pair import Ablation, PlacedWord, SentencePair
from regard.explain.step import difference_data, query_data, step_numbers, term_data
from regard.explain.trace import Kind
from regard.explain.views import stored_view
from regard.models.attention_parts import MultiHeadPart
from regard.models.base import Model
from regard.serve.api.own.explain_sentence import (
    MAX_HEADS,
    MAX_ROWS,
    READINGS,
    Units,
    json_numbers,
    pair_data,
    placed,
    stored_rates,
    view_data,
)
from regard.serve.errors import FieldError, ServeError
from regard.text.words import subword_shares, word_spans

MOST_CELLS = 1_500_000  # maximum numbers in a response
DECIMALS = 4  # of an attention weight


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def attention_answer(
    pair: SentencePair,
    model: str,
    kind: Kind = "cross",
    units: Units = "words",
    reading: str | None = None,
    layer: int | None = None,
) -> dict[str, Any]:
    """The maps of every head of every layer, or of one layer, counted from 1."""
    found = explain_pair(pair)
    view, words = found.chosen(kind, row=READINGS.get(reading or "")), units == "words"
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
        "view": view_data(pair.source.translator),
        "hidden_name": chosen.hidden_name,
        "title": TITLES[kind],
        "caption": chosen.caption,
    }


def _sides(pair: SentencePair, kind: Kind, words: bool) -> tuple[tuple[PlacedWord, ...], tuple[PlacedWord, ...]]:
    source = pair.source_words if words else pair.source_pieces
    target = pair.target_words if words else pair.target_pieces
    return {"cross": (target, source), "encoder": (source, source), "decoder": (target, target)}[kind]


def _ends(chosen: Grid, rows: Sequence[PlacedWord], words: bool) -> list[dict[str, Any]]:
    """The rows of a map that are special tokens."""
    return [] if words else [{"text": label, "span": None} for label in chosen.rows[len(rows) :]]


def _map(grid: Grid, view: View, bits: float, aer: Mapping[str, float] | None) -> dict[str, Any]:
    return {
        "layer": view.layer + 1,
        "head": None if view.head is None else view.head + 1,
        "values": json_numbers(grid.values, DECIMALS),
        "hidden": json_numbers(grid.hidden, DECIMALS),
        "problems": list(grid.problems),
        "entropy": json_numbers(bits, DECIMALS),
        "hidden_mass": json_numbers(np.nanmean(grid.hidden) if len(grid.hidden) else 0.0, DECIMALS),
        "aer": aer,
        "caption": grid.caption,
    }


# ── ablated heads ─────────────────────────────────────────────────────────────────────────────────────────────────────


def cut_answer(pair: SentencePair, model: str, heads: Sequence[Any], how: Ablation | None = None) -> dict[str, Any]:
    """The translation with some heads ablated. `heads` are [["cross", 1, 2], …], counted from 1."""
    own, removed = pair.bundle.model, read_heads(heads)
    unchanged, before = pair.own_search
    with ablated(own, removed, how):
        after, new = pair_log_probs(pair, own), rerun_translation(pair, own, unchanged)
    return {
        **pair_data(pair, model),
        "heads": [[head.kind, head.layer + 1, head.head + 1] for head in removed],
        "cut": how or default_cut(own),
        **changed(pair, before, after, new, "cut"),
    }


def default_cut(model: Model) -> Ablation:
    """The default of `cut`: heads of multi-head attention are removed, others attend to all positions equally."""
    heads = any(isinstance(part, MultiHeadPart) for part in model.attention_parts().values())
    return "zero" if heads else "uniform"


def changed(pair: SentencePair, before: Floats, after: Floats, new: str, name: str) -> dict[str, Any]:
    """The effect of a changed model on the probability of the pair's translation, and on the search."""
    lost, old = before - after, pair.target.translation
    return {
        "log_prob": json_numbers(before.sum()),
        f"{name}_log_prob": json_numbers(after.sum()),
        "drop": json_numbers(lost.sum()),
        "word_drops": json_numbers(pair.by_word(lost)),
        "end_drop": json_numbers(lost[-1]),
        "own_translation": old,
        f"{name}_translation": new,
        "changed": old != new,
        "diff": [{"kind": kind, "text": text} for kind, text in word_diff(old, new)],
    }


def read_heads(given: Sequence[Any]) -> list[Head]:
    """Parse heads given as [["cross", 1, 2], …], counted from 1."""
    found = []
    _check_count("heads", given, MAX_HEADS)
    for one in given:
        good = isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and one[0] in TITLES
        if not good or not all(type(n) is int and 1 <= n <= 1000 for n in one[1:]):
            raise FieldError("heads", 'a head is [KIND, LAYER, HEAD] from 1, such as ["cross", 1, 2]')
        found.append(Head(one[0], one[1] - 1, one[2] - 1))
    return sorted(set(found))


def _check_count(name: str, given: Sequence[Any], most: int) -> None:
    if not 1 <= len(given) <= most:
        raise FieldError(name, f"{name} must be a list of 1 to {most:,}, but there are {len(given):,}")


# ── edited attention ──────────────────────────────────────────────────────────────────────────────────────────────────


class EditedRow(NamedTuple):
    """The weights of one target word (or piece) over the source words (or pieces); `hidden` is the weight of EOS."""

    position: int
    weights: list[float]
    hidden: float = 0.0


def read_rows(given: Sequence[Any]) -> list[EditedRow]:
    _check_count("rows", given, MAX_ROWS)
    found = []
    for one in given:
        values: Any = one if isinstance(one, dict) else {}
        position, weights, hidden = values.get("position"), values.get("weights"), values.get("hidden", 0)
        good = type(position) is int and position >= 0 and isinstance(weights, list)
        if not good or not all(map(_is_weight, (*weights, hidden))):
            shape = '{"position": 0, "weights": [0.5, 0.5], "hidden": 0}'
            raise FieldError("rows", f"a row is {shape}, with weights from 0 on")
        found.append(EditedRow(position, weights, hidden))
    return found


def _is_weight(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e9


def steer_answer(
    pair: SentencePair,
    model: str,
    rows: Sequence[Any],
    layer: int | None = None,
    heads: Sequence[Any] = (),
    units: Units = "words",
    reading: str | None = None,
) -> dict[str, Any]:
    """The translation with given attention weights. Layers and heads count from 1; by default all of them."""
    if len(heads) > MAX_HEADS or not all(type(head) is int and 1 <= head <= 1000 for head in heads):
        raise FieldError("heads", f"heads must be at most {MAX_HEADS:,} whole numbers from 1 on")
    edited_rows, heads = read_rows(rows), sorted(set(heads))
    own = pair.bundle.model
    parts = cross_parts(own)
    meaning = READINGS.get(reading or "") or stored_view(pair.bundle)[0].row
    layers = [layer - 1] if layer is not None else sorted(parts)
    if not set(layers) <= set(parts):
        raise FieldError("layer", f"layer must be from 1 to {len(parts)}, but is {layer}")
    chosen = [head - 1 for head in heads]
    places = [(number, head) for number in layers for head in (chosen or range(parts[number].heads))]
    edits = checked_edits(own, _edits(pair, edited_rows, places, units, meaning), len(pair.source_ids) + 1)
    edited: Model = EditedModel(own, edits)
    unchanged, before = pair.own_search
    after, new = pair_log_probs(pair, edited), rerun_translation(pair, edited, unchanged)
    name = "all heads" if not heads else ", ".join(f"head {head}" for head in heads)
    where = "every layer" if layer is None else f"layer {layer}"
    count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    return {
        **pair_data(pair, model),
        "layer": layer,
        "heads": heads,
        "units": units,
        "reading": meaning.replace("-", "_"),
        "rows": [_normalized(one) for one in edited_rows],
        **changed(pair, before, after, new, "steered"),
        "caption": f"{where} · {name} · {meaning.replace('-', ' ')} · weights by hand in {count}",
    }


def _normalized(row: EditedRow) -> dict[str, Any]:
    total = sum(row.weights) + row.hidden
    weights = np.array(row.weights) / (total or 1.0)
    return {
        "position": row.position,
        "weights": json_numbers(weights),
        "hidden": json_numbers(row.hidden / (total or 1.0)),
    }


def _edits(
    pair: SentencePair, rows: Sequence[EditedRow], places: Sequence[tuple[int, int]], units: Units, meaning: RowMeaning
) -> dict[Place, Floats]:
    """Convert the rows to weights over source tokens, at decoder positions."""
    shift, tags = int(meaning == "having-read"), len(pair.bundle.tokenizer.mark_ids)
    words = units == "words"
    spans = [(token.start, token.end) for token in pair.bundle.tokenizer.plain.source_tokens(pair.source.model_text)]
    shares = subword_shares(spans, word_spans(pair.source.model_text)) if words else np.eye(len(spans))
    count = len(pair.target_words) if words else len(pair.target_pieces)
    maps = pair.trace.cross
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


def step_answer(
    pair: SentencePair, model: str, kind: Kind, layer: int, head: int, position: int, numbers: int
) -> dict[str, Any]:
    """One query of one head, from its vectors to its weights, with the first `numbers` entries of each vector. Layer
    and head count from 1, positions from 0."""
    query = Query(kind, layer - 1, head - 1, position)
    maps: Sequence[Floats] = getattr(pair.trace, query.kind)
    if not maps:
        raise FieldError("kind", f"this model has no {query.kind} attention")
    bounds = len(maps), *maps[min(query.layer, len(maps) - 1)].shape[:2]
    for name, value, count, first in zip(
        ("layer", "head", "position"), (query.layer, query.head, query.position), bounds, (1, 1, 0), strict=True
    ):
        if value >= count:
            most = count - 1 + first
            raise FieldError(name, f"{name} must be from {first} to {most} here, but is {value + first}")
    found = step_numbers(pair.bundle, pair.source.model_text, pair.target_ids, query, pair.source.slots, pair.trace)
    pieces = [piece.text for piece in pair.target_pieces]
    labels = (
        list(found.keys)
        if query.kind == "encoder"
        else [f"{read} → {said}" for read, said in zip([BOS_LABEL, *pieces], [*pieces, EOS_LABEL], strict=True)]
    )
    terms = []
    for term in found.numbers.terms:
        values = term.values[..., :numbers] if term.values.ndim > int(term.of_keys) else term.values
        shape = list(term.values.shape)
        terms.append(term_data(term) | {"shape": shape, "values": json_numbers(values)})
    return {
        **pair_data(pair, model),
        **query_data(found),
        "position": query.position,
        "positions": labels,
        "query": found.query_label,
        "keys": list(found.keys),
        "equation": found.numbers.equation,
        "terms": terms,
        "largest_differences": difference_data(found),
    }
