"""The translation service of all interfaces: translates texts by languages or by model, and detects languages."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

import anyio.to_thread

from regard.bundle.bundled_models import Choice, NoDirectionError, choose
from regard.errors import InputError
from regard.explain.sentence_words import SentenceWords, sentence_words
from regard.serve import monitoring
from regard.serve.errors import ServeError, UnsupportedPairError, deadline_exceeded
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig
from regard.text.language_identification import foreign_language, identify_language, language_probabilities
from regard.translation.chain import TextChain
from regard.translation.job import Steps, TranslationJob, next_step
from regard.translation.options import TranslateOptions
from regard.translation.translation import Translation, copied
from regard.translator import Translator
from regard.workers import thread_count

CLIENT: ContextVar[Hashable] = ContextVar("client", default=None)  # of the current request, for fair turns
INLINE_CHARACTERS = 500  # work on fewer characters takes about a millisecond, less than starting a thread
T = TypeVar("T")
Args = TypeVarTuple("Args")


async def gather_or_cancel(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results, in order. The first exception cancels the other tasks and is raised itself, not in a group as
    by `asyncio.TaskGroup`."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as problems:
        raise first_exception(problems) from None
    return [task.result() for task in tasks]


def first_exception(group: BaseExceptionGroup) -> BaseException:
    """
    >>> first_exception(BaseExceptionGroup("", [ExceptionGroup("", [ValueError("a")]), KeyError("b")]))
    ValueError('a')
    """
    first = group.exceptions[0]
    return first_exception(first) if isinstance(first, BaseExceptionGroup) else first


async def run_in_thread_if_long(characters: int, work: Callable[[*Args], T], *args: *Args) -> T:
    """Return the result of `work` on this many characters, in a thread if it would block the event loop for long."""
    return work(*args) if characters <= INLINE_CHARACTERS else await anyio.to_thread.run_sync(work, *args)


class ServedTranslation(NamedTuple):
    """A translation and the names of its models: none if the text was already in the target language."""

    translation: Translation
    models: tuple[str, ...]
    source: str | None  # None for a named model whose languages are not known
    target: str | None
    detected: bool  # whether the source language was detected in the text
    sure: bool = True

    @property
    def text(self) -> str:
        return self.translation.text


@dataclass(frozen=True)
class TranslationRequest:
    """Texts to translate: by the named model, or into `target`, from `source` or the detected language of each."""

    texts: Sequence[str]
    target: str | None = None
    source: str | None = None
    model: str | None = None
    through: str | None = None  # pivot language for pairs without a model; None: that of the settings
    options: TranslateOptions = field(default_factory=TranslateOptions)
    # Called in another thread, with the job of a single text, each time it has new results.
    added: Callable[[TranslationJob], None] | None = None

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))


class TranslationService:
    def __init__(self, config: ServeConfig, pool: ModelPool) -> None:
        self.config, self.pool = config, pool

    def check_size(self, texts: Sequence[str]) -> None:
        if len(texts) > self.config.texts:
            raise ServeError(413, f"{len(texts):,} texts are more than the {self.config.texts:,} of a request")
        if (characters := sum(map(len, texts))) > self.config.characters:
            limit = self.config.characters
            raise ServeError(413, f"{characters:,} characters are more than the {limit:,} of a request")

    async def translate(
        self, request: TranslationRequest, deadline: float | None = None, checked: bool = False
    ) -> list[ServedTranslation]:
        """Return the translations in the order of the texts. `checked`: the size was checked against other limits, as
        for documents."""
        if not checked:
            self.check_size(request.texts)
        if deadline is None:
            deadline = time.monotonic() + self.config.timeout
        choices = await run_in_thread_if_long(request.characters, self.choices, request)
        found: dict[int, Translation] = {}

        async def translate_with(models: tuple[str, ...], numbers: list[int]) -> None:
            texts = [request.texts[number] for number in numbers]
            found.update(zip(numbers, await self._translate(models, texts, request, deadline), strict=True))

        by_models: dict[tuple[str, ...], list[int]] = {}
        for number, choice in enumerate(choices):
            by_models.setdefault(choice.models, []).append(number)
        await gather_or_cancel(translate_with(models, numbers) for models, numbers in by_models.items())
        detected = request.source is None and request.model is None
        for number, choice in enumerate(choices):
            monitoring.count_translation(choice.models, found[number])
        return [
            ServedTranslation(found[i], one.models, one.source or None, one.target or None, detected, one.sure)
            for i, one in enumerate(choices)
        ]

    def choices(self, request: TranslationRequest) -> list[Choice]:
        """Choose the models for each text."""
        if request.model is not None:
            source, target = self.pool.find(request.model).bundle.languages
            return [Choice((request.model,), source or "", target or "")] * len(request.texts)
        if request.target is None:
            raise ServeError(400, "a model or a target language is needed", field="target", missing=True)
        return [self.choice([text], request.target, request.source, request.through) for text in request.texts]

    def choice(
        self, texts: Sequence[str], target: str, source: str | None = None, through: str | None = None
    ) -> Choice:
        """Choose the models for texts in one language; also returns that language."""
        if source == target:
            return Choice((), target, target)
        pairs = self.pool.by_direction
        try:
            choice = choose(texts, target, source, through or self.config.through, pairs)
        except NoDirectionError as problem:
            if problem.source is not None:
                raise UnsupportedPairError(problem.source, target, problem.problem) from None
            raise ServeError(400, problem.problem, field="target") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        names = {str(direction): name for direction, name in pairs.items()}
        return choice._replace(models=tuple(names[one] for one in choice.models))

    async def words(self, one: ServedTranslation, options: TranslateOptions) -> list[SentenceWords]:
        """The words of each sentence. A single model that CTranslate2 runs gives their probabilities too; another
        engine is busy with one computation at a time."""
        if len(one.models) != 1:
            return await anyio.to_thread.run_sync(sentence_words, one.translation)
        async with self.pool.using(one.models) as [loaded]:
            translator = None if loaded.translator.converted is None else loaded.translator
            work = partial(sentence_words, one.translation, translator, options)
            return await anyio.to_thread.run_sync(work, limiter=self._scorers)

    @cached_property
    def _scorers(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(thread_count())

    def language_of(self, text: str) -> str:
        """The language of a text: one that the server can translate, or another one if the text clearly is in it."""
        return identify_language([text], self.pool.languages).language

    def other_language(self, text: str, source: str | None) -> str | None:
        """The language of a text that is clearly not in its source language; None if it may be."""
        if source is None or foreign_language(text, source) is None:
            return None
        found = self.language_of(text)
        return None if found == source else found

    def language_probabilities(self, text: str, detected: str) -> dict[str, float]:
        """The probability of each language that the server can translate, and of the detected one, for a text."""
        return language_probabilities(text, {*self.pool.languages, detected})

    async def _translate(
        self, models: tuple[str, ...], texts: list[str], request: TranslationRequest, deadline: float
    ) -> list[Translation]:
        if not models:
            return [copied(text) for text in texts]
        characters = sum(map(len, texts))
        cost = math.ceil(characters * relative_cost(request.options))
        in_translation = monitoring.QUEUE.labels("+".join(models))
        in_translation.inc()
        try:
            left = max(0.0, deadline - time.monotonic())
            async with asyncio.timeout(left) as loading, self.pool.using(models) as loaded:
                loading.reschedule(None)  # from here on the batchers check the deadline
                batchers = {id(one.translator): one.batcher for one in loaded}
                translators = [one.translator for one in loaded]
                steps = await run_in_thread_if_long(characters, make_steps, translators, texts, request.options)
                step, accepted = next_step(steps), False
                while isinstance(step, TranslationJob):
                    # The first model of a chain gives sentences in another language.
                    added = None if request.added is None or len(models) > 1 else partial(request.added, step)
                    batcher = batchers[id(step.translator)]
                    # Only the first job can be refused: the others are part of an accepted request.
                    found = await batcher.translate(step, cost, deadline, added, accepted, CLIENT.get())
                    step = next_step(steps, found)
                    accepted = True
                return step
        except TimeoutError:
            raise deadline_exceeded("loading of the model") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        finally:
            in_translation.dec()


def relative_cost(options: TranslateOptions) -> float:
    """The cost of a search relative to one with a beam of 5, approximately: the number of its rows.

    >>> [relative_cost(TranslateOptions(beam=beam)) for beam in (None, 1, 20)]
    [1.0, 1.0, 4.0]
    """
    samples = 0 if options.mbr is None else options.mbr.samples
    return max(1.0, max(options.beam or 0, samples, options.nbest if options.sampling else 0) / 5)


def make_steps(translators: Sequence[Translator], texts: list[str], options: TranslateOptions) -> Steps:
    """The jobs of one translator, or of several translators in a chain."""
    if len(translators) > 1:
        return TextChain(translators).job(texts, options).steps()
    return translators[0].job(texts, options).steps()
