"""Alternatives at a place in a translation: the most probable next tokens, and the best continuation after each.

    P(w | y<t, x) over the tokens w that continue the prefix y<t

The place is after a prefix, which may end inside a word: then the tokens that complete it are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.search.constraints import EOS
from regard.search.prefix import ForcedStart
from regard.search.required_terms import SearchDemand
from regard.text.slots import fill
from regard.text.tokenizer import Tokenizer
from regard.text.words import word_spans
from regard.translation.pipeline import Pipeline
from regard.translation.units import Unit


@dataclass(frozen=True)
class Alternative:
    """One possible continuation."""

    word: str  # the word that the token is part of; empty if the sentence ends here
    token: str  # its vocabulary entry
    probability: float  # among the tokens that continue the prefix
    text: str  # the best translation with this continuation


def alternatives(pipeline: Pipeline, unit: Unit, count: int = 5) -> list[Alternative]:
    """Returns the most probable continuations of the unit's start, best first."""
    if not isinstance(count, int) or count < 1:
        raise InputError(f"count must be a whole number from 1 on, but is {count}")
    tokenizer = pipeline.bundle.tokenizer
    probabilities = _probabilities(pipeline, unit)
    best = [int(i) for i in np.argsort(-probabilities, kind="stable")[:count] if probabilities[i] > 0]
    starts = [replace(unit, start=pipeline.prefixes.after(unit.start, token)) for token in best if token != EOS]
    results = iter(pipeline.results(starts))
    found = []
    for token in best:
        if token == EOS:
            word, whole = "", unit.prepared.restore(tokenizer.decode(unit.start.ids)).text
        else:
            (first, *_) = next(results).candidates
            word, whole = _word_at(pipeline, unit, first.ids), first.text
        (label,) = tokenizer.target.labels([token], unit.prepared.slots.target)
        found.append(Alternative(word, label, float(probabilities[token]), whole))
    return found


def _probabilities(pipeline: Pipeline, unit: Unit) -> NDArray[np.float64]:
    """Returns the probability of each token after the unit's start, (V,); 0 for tokens that may not come next."""
    (log_probs,) = pipeline.engine.next_log_probs([unit.ids], [unit.start.ids])
    constraint = pipeline.constraint(unit.ids, SearchDemand(start=unit.start))
    for token in unit.start.ids if constraint else ():
        constraint = constraint.after(token) if constraint else None
    forbidden = [*range(EOS), *(constraint.forbidden() if constraint else ())]
    log_probs[forbidden] = -math.inf
    if log_probs.max() == -math.inf:
        raise InputError("nothing can follow this prefix; give a shorter one")
    shares = np.exp(log_probs - log_probs.max())
    probabilities: NDArray[np.float64] = shares / shares.sum()
    return probabilities


def before_word(tokenizer: Tokenizer, unit: Unit, translation: str, position: int) -> ForcedStart:
    """Returns the translation of a unit up to a word, as a forced start."""
    (ids,) = tokenizer.encode_target([unit.prepared.as_model_output(translation).text])
    words = word_spans(tokenizer.decode(ids))
    if not 0 <= position < len(words):
        raise InputError(
            f"position must be a word of the translation, counted from 0 to {len(words) - 1}, but is {position}"
        )
    ends = [end for _, end in tokenizer.target_pieces(ids)]
    return ForcedStart(tuple(token for token, end in zip(ids, ends, strict=True) if end <= words[position][0]))


def _word_at(pipeline: Pipeline, unit: Unit, ids: tuple[int, ...]) -> str:
    """Returns the word of a translation that its first free token belongs to."""
    tokenizer = pipeline.bundle.tokenizer
    answer, (_, end) = tokenizer.decode(ids), tokenizer.target_pieces(ids)[len(unit.start.ids)]
    return fill(next((answer[a:b] for a, b in word_spans(answer) if end <= b), ""), unit.prepared.slots.target)
