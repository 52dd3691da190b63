"""Translation of sentences in the context of the sentence before (`search/context_search.py`).

A result without candidates means that nothing was found: the sentence and its context are too long together, or no
hypothesis has all of the sentence's slots, terms and protected spans. There is no second search for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.search.engine import Context, Hypothesis, Progress, SearchRequest
from regard.search.options import SearchOptions
from regard.search.required_terms import SearchDemand
from regard.translation.job import JobPart, TranslationJob
from regard.translation.loaded_model import LoadedModel
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline, UnitResult
from regard.translation.units import Unit

MOST_TOKENS = 50  # of a sentence; longer ones come out reworded, and are then not used (`revision.py`)


class SentenceBefore(NamedTuple):
    """A sentence and its translation."""

    source: str
    text: str


class ContextPipeline(Pipeline):
    """Translates units with a context, each by one search."""

    def results(self, units: Sequence[Unit], progress: Progress | None = None) -> list[UnitResult]:
        demands = [SearchDemand(context=unit.context) for unit in units]
        drafts = self.drafts(units, demands, self.search, progress)
        results = [self._result(draft) for draft in drafts]
        return [
            replace(one, candidates=()) if draft.missing else one for draft, one in zip(drafts, results, strict=True)
        ]

    def _search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None
    ) -> list[list[Hypothesis]]:
        return self.engine.search_in_context(requests, replace(options, attention=self._needs_attention))


def context_job(
    model: LoadedModel, sentences: Sequence[str], before: Sequence[SentenceBefore], options: TranslateOptions
) -> TranslationJob:
    """Returns the job that translates sentences, each a text with `split="lines"`, given the sentence before it."""
    pipeline = model.pipeline(options.search(), options, options.tag, ContextPipeline)
    pipeline = replace(pipeline, engine=model.engine(None, options.batch_tokens, options.precision))
    units = model.unit_maker(options, options.tag).units(enumerate(sentences))
    key = (replace(options, formality=None), "context")
    part = JobPart(key, pipeline, _with_contexts(model, units, before, options))
    return TranslationJob(model, sentences, [part], options.nbest)


def _with_contexts(
    model: LoadedModel, units: Iterable[Unit], before: Sequence[SentenceBefore], options: TranslateOptions
) -> Iterator[Unit]:
    """Adds its context to each unit. Units that are too long with it are not read."""
    tokenizer, tags = model.tokenizer.plain, len(model.tokenizer.prefix(options.tag, options.formality))
    sources = tokenizer.encode_source([one.source for one in before])
    targets = tokenizer.encode_target([one.text for one in before])
    for unit in units:
        source, target = tuple(sources[unit.text]), tuple(targets[unit.text])
        fits = len(unit.ids) <= MOST_TOKENS and len(unit.ids) + max(len(source), len(target)) < model.max_length
        yield replace(unit, ids=unit.ids if fits else (), context=Context(source, target, tags))
