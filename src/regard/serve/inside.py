"""What our own interface says of every sentence that it looks into: both sides in words, and the view of attention.

The functions of `inside_*.py` make an answer of a translator and an `ExplainQuery`. They know nothing of HTTP, so that
a page without a server can hold the same answers. Layers and heads count from 1 in them, as in every caption; whatever
indexes a list of the answer counts from 0.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.bundle.card import read_card
from regard.decode.alignment_heads import cross_layers
from regard.explain.alignment import NOT_EVALUATED, Trust
from regard.explain.sentence_pair import (
    ExplainedSource,
    PlacedWord,
    SentenceIndexError,
    SentencePair,
    TooLongError,
    explained_source,
)
from regard.report.json import rounded
from regard.serve.problems import FieldError
from regard.text.slots import fill
from regard.translator import Translator

DECIMALS = 6
EXPLAINED = 200  # tokens of a sentence, at most, where nothing else is said
Units = Literal["words", "pieces"]
MOST_HEADS, MOST_ROWS = 1000, 400  # of a request
KEPT = 16  # sentences whose translation is remembered, because a page asks for several things about one


@dataclass(frozen=True)
class ExplainQuery:
    """Which sentence: of `text`, with its own translation or the given one."""

    text: str
    translation: str | None = None
    sentence: int | None = None
    beam: int | None = None
    hypothesis: int = 0


class RecentPairs:
    """The sentences that were looked into last, so that they are not searched for again. For one thread."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._pairs: OrderedDict[tuple[int, ExplainQuery], SentencePair] = OrderedDict()

    def forget(self, translator: Translator) -> None:
        """Let go of a model that is dropped."""
        for key in [key for key in self._pairs if key[0] == id(translator)]:
            del self._pairs[key]

    def pair(self, translator: Translator, asked: ExplainQuery, limit: int = EXPLAINED) -> SentencePair:
        key = id(translator), asked  # the pair holds the translator, so the number stays its own
        if key not in self._pairs:
            self._pairs[key] = pair_of(translator, asked, limit)
        self._pairs.move_to_end(key)
        while len(self._pairs) > self._most:
            self._pairs.popitem(last=False)
        return self._pairs[key]


def pair_of(translator: Translator, asked: ExplainQuery, limit: int = EXPLAINED) -> SentencePair:
    """Raise 413 where a side has more than `limit` tokens."""
    found = sentence_of(translator, asked, limit)
    if asked.translation is not None and (asked.beam is not None or asked.hypothesis):
        raise FieldError(
            "translation", "a translation that is given is not searched for; leave beam and hypothesis out"
        )
    most = 1 if asked.translation is not None else len(found.result.candidates)
    if asked.hypothesis >= most:
        message = f"hypothesis must be from 0 to {most - 1}, the different translations found; use a wider beam"
        raise FieldError("hypothesis", message)
    pair = SentencePair(found, found.target(asked.translation, asked.hypothesis))
    check_length(len(pair.target_ids), limit, "translation")
    return pair


def sentence_of(
    translator: Translator,
    asked: ExplainQuery,
    limit: int = EXPLAINED,
    length_penalty: float | None = None,
    guard: bool = True,
) -> ExplainedSource:
    """The sentence alone; nothing is searched for."""
    try:
        found = explained_source(
            translator,
            asked.text,
            sentence=asked.sentence,
            beam=asked.beam,
            length_penalty=length_penalty,
            guard=guard,
        )
    except TooLongError as problem:
        raise FieldError("text", str(problem), status=413) from None
    except SentenceIndexError as problem:
        raise FieldError("sentence", str(problem)) from None
    check_length(len(found.unit.ids), limit, "text")
    return found


def check_length(tokens: int, limit: int, field: str) -> None:
    if tokens > limit:
        message = f"the sentence has {tokens} tokens, but at most {limit} are explained; give a shorter one"
        raise FieldError(field, message, status=413)


# ── as data ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def pair_data(pair: SentencePair, model: str) -> dict[str, Any]:
    """The first entries of an answer about a sentence."""
    return {
        **sentence_data(pair.source, model),
        "translation": pair.target.translation,
        "how": pair.target.how,
        "read": fill(pair.source.model_text, pair.source.slots.source),
        "said": fill(pair.answer, pair.source.slots.target),
        "source_words": placed(pair.source_words),
        "target_words": placed(pair.target_words),
    }


def sentence_data(asked: ExplainedSource, model: str) -> dict[str, Any]:
    unit = asked.unit
    place = {"index": unit.sentence, "count": asked.sentences, "span": list(unit.span), "text": asked.text}
    return {"model": model, "sentence": place}


def placed(words: Iterable[PlacedWord]) -> list[dict[str, Any]]:
    return [{"text": word.text, "span": None if word.span is None else list(word.span)} for word in words]


def view_data(bundle: Bundle) -> dict[str, Any] | None:
    """Which cross-attention is read as the alignment, and its error rates in percent; None without attention."""
    if cross_layers(bundle.model) == 0:
        return None
    from regard.explain.views import stored_view  # imports torch, which a server that only translates does not need

    view, trust = stored_view(bundle)
    return {**view_numbers(view), "aer": stored_rates(bundle), "caption": f"{view} · {trust or NOT_EVALUATED}"}


def card_view(bundle: Bundle) -> dict[str, Any] | None:
    """The same of a model whose weights are not loaded: what its card says, None where it names no view."""
    stored = read_card(bundle.card).attention_view
    if stored is None:
        return None
    view, rates = View(stored.layer, stored.head, stored.row), stored_rates(bundle)
    trust = None if stored.aer is None else Trust(stored.aer, stored.on)
    return {**view_numbers(view), "aer": rates, "caption": f"{view} · {trust or NOT_EVALUATED}"}


def view_numbers(view: View) -> dict[str, Any]:
    head = None if view.head is None else view.head + 1
    return {"layer": view.layer + 1, "head": head, "having_read": view.row == "having-read"}


def stored_rates(bundle: Bundle) -> dict[str, float] | None:
    """The alignment error rates of the card's view, in percent, by the text that they were measured on."""
    stored = read_card(bundle.card).attention_view
    if stored is None:
        return None
    rates = ({} if stored.aer is None else {stored.on or "held-out sentences": stored.aer}) | stored.also
    return {on: round(100 * rate, 2) for on, rate in rates.items()} or None


def numbers(values: Any, decimals: int = DECIMALS) -> Any:
    """An array as lists that JSON can hold, NaN as null; fast where all numbers are finite."""
    array = np.round(np.asarray(values, dtype=np.float64), decimals)
    return (array + 0.0).tolist() if np.isfinite(array).all() else rounded(array.tolist(), decimals)
