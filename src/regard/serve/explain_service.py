"""Explanations: computed one at a time, in a thread, for the translations of the server's engine.

What the engine can compute does not wait for what needs torch: it has a thread of its own, and the translator of the
pool if CTranslate2 runs that. Everything else uses a second translator, in torch. An explanation in torch that takes
too long, or whose client has disconnected, stops at the model's next computation: a hook on every module of the model
checks for it (`stop_when`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

from regard.device import has_torch, missing_torch
from regard.errors import InputError, RegardError
from regard.explain.neighbours import PairIndex, pairs_of
from regard.explain.sentence_pair import (
    ExplainedSource,
    SentenceIndexError,
    SentencePair,
    TooLongError,
    explained_source,
)
from regard.search.options import SearchOptions
from regard.serve.errors import FieldError, ServeError, deadline_exceeded, server_busy
from regard.serve.pool import IDLE_CHECK_SECONDS, ModelPool, release_memory
from regard.serve.settings import ServeConfig
from regard.text.glossary import Glossary
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline
from regard.translation.translation import Candidate
from regard.translation.word_alternatives import WordAlternatives, other_wordings, word_alternatives
from regard.translator import Translator

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger("regard.serve")
T = TypeVar("T")
MAX_MODELS = 3  # maximum models with torch weights in memory
MAX_WAITING = 32  # maximum waiting requests
RECENT_PAIRS = 16  # pairs cached per model, because a page requests several explanations of one sentence
RECENT_ALTERNATIVES = 512  # places cached per model
TARGET_CHARACTERS = 50  # of a given translation, for each token that is explained: longer ones are not tokenized


class StoppedError(Exception):
    """The client of this explanation has disconnected, or its time limit is exceeded."""


# ── sentences ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class SentenceQuery:
    """A sentence to explain: one of `text`, with the model's translation (`hypothesis`) or the given one."""

    text: str
    translation: str | None = None
    sentence: int | None = None
    beam: int | None = None
    hypothesis: int = 0
    formality: str | None = None  # these two only of other words and wordings
    glossary: str = ""  # as in a file


def find_pair(translator: Translator, query: SentenceQuery, limit: int) -> SentencePair:
    """Return the sentence and its translation; raise `FieldError` with status 413 if either exceeds `limit` tokens."""
    found = find_sentence(translator, query, limit)
    given = query.translation is not None
    if given and (query.beam is not None or query.hypothesis):
        raise FieldError(
            "translation", "a translation that is given is not searched for; leave beam and hypothesis out"
        )
    if query.hypothesis and query.hypothesis >= (count := len(found.candidates)):
        message = f"hypothesis must be from 0 to {count - 1}, the different translations found; use a wider beam"
        raise FieldError("hypothesis", message)
    pair = SentencePair(found, found.target(query.translation, query.hypothesis))
    check_length(len(pair.target_ids), limit, "translation")
    return pair


def find_sentence(
    translator: Translator, query: SentenceQuery, limit: int, length_penalty: float | None = None, guard: bool = True
) -> ExplainedSource:
    """Return the sentence without its translation, which is computed on first use."""
    try:
        found = explained_source(
            translator, query.text, sentence=query.sentence, beam=query.beam, length_penalty=length_penalty, guard=guard
        )
    except TooLongError as problem:
        raise FieldError("text", str(problem), status=413) from None
    except SentenceIndexError as problem:
        raise FieldError("sentence", str(problem)) from None
    check_length(len(found.unit.ids), limit, "text")
    return found


def find_alternatives(
    translator: Translator, query: SentenceQuery, limit: int, position: int, count: int
) -> tuple[ExplainedSource, WordAlternatives]:
    """Return the sentence, and the other words for a word of the query's translation, by default the model's own."""
    found, pipeline, translation = find_translation(translator, query, limit)
    known = found.translator.target_words
    try:
        return found, word_alternatives(pipeline, found.unit, translation, position, known, count)
    except InputError as problem:
        raise FieldError("position", str(problem)) from None


def find_wordings(
    translator: Translator, query: SentenceQuery, limit: int, count: int
) -> tuple[ExplainedSource, list[Candidate]]:
    """Return the sentence, and other translations of it than the query's, by default the model's own."""
    found, pipeline, translation = find_translation(translator, query, limit)
    return found, other_wordings(pipeline, found.unit, translation, count)


def find_translation(translator: Translator, query: SentenceQuery, limit: int) -> tuple[ExplainedSource, Pipeline, str]:
    """Return the sentence, prepared as the query asks, a pipeline without judgements, and the query's translation."""
    found = find_sentence(translator, query, limit)
    translation = found.shown.text if query.translation is None else query.translation
    check_length(len(translation), TARGET_CHARACTERS * limit, "translation")
    try:
        glossary = Glossary.parse(query.glossary.splitlines(), "glossary") if query.glossary.strip() else None
    except InputError as problem:
        raise FieldError("glossary", str(problem)) from None
    options = TranslateOptions(mend=found.search.mend, guard=False, phrases=False)
    if glossary or query.formality:
        asked = replace(options, glossary=glossary, formality=query.formality)  # type: ignore[arg-type]
        units = found.translator.unit_maker(asked).units([(0, found.translator.for_text(query.text)[1])])
        found = replace(found, unit=next(unit for unit in units if unit.sentence == found.unit.sentence))
    search = SearchOptions(found.search.beam, found.search.length_penalty)
    return found, found.translator.pipeline(search, options), translation


