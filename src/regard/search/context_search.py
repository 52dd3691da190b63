"""Search in context: for a sentence, given the sentence before it, to which its pronouns may refer.

    source   <fr> I bought the car. It is old.     the context between the tag and the sentence
    prefix   J'ai acheté la voiture.               the translation of the context, forced
    found    Elle est vieille.                     what follows: the translation of the sentence

Hypotheses are those of the sentence alone: tokens, log-probabilities and attention of the context are cut off, and the
attention that remains is normalized. Constraints restrict the result, not the search: where no hypothesis meets the
constraint of its sentence, none is returned. The same holds for sentences that are too long with their context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from regard.search.constraint_repair import NO_PENALTY, max_target_length, weights_of
from regard.search.constraints import satisfies
from regard.search.ctranslate2_model import BOS, EOS, PAD, ConvertedModel
from regard.search.engine import Context, Engine, Hypothesis, SearchRequest, Weights, length_penalty, token_batches
from regard.search.options import SearchOptions

if TYPE_CHECKING:
    from ctranslate2 import AsyncTranslationResult

SUPPRESSED = frozenset((PAD, BOS))


def joined(request: SearchRequest) -> SearchRequest:
    """Returns the request for both sentences, without the constraint of the second."""
    context = request.context
    assert context is not None
    ids = (*request.ids[: context.tags], *context.source, *request.ids[context.tags :])
    return SearchRequest(ids, None, context.target, request.stops)


def beyond_context(weights: Weights, context: Context) -> Weights:
    """Removes the rows and columns of the context from attention (T + 1, S + 1).

    >>> weights = np.array([[0.5, 0.25, 0.25], [0.5, 0.3, 0.2]])
    >>> beyond_context(weights, Context(source=(7,), target=(8,))).round(2).tolist()
    [[0.6, 0.4]]
    """
    own = np.delete(weights[len(context.target) :], np.s_[context.tags : context.tags + len(context.source)], axis=1)
    found: Weights = own / np.maximum(own.sum(axis=1, keepdims=True), 1e-9)
    return found


def continuations(
    engine: Engine, requests: Sequence[SearchRequest], found: Sequence[Sequence[Hypothesis]], options: SearchOptions
) -> list[list[Hypothesis]]:
    """Returns the parts of hypotheses that follow the context, ranked, if they meet the constraint. The best of each
    request gets attention if the options ask for it."""
    lists = [_own_parts(request, some, options) for request, some in zip(requests, found, strict=True)]
    lacking = [i for i, some in enumerate(lists) if some and some[0].attention is None] if options.attention else []
    for i, weights in zip(lacking, engine.attention(*_pairs(requests, lists, lacking)) or (), strict=False):
        context = requests[i].context
        assert context is not None
        lists[i][0] = replace(lists[i][0], attention=beyond_context(weights, context))
    return lists


def _own_parts(request: SearchRequest, found: Sequence[Hypothesis], options: SearchOptions) -> list[Hypothesis]:
    context = request.context
    assert context is not None
    cut, parts = len(context.target), []
    for one in found:
        ids, log_probs = one.ids[cut:], one.log_probs[cut:]
        if not ids or len(ids) > max_target_length(request.ids) or not satisfies(ids, request.constraint):
            continue
        score = (sum(log_probs) if one.total is None else one.total) / length_penalty(
            len(ids) + 1, options.length_penalty
        )
        attention = None if one.attention is None else beyond_context(one.attention, context)
        parts.append(Hypothesis(ids, log_probs, score, one.total, attention))
    return sorted(parts, key=lambda one: -one.score)[: options.nbest]


def _pairs(
    requests: Sequence[SearchRequest], found: Sequence[Sequence[Hypothesis]], some: Sequence[int]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Returns sources and targets of some requests, both with their context."""
    whole = [joined(requests[i]) for i in some]
    return [one.ids for one in whole], [one.prefix + found[i][0].ids for i, one in zip(some, whole, strict=True)]


@dataclass(frozen=True)
class PrefixSearch:
    """CTranslate2's search from a forced prefix. Its scores are those of the tokens after the prefix.

    The tag must not limit the vocabulary here: CTranslate2 (4.8) finds the pieces of a prefix by their places in the
    limited vocabulary of an earlier batch if that had another tag, and so forces other pieces or fails.
    """

    model: ConvertedModel
    batch_tokens: int  # most source tokens of a batch

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, attention: bool
    ) -> list[list[Hypothesis]]:
        """Returns finished hypotheses, prefix included, in any order; none for a request that is too long."""
        found: list[list[Hypothesis]] = [[] for _ in requests]
        some = [i for i, request in enumerate(requests) if not request.is_stopped and self._fits(request)]
        pending: list[tuple[int, AsyncTranslationResult]] = []
        for places in token_batches([len(requests[i].ids) for i in some], self.batch_tokens):
            batch = [some[place] for place in places]
            chosen = [requests[i] for i in batch]
            results = self.model.translator.translate_batch(
                [self.model.source_tokens(one.ids) for one in chosen],
                target_prefix=[self.model.target_tokens(one.prefix) for one in chosen],
                beam_size=options.beam,
                num_hypotheses=options.beam,
                length_penalty=NO_PENALTY,
                max_input_length=0,
                max_decoding_length=max(max_target_length(one.ids) for one in chosen) + 1,
                return_end_token=True,
                return_scores=True,
                return_attention=attention,
                asynchronous=True,
            )
            pending += zip(batch, results, strict=True)
        for i, promise in pending:
            result = promise.result()
            maps = result.attention or [None] * len(result.hypotheses)
            for tokens, log_prob, rows in zip(result.hypotheses, result.scores, maps, strict=True):
                if tokens[-1:] == [EOS] and not SUPPRESSED.intersection(tokens):
                    ids = self.model.target_ids(tokens[:-1])
                    weights = None if rows is None else weights_of(rows, len(ids), len(requests[i].ids))
                    found[i].append(Hypothesis(ids, (), log_prob, log_prob, weights))
        return found

    def _fits(self, request: SearchRequest) -> bool:
        return max_target_length(request.ids) + 1 < self.model.made.positions


def with_prefix(
    engine: Engine, search: PrefixSearch, requests: Sequence[SearchRequest], options: SearchOptions
) -> list[list[Hypothesis]]:
    """Returns hypotheses that begin with the prefix of their request and meet its constraint, best first; none where
    the search found none. CTranslate2 does not score a prefix, so it is scored with the best hypothesis."""
    lists = [
        sorted((one for one in found if satisfies(one.ids, request.constraint)), key=lambda one: -one.log_prob)
        for request, found in zip(requests, search.search(requests, options, attention=False), strict=True)
    ]
    ended = [i for i, found in enumerate(lists) if found]
    rows = engine.log_probs([requests[i].ids for i in ended], [lists[i][0].ids for i in ended]) if ended else []
    for i, row in zip(ended, rows, strict=True):
        best, *_ = found = lists[i]
        totals = [float(row.sum()) - best.log_prob + one.log_prob for one in found]
        made = [
            Hypothesis(
                one.ids,
                tuple(row.tolist()) if one is best else (),
                total / length_penalty(len(one.ids) + 1, options.length_penalty),
                total,
            )
            for one, total in zip(found, totals, strict=True)
        ]
        lists[i] = sorted(made, key=lambda one: -one.score)[: options.nbest]
    return lists
