"""The same sentence searched for again, with a model that was changed: heads cut, or attention edited by hand.

The search is the one that `translate` took for the sentence: its beam, its length penalty and what it must say. It runs
on the model that is given, with a forced beginning if one is given, and what comes out is restored as `translate` does,
but not repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.explain.request import Request
from regard.explain.sentence_pair import SentencePair
from regard.models.base import Model
from regard.search.engine import Hypothesis, SearchRequest
from regard.search.forced_decoding import forced_log_probs
from regard.search.search import search
from regard.text.words import split_words, word_spans


def search_again(asked: Request, model: Model, start: Sequence[int] = ()) -> Hypothesis:
    """The best hypothesis, which begins with the tokens of `start`."""
    options, demand = asked.result.search
    constraint = asked.pipeline.constraint(asked.unit.ids, demand, options)
    options = replace(options, nbest=1, attention=False, token_log_probs=False)
    ((best, *_),) = search(model, [SearchRequest(asked.unit.ids, constraint, tuple(start))], options)
    return best


def translated_again(asked: Request, model: Model, start: Sequence[int] = ()) -> str:
    return asked.restored(search_again(asked, model, start).ids)


def own_translation(asked: Request) -> str:
    """The same without any change, as the search that was taken found it."""
    return asked.restored(asked.result.candidates[0].ids)


def token_log_probs_of(pair: SentencePair, model: Model) -> NDArray[np.float64]:
    """(T,) of the pair's translation, EOS last."""
    return forced_log_probs(model, [pair.source_ids], [pair.target_ids])[0]


# ── two translations, word by word ────────────────────────────────────────────────────────────────────────────────────

DiffKind = Literal["same", "removed", "added"]


def word_diff(old: str, new: str) -> list[tuple[DiffKind, str]]:
    """Runs of words that both have, that only the old one has, and that only the new one has.

    >>> word_diff("Le chat noir dort.", "Le chat dort bien.")
    [('same', 'Le chat'), ('removed', 'noir'), ('same', 'dort'), ('added', 'bien'), ('same', '.')]
    """
    ours, theirs = word_spans(old), word_spans(new)
    found: list[tuple[DiffKind, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, split_words(old), split_words(new), autojunk=False).get_opcodes():
        removed = old[ours[a][0] : ours[b - 1][1]] if b > a else ""
        added = new[theirs[c][0] : theirs[d - 1][1]] if d > c else ""
        if kind == "equal":
            found.append(("same", added))
        else:
            found += [("removed", removed)] if removed else []
            found += [("added", added)] if added else []
    return found