def check_length(tokens: int, limit: int, field: str) -> None:
    if tokens > limit:
        message = f"the sentence has {tokens} tokens, but at most {limit} are explained; give a shorter one"
        raise FieldError(field, message, status=413)


def check_torch() -> None:
    """Raise `ServeError` with status 501 where PyTorch, which explanations need, is not installed on the server."""
    if not has_torch():
        raise ServeError(501, str(missing_torch("this explanation")))


# ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────────


class ExplainedModel:
    """A model, and what was found last for its sentences."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.find_pair = lru_cache(RECENT_PAIRS)(partial(find_pair, translator))
        self.find_alternatives = lru_cache(RECENT_ALTERNATIVES)(partial(find_alternatives, translator))
        self.used = time.monotonic()


class ExplainService:
    """Runs explanations in two threads, with the models that they need."""

    def __init__(self, config: ServeConfig, pool: ModelPool) -> None:
        self.config, self.pool = config, pool
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="explain")
        self._engine_thread = ThreadPoolExecutor(1, thread_name_prefix="explain-by-engine")
        self._waiting = 0
        self._by_engine: dict[str, ExplainedModel] = {}  # with the translators of the pool
        # Used only by the thread. The last entry is the most recently used model.
        self._loaded: dict[str, ExplainedModel] = {}
        self._pair_indexes: dict[str, PairIndex | None] = {}
        self._stop = threading.Event()  # of the request being explained

    async def run(self, model: str, work: Callable[[ExplainedModel], T]) -> T:
        """Return the result of `work` with the model of this name, which is loaded if necessary."""
        self.pool.find(model)
        check_torch()
        return await self.run_in_thread(partial(self._with_model, model, work))

    async def run_by_engine(self, model: str, work: Callable[[ExplainedModel], T]) -> T:
        """Like `run`, for work that needs nothing but the engine: without torch if CTranslate2 runs the model."""
        async with self.pool.using([model]) as [served]:
            if served.translator.converted is None:
                return await self.run(model, work)
            found = self._by_engine.get(model)
            if found is None or found.translator is not served.translator:
                found = self._by_engine[model] = ExplainedModel(served.translator)
            found.used = time.monotonic()
            return await self._run_in(self._engine_thread, partial(work, found))

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which runs after all explanations requested before it."""
        stop = threading.Event()
        try:
            return await self._run_in(self._thread, partial(self._run, work, stop))
        finally:
            stop.set()

    async def _run_in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._waiting >= MAX_WAITING:
            raise server_busy("too many explanations are waiting", 5)
        self._waiting += 1
        try:
            async with asyncio.timeout(self.config.timeout):
                return await asyncio.get_running_loop().run_in_executor(thread, work)
        except TimeoutError:
            raise deadline_exceeded("explanation") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        finally:
            self._waiting -= 1

    def _run(self, work: Callable[[], T], stop: threading.Event) -> T:
        self._stop = stop
        return work()

    def _with_model(self, model: str, work: Callable[[ExplainedModel], T]) -> T:
        found = self._loaded.pop(model, None) or self._load(model)
        self._loaded[model] = found
        while len(self._loaded) > MAX_MODELS:
            self._drop(next(iter(self._loaded)))
        try:
            return work(found)
        finally:
            found.used = time.monotonic()

    def _load(self, model: str) -> ExplainedModel:
        try:
            translator = Translator.load(self.pool.find(model).folder, self.config.device, self.config.engine)
        except RegardError as problem:
            raise ServeError(503, f"the model {model} cannot be loaded: {problem}", retry_after=60) from problem
        stop_when(translator.bundle.model, lambda: self._stop.is_set())
        return ExplainedModel(translator)

    def pair_index(self, model: str) -> PairIndex | None:
        """The training pairs of a model, read on first use; None if it has none. Must be called in the thread."""
        if model not in self._pair_indexes:
            self._pair_indexes[model] = pairs_of(self.pool.find(model).folder)
        return self._pair_indexes[model]

    async def drop_idle(self) -> None:
        """Unload idle models; runs until its task is cancelled."""
        while True:
            await asyncio.sleep(min(IDLE_CHECK_SECONDS, self.config.idle or IDLE_CHECK_SECONDS))
            if self.config.idle:
                old = time.monotonic() - self.config.idle
                self._by_engine = {model: found for model, found in self._by_engine.items() if found.used >= old}
                await asyncio.get_running_loop().run_in_executor(self._thread, self._drop_old, old)

    def _drop_old(self, old: float) -> None:
        for model in [model for model, found in self._loaded.items() if found.used < old]:
            self._drop(model)
            log.info("the model %s was not explained for a while and is dropped", model)

    def _drop(self, model: str) -> None:
        del self._loaded[model]
        self._pair_indexes.pop(model, None)
        release_memory()

    def close(self) -> None:
        self._stop.set()
        self._thread.shutdown(cancel_futures=True)
        self._engine_thread.shutdown(cancel_futures=True)


def stop_when(model: nn.Module, stopped: Callable[[], bool]) -> None:
    """Make each module of a model raise `StoppedError` before it computes if `stopped()` is true."""

    def check(module: nn.Module, inputs: object) -> None:
        if stopped():
            raise StoppedError

    for module in model.modules():
        module.register_forward_pre_hook(check)
