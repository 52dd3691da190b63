"""/api/break: what a model loses without one of its parts, measured on sentences with references and on one sentence.

    loss   nats per target token under teacher forcing: −log P of each token of the reference, given those before it

The sentences are those of the embedded grammar, for models from English to French; other models are measured on the
given sentence alone. Without the causal mask only the loss changes: a search has no later words to attend to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from regard.course.grammar import Example, generate
from regard.course.grammar.corpus import SMALLEST
from regard.explain.ablation import PartChanges, Side, removable_parts, with_changes
from regard.explain.rerun import pair_log_probs, rerun_translation
from regard.explain.sentence_pair import SentencePair
from regard.metrics.bleu import bleu
from regard.models.base import Model
from regard.search.engine import SearchRequest
from regard.search.forced_decoding import Ids, forced_log_probs
from regard.search.options import SearchOptions
from regard.search.search import search
from regard.serve.api.own.explain_attention import changed, read_heads
from regard.serve.api.own.explain_sentence import pair_data
from regard.serve.errors import FieldError
from regard.serve.explain_service import ExplainedModel
from regard.translation.translator import TextTranslator

SENTENCES = 24
LONGEST = 9  # words of a sentence
MOST_TOKENS = 24  # of a translation: a broken model may not end
PLACE = re.compile(r"(encoder|decoder)(?:\.([1-9][0-9]{0,2}|1000)?)?")  # a side, or a layer of it from 1
LANGUAGES = ("en", "fr")  # of the grammar


@cache
def measured_sentences() -> tuple[Example, ...]:
    """Short test sentences of the grammar, of all kinds."""
    short = [one for one in generate(SMALLEST)["test"].examples if len(one.src.split()) <= LONGEST]
    return tuple(short[:: len(short) // SENTENCES][:SENTENCES])


class MeasuredPairs:
    """Sentences with references, as a model reads them."""

    def __init__(self, translator: TextTranslator, examples: Sequence[Example]) -> None:
        self.tokenizer, self.model = translator.tokenizer, translator.bundle.model
        self.references = [one.tgt for one in examples]
        self.sources = self.tokenizer.encode_source([one.src for one in examples])
        self.targets = self.tokenizer.encode_target(self.references)

    def measure(self, mask: bool = True) -> dict[str, float]:
        """The loss in nats per token, and BLEU of greedy translations."""
        log_probs = np.concatenate(loss_rows(self.model, self.sources, self.targets, mask))
        requests = [SearchRequest(tuple(ids)) for ids in self.sources]
        found = search(self.model, requests, SearchOptions(1, 0.0, max_length=MOST_TOKENS))
        texts = [self.tokenizer.decode(best.ids) for (best,) in found]
        return {"loss": round(float(-log_probs.mean()), 4), "bleu": round(bleu(texts, self.references).score, 4)}


def loss_rows(model: Model, sources: Sequence[Ids], targets: Sequence[Ids], mask: bool) -> list[Any]:
    """log P of the tokens of each target. Without the mask, sentences of different lengths would attend to padding, so
    each is computed alone."""
    if mask:
        return forced_log_probs(model, sources, targets)
    pairs = zip(sources, targets, strict=True)
    return [row for source, target in pairs for row in forced_log_probs(model, [source], [target])]


_whole: WeakKeyDictionary[TextTranslator, tuple[MeasuredPairs, dict[str, float]] | None] = WeakKeyDictionary()


def of_whole_model(translator: TextTranslator) -> tuple[MeasuredPairs, dict[str, float]] | None:
    """The measured sentences and the figures of the unchanged model; None for other languages than the grammar's."""
    if translator not in _whole:
        pairs = MeasuredPairs(translator, measured_sentences()) if translator.bundle.languages == LANGUAGES else None
        _whole[translator] = None if pairs is None else (pairs, pairs.measure())
    return _whole[translator]


def break_answer(
    pair: SentencePair,
    model: str,
    scores: float = 1.0,
    mask: bool = True,
    positions: float = 1.0,
    residual: float = 1.0,
    residual_at: str = "",
    heads: Sequence[Any] = (),
) -> dict[str, Any]:
    """The loss and the translations of a model of which parts are removed or weakened."""
    cut = tuple(read_heads(heads)) if heads else ()
    changes = PartChanges(scores, mask, positions, residual, read_place(residual_at), cut)
    own, whole = pair.bundle.model, of_whole_model(pair.source.translator)
    unchanged, before = pair.own_search
    with with_changes(own, changes):
        after, new = pair_log_probs(pair, own), rerun_translation(pair, own, unchanged)
        broken = whole and whole[0].measure(mask)
    return {
        **pair_data(pair, model),
        **changed(pair, before, after, new, "broken"),
        "measured": whole and {"sentences": SENTENCES, "whole": whole[1], "broken": broken},
    }


def read_place(given: str) -> tuple[Side, int | None] | None:
    """
    >>> read_place(""), read_place("decoder"), read_place("encoder.2")
    (None, ('decoder', None), ('encoder', 1))
    """
    if not given:
        return None
    found = PLACE.fullmatch(given)
    if found is None:
        raise FieldError("residual_at", f'residual_at must be a side or a layer, such as encoder.2, but is "{given}"')
    side, layer = cast(Side, found[1]), found[2]
    return side, int(layer) - 1 if layer else None


def parts_answer(loaded: ExplainedModel, model: str) -> dict[str, Any]:
    """The parts of a model that can be removed, and the figures of the whole model."""
    found, whole = removable_parts(loaded.translator.bundle.model), of_whole_model(loaded.translator)
    return {
        "model": model,
        "scores": found.scores,
        "key_size": found.key_size,
        "mask": found.mask,
        "positions": found.positions,
        "residual": found.residual,
        "heads": [[head.kind, head.layer + 1, head.head + 1] for head in found.heads],
        "measured": whole and {"sentences": SENTENCES, "whole": whole[1]},
    }
