"""The engine in torch: the search loop and teacher forcing over the models of this package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.models.base import Model
from regard.models.transformer_recorded import for_search
from regard.search.alignment_heads import AlignmentView
from regard.search.constraints import EOS
from regard.search.context_search import continuations, joined
from regard.search.engine import (
    MAX_BRANCHES,
    Branch,
    Hypothesis,
    Ids,
    Progress,
    SearchRequest,
    Weights,
)
from regard.search.forced_decoding import forced_attention, forced_log_probs, next_log_probs
from regard.search.free_search import search_freely_first
from regard.search.options import BATCH_TOKENS, Precision, SearchOptions
from regard.search.search import Capacity, search

GPU_ATTENTION_BATCH = 4  # times the tokens of a batch on the CPU


@dataclass(frozen=True)
class NativeEngine:
    model: Model  # used for search; it may include a lexicon and rules
    view: AlignmentView  # of the plain model
    plain: Model  # the model without lexicon and rules
    batch_tokens: int = BATCH_TOKENS
    batch_sentences: int | None = None  # maximal number of active sentences
    precision: Precision = "auto"  # of search on a GPU

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        return search_freely_first(self.search_as_asked, requests, options, progress)

    def search_as_asked(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Returns what `search` does, without a free search for sentences with slots."""
        model, capacity = for_search(self.model, self.precision), Capacity(self.batch_tokens, self.batch_sentences)
        found = search(model, requests, options, progress, capacity, self.view.heads)
        if options.attention:
            ended = [i for i, some in enumerate(found) if some]
            maps = self.attention([requests[i].ids for i in ended], [found[i][0].ids for i in ended]) or ()
            for i, weights in zip(ended, maps, strict=False):
                found[i][0] = replace(found[i][0], attention=weights)
        return found

    def search_in_context(self, requests: Sequence[SearchRequest], options: SearchOptions) -> list[list[Hypothesis]]:
        found = self.search([joined(request) for request in requests], replace(options, nbest=options.beam))
        return continuations(self, requests, found, options)

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        if not self.view:
            return None
        gpu = self.plain.device.type == "cuda"
        budget = self.batch_tokens * GPU_ATTENTION_BATCH if gpu else self.batch_tokens
        return forced_attention(self.plain, self.view, sources, targets, budget)

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        return forced_log_probs(self.plain, sources, targets, self.batch_tokens)

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        return [next_log_probs(self.plain, *pair) for pair in zip(sources, prefixes, strict=True)]

    def branches(self, source: Ids, prefix: Ids, length: int, least: float) -> list[Branch]:
        (row,) = self.next_log_probs([source], [prefix])
        best = [int(token) for token in np.argsort(-row)[:MAX_BRANCHES] if row[token] >= math.log(least)]
        if length == 1:
            return [Branch((token,), float(row[token])) for token in best if token > EOS]
        begun = [SearchRequest(source, prefix=(*prefix, token)) for token in best if token > EOS]
        found = self.search(begun, SearchOptions(1, max_length=len(prefix) + length)) if begun else []
        after = [(one.ids[len(prefix) :], one.log_probs[len(prefix) :]) for one, *_ in found]
        return [Branch((*ids, EOS)[: min(length, len(log_probs))], sum(log_probs[:length])) for ids, log_probs in after]

    def continued(self, source: Ids, prefixes: Sequence[Ids]) -> list[Ids]:
        found = self.search([SearchRequest(source, prefix=prefix) for prefix in prefixes], SearchOptions(1))
        return [one.ids for one, *_ in found]
