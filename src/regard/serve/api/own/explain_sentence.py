"""The shared parts of every explanation of a sentence: both sides in words, and the view of attention.

The functions of `explain_*.py` return the response of an endpoint, from a model and a sentence. Layers and heads in it
count from 1, as in every caption; indices into a list of the response count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from regard.align.attention import RowMeaning, View
from regard.bundle.bundle import Bundle
from regard.explain.alignment import NOT_EVALUATED, Trust
from regard.explain.sentence_pair import ExplainedSource, PlacedWord, SentencePair
from regard.report.json import rounded
from regard.text.slots import fill
from regard.translation.translator import TextTranslator

DECIMALS = 6
Units = Literal["words", "pieces"]
MAX_HEADS, MAX_ROWS = 1000, 400  # maxima of a request
READINGS: dict[str, RowMeaning] = {"predicting": "predicting", "having_read": "having-read"}


def pair_data(pair: SentencePair, model: str) -> dict[str, Any]:
    """The first entries of every explanation of a sentence and its translation."""
    request = pair.source
    return {
        **sentence_data(request, model),
        "translation": pair.target.translation,
        "how": pair.target.how,
        "read": fill(request.model_text, request.slots.source),
        "said": fill(pair.answer, request.slots.target),
        "source_words": placed(pair.source_words),
        "target_words": placed(pair.target_words),
    }


def sentence_data(request: ExplainedSource, model: str) -> dict[str, Any]:
    unit = request.unit
    place = {"index": unit.sentence, "count": request.sentences, "span": list(unit.span), "text": request.text}
    return {"model": model, "sentence": place}


def placed(words: Iterable[PlacedWord]) -> list[dict[str, Any]]:
    return [{"text": word.text, "span": None if word.span is None else list(word.span)} for word in words]


def view_data(translator: TextTranslator) -> dict[str, Any] | None:
    """The cross-attention that is used as the alignment, and its error rates in percent; None without attention."""
    stored = card_view(translator.bundle)
    if stored is not None or not translator.alignment_view:
        return stored
    view = View(*translator.alignment_view.heads.maps[0])
    return {**view_numbers(view), "aer": None, "caption": f"{view} · {NOT_EVALUATED}"}


def card_view(bundle: Bundle) -> dict[str, Any] | None:
    """The view that the card names; None if it names none."""
    stored = bundle.known_card.attention_view
    if stored is None:
        return None
    view, rates = View(stored.layer, stored.head, stored.row), stored_rates(bundle)
    trust = None if stored.aer is None else Trust(stored.aer, stored.on)
    return {**view_numbers(view), "aer": rates, "caption": f"{view} · {trust or NOT_EVALUATED}"}


def view_numbers(view: View) -> dict[str, Any]:
    head = None if view.head is None else view.head + 1
    return {"layer": view.layer + 1, "head": head, "having_read": view.row == "having-read"}


def stored_rates(bundle: Bundle) -> dict[str, float] | None:
    """The alignment error rates of the card's view, in percent, by the text on which they were measured."""
    stored = bundle.known_card.attention_view
    if stored is None:
        return None
    rates = ({} if stored.aer is None else {stored.on or "held-out sentences": stored.aer}) | stored.also
    return {on: round(100 * rate, 2) for on, rate in rates.items()} or None


def json_numbers(values: Any, decimals: int = DECIMALS) -> Any:
    """Convert an array to lists for JSON, NaN as null; fast if all numbers are finite."""
    array = np.round(np.asarray(values, dtype=np.float64), decimals)
    return (array + 0.0).tolist() if np.isfinite(array).all() else rounded(array.tolist(), decimals)
