"""The engine in torch: batches of similar length through the models of this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.batch import pad_sources
from regard.budget import budgeted
from regard.decode.attended import attended
from regard.decode.engine import Ids, Progress, SearchRequest, Weights
from regard.decode.hypothesis import Hypothesis
from regard.decode.likelihood import forced_log_probs
from regard.decode.options import BATCH_TOKENS, SearchOptions
from regard.decode.search import search
from regard.decode.word_links import AlignmentView
from regard.models.base import Model

FULL_BATCH = 16  # rows of a sentence up to which a batch has all its tokens; wider searches get smaller batches


@dataclass(frozen=True)
class NativeEngine:
    model: Model  # searched with; it may have a lexicon and rules mixed in
    view: AlignmentView  # of the plain model
    plain: Model  # without what is mixed in
    batch_tokens: int = BATCH_TOKENS

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in requests]
        budget = self.batch_tokens * FULL_BATCH // max(FULL_BATCH, options.rows)
        for batch in budgeted([len(request.ids) for request in requests], budget):
            some = [requests[i] for i in batch]
            src, mask = (t.to(self.model.device) for t in pad_sources([request.ids for request in some]))
            results = search(self.model, src, mask, options, [request.constraint for request in some])
            for i, hypotheses in zip(batch, results, strict=True):
                found[i] = hypotheses
            if progress is not None:
                progress(len(batch))
        return found

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        if not self.view:
            return None
        maps: list[Weights] = [np.empty((0, 0))] * len(sources)
        lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
        for batch in budgeted(lengths, self.batch_tokens):
            pairs = [sources[i] for i in batch], [targets[i] for i in batch]
            for i, weights in zip(batch, attended(self.plain, self.view, *pairs), strict=True):
                maps[i] = weights
        return maps

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        return forced_log_probs(self.plain, sources, targets, self.batch_tokens)
