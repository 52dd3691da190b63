"""Translation for every interface: texts, two languages or a model, and options; and the language of a text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

import anyio.to_thread

from regard.bundle.bundled_models import Choice, NoDirectionError, choose
from regard.errors import InputError
from regard.serve import monitoring
from regard.serve.errors import NoPairError, ServeError, too_late
from regard.serve.pool import LoadedWithQueue, ModelPool
from regard.serve.settings import ServeConfig
from regard.text.language_identification import identify_language, language_probabilities
from regard.translation.chain import ChainJob, TextChain
from regard.translation.job import Steps, TranslationJob
from regard.translation.options import TranslateOptions
from regard.translation.translation import Translation, copied
from regard.translator import Translator

T = TypeVar("T")


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. A task group would raise a group of all failures, one within another where groups are
    nested."""
    try:
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(work) for work in works]
    except BaseExceptionGroup as several:
        raise first_of(several) from None
    return [task.result() for task in made]


def first_of(several: BaseExceptionGroup) -> BaseException:
    """
    >>> first_of(BaseExceptionGroup("", [ExceptionGroup("", [ValueError("a")]), KeyError("b")]))
    ValueError('a')
    """
    first = several.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


AT_ONCE = 500  # characters whose language is found, and that are made a job of, in about a millisecond
Given = TypeVarTuple("Given")


class ServedTranslation(NamedTuple):
    """A translation, and which models made it: none where the text was in the target language already."""

    translation: Translation
    models: tuple[str, ...]
    source: str | None  # None where a model was named whose languages are not known
    target: str | None
    detected: bool  # whether the source was found in the text
    sure: bool = True

    @property
    def text(self) -> str:
        return self.translation.text


@dataclass(frozen=True)
class TranslationRequest:
    """Texts to translate: by a model of this name, or into `target`, from `source` or from what is found in each."""

    texts: Sequence[str]
    target: str | None = None
    source: str | None = None
    model: str | None = None
    options: TranslateOptions = field(default_factory=TranslateOptions)
    # Called in another thread with the job of a single text each time that it has got results.
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
        self, asked: TranslationRequest, deadline: float | None = None, checked: bool = False
    ) -> list[ServedTranslation]:
        """In the order of the texts. `checked`: the size was checked by other limits, as for documents."""
        if not checked:
            self.check_size(asked.texts)
        until = time.monotonic() + self.config.timeout if deadline is None else deadline
        choices = await off_the_loop(asked.characters, self.choices, asked)
        found: dict[int, Translation] = {}

        async def translate_with(models: tuple[str, ...], numbers: list[int]) -> None:
            texts = [asked.texts[number] for number in numbers]
            found.update(zip(numbers, await self._translate(models, texts, asked, until), strict=True))

        by_models: dict[tuple[str, ...], list[int]] = {}
        for number, choice in enumerate(choices):
            by_models.setdefault(choice.models, []).append(number)
        await together(translate_with(models, numbers) for models, numbers in by_models.items())
        for i, one in enumerate(choices):
            monitoring.count_translation(one.models, found[i])
        return [
            ServedTranslation(
                found[i], one.models, one.source or None, one.target or None, asked.source is None, one.sure
            )
            for i, one in enumerate(choices)
        ]

    def choices(self, asked: TranslationRequest) -> list[Choice]:
        """The models for each text."""
        if asked.model is not None:
            source, target = self.pool.find(asked.model).bundle.languages
            return [Choice((asked.model,), source or "", target or "")] * len(asked.texts)
        if asked.target is None:
            raise ServeError(400, "a model or a target language is needed", field="target", missing=True)
        return [self.choice([text], asked.target, asked.source) for text in asked.texts]

    def choice(self, texts: Sequence[str], target: str, source: str | None = None) -> Choice:
        """The models for texts that are in one language, and what that is."""
        if source == target:
            return Choice((), target, target)
        pairs = self.pool.by_direction
        try:
            choice = choose(texts, target, source, self.config.through, pairs)
        except NoDirectionError as problem:
            if problem.source is not None:
                raise NoPairError(problem.source, target, problem.problem) from None
            raise ServeError(400, problem.problem, field="target") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        names = {str(direction): name for direction, name in pairs.items()}
        return choice._replace(models=tuple(names[one] for one in choice.models))

    def language_of(self, text: str) -> str:
        """The language of a text: most probably one that can be translated, or another that it clearly is in."""
        return identify_language([text], self.pool.languages).language

    def shares(self, text: str, found: str) -> dict[str, float]:
        """How probable each language that can be translated is for a text, beside the one that was found in it."""
        return language_probabilities(text, {*self.pool.languages, found})

    async def _translate(
        self, models: tuple[str, ...], texts: list[str], asked: TranslationRequest, until: float
    ) -> list[Translation]:
        if not models:
            return [copied(text) for text in texts]
        characters = sum(map(len, texts))
        in_translation = monitoring.QUEUE.labels("+".join(models))
        in_translation.inc()
        try:
            left = max(0.0, until - time.monotonic())
            async with asyncio.timeout(left) as loading, self.pool.using(models) as loaded:
                loading.reschedule(None)  # from here on the queues keep the time
                translators = [one.translator for one in loaded]
                steps = await off_the_loop(characters, make_steps, translators, texts, asked.options)
                return await self._follow(steps, loaded, asked, characters, until)
        except TimeoutError:
            raise too_late("loading of the model") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        finally:
            in_translation.dec()

    async def _follow(
        self, steps: Steps, loaded: Sequence[LoadedWithQueue], asked: TranslationRequest, characters: int, until: float
    ) -> list[Translation]:
        """What the steps end with. Only the first can be refused: the others are part of what was accepted."""
        batchers = {id(one.translator): one.batcher for one in loaded}
        answer: list[Translation] | None = None
        while True:
            try:
                job = next(steps) if answer is None else steps.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            added = None if asked.added is None else _given(asked.added, job)
            batcher = batchers[id(job.translator)]
            answer = await batcher.translate(job, characters, until, added, accepted=answer is not None)


async def off_the_loop(characters: int, work: Callable[[*Given], T], *given: *Given) -> T:
    """The result of work on so many characters: in a thread, unless it is done sooner than a thread is there."""
    return work(*given) if characters <= AT_ONCE else await anyio.to_thread.run_sync(work, *given)


def make_steps(translators: Sequence[Translator], texts: list[str], options: TranslateOptions) -> Steps:
    """The work of one translator, or of several one after another."""
    job: TranslationJob | ChainJob
    job = TextChain(translators).job(texts, options) if len(translators) > 1 else translators[0].job(texts, options)
    return job.steps()


def _given(added: Callable[[TranslationJob], None], job: TranslationJob) -> Callable[[], None]:
    return lambda: added(job)
