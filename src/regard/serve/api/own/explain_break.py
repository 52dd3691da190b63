"""/api/break: what a model loses without one of its parts, measured on sentences with references and on one sentence.

    loss   nats per target token under teacher forcing: −log P of each token of the reference, given those before it

The sentences are those of the embedded grammar, for models from English to French; other models are measured on the
given sentence alone. Without the causal mask only the loss changes: a search has no later words to attend to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
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
from regard.search.engine import SearchRequest
from regard.search.forced_decoding import forced_log_probs
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


def measure(translator: TextTranslator, mask: bool = True) -> dict[str, float] | None:
    """The loss in nats per token, and BLEU of greedy translations; None for other languages than the grammar's. Without
    the mask, sentences of different lengths would attend to padding, so the loss of each is computed alone."""
    if translator.bundle.languages != LANGUAGES:
        return None
    tokenizer, model = translator.tokenizer, translator.bundle.model
    references = [one.tgt for one in measured_sentences()]
    sources = tokenizer.encode_source([one.src for one in measured_sentences()])
    targets = tokenizer.encode_target(references)
    batches = [(sources, targets)] if mask else [([s], [t]) for s, t in zip(sources, targets, strict=True)]
    log_probs = np.concatenate([row for batch in batches for row in forced_log_probs(model, *batch)])
    found = search(model, [SearchRequest(tuple(ids)) for ids in sources], SearchOptions(1, 0.0, max_length=MOST_TOKENS))
    texts = [tokenizer.decode(best.ids) for (best,) in found]
    return {"loss": round(float(-log_probs.mean()), 4), "bleu": round(bleu(texts, references).score, 4)}


_whole: WeakKeyDictionary[TextTranslator, dict[str, float] | None] = WeakKeyDictionary()


def measure_whole(translator: TextTranslator) -> dict[str, float] | None:
    """The figures of the unchanged model, measured once."""
    if translator not in _whole:
        _whole[translator] = measure(translator)
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
    own, whole = pair.bundle.model, measure_whole(pair.source.translator)
    unchanged, before = pair.own_search
    with with_changes(own, changes):
        after, new = pair_log_probs(pair, own), rerun_translation(pair, own, unchanged)
        broken = measure(pair.source.translator, mask)
    return {
        **pair_data(pair, model),
        **changed(pair, before, after, new, "broken"),
        "measured": whole and {"sentences": SENTENCES, "whole": whole, "broken": broken},
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
    found, whole = removable_parts(loaded.translator.bundle.model), measure_whole(loaded.translator)
    return {
        "model": model,
        **asdict(found),
        "heads": [[head.kind, head.layer + 1, head.head + 1] for head in found.heads],
        "measured": whole and {"sentences": SENTENCES, "whole": whole},
    }
