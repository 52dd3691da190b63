"""A call of `translate` as divisible work: units, their search, and the assembly of their translations.

    texts ─▶ TranslationJob ─ units ─▶ Pipeline.results ─ results ─▶ TranslationJob ─▶ translations

`run` does all of it at once. A server instead takes some units of many jobs and translates them together: the result
for a unit does not depend on the others, and parts of equal `key` may share a pipeline.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, overload

from regard.translation.assemble import TextAssembly
from regard.translation.options import CHUNK, TranslateOptions
from regard.translation.translation import SentenceTranslation, Translation

if TYPE_CHECKING:
    from regard.search.engine import Progress
    from regard.translation.pipeline import Pipeline, UnitResult
    from regard.translation.units import Unit

AT_ONCE = 3  # chunks of a part: one is prepared or checked, one is searched, and the search of one is waiting
PARALLEL_CHUNK = 250  # units of each of them: enough to sort into full batches

# Yields jobs of single models one after another, receives their translations, and returns the final translations.
Steps = Generator["TranslationJob", list[Translation], list[Translation]]


class Revision(Protocol):
    """Translates some sentences of a job again."""

    def steps(self, found: list[Translation]) -> Steps:
        """Returns the translations of all texts with some sentences revised."""

    def may_revise(self, sentence: SentenceTranslation) -> bool: ...


class DividedWork(Protocol):
    """A call of `translate`, by one model or by several one after another."""

    def steps(self) -> Steps: ...


@dataclass(frozen=True)
class JobPart:
    """Units that are searched with the same options; they are made lazily."""

    key: Hashable  # equal for parts that one pipeline may translate together
    pipeline: Pipeline
    units: Iterator[Unit]
    parallel: bool = False  # whether several threads translate better than one: the engine keeps to its own threads

    def results(self, progress: Progress | None) -> Iterator[tuple[list[Unit], list[UnitResult]]]:
        """Yields chunks of units with their results, in order."""
        chunks = iter(lambda: list(islice(self.units, PARALLEL_CHUNK if self.parallel else CHUNK)), [])
        first, second = next(chunks, None), next(chunks, None)
        if first is None:
            return
        if second is None or not self.parallel:
            for units in filter(None, chain((first, second), chunks)):
                yield units, self.pipeline.results(units, progress)
            return
        yield from self._in_parallel(chain((first, second), chunks), progress)

    def _in_parallel(
        self, chunks: Iterator[list[Unit]], progress: Progress | None
    ) -> Iterator[tuple[list[Unit], list[UnitResult]]]:
        """Translates several chunks at a time: one is prepared or checked while others are searched."""
        threads = ThreadPoolExecutor(AT_ONCE, "regard-translate")
        translate = partial(self.pipeline.results, progress=progress and _one_at_a_time(progress))
        started: deque[tuple[list[Unit], Future[list[UnitResult]]]] = deque()
        try:
            for units in chunks:
                started.append((units, threads.submit(translate, units)))
                if len(started) == AT_ONCE:
                    done, results = started.popleft()
                    yield done, results.result()
            for done, results in started:
                yield done, results.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _one_at_a_time(progress: Progress) -> Progress:
    """Returns a function that several threads may call."""
    lock = Lock()

    def report(amount: int) -> None:
        with lock:
            progress(amount)

    return report


class TranslationJob:
    """The translation of some texts by one model."""

    def __init__(
        self,
        translator: object,
        lines: Sequence[str],
        parts: Sequence[JobPart],
        nbest: int = 1,
        progress: Progress | None = None,
        revision: Revision | None = None,
    ) -> None:
        """`translator` owns the job; `lines` are the texts without their leading tags."""
        self.translator, self.parts, self._nbest, self._progress = translator, parts, nbest, progress
        self._revision = revision
        self._texts = [TextAssembly(line) for line in lines]

    def run(self) -> list[Translation]:
        for part in self.parts:
            for units, results in part.results(self._progress):
                self.add(units, results)
        return self.translations()

    def add(self, units: Sequence[Unit], results: Sequence[UnitResult]) -> None:
        """Adds the results of units, in the order in which the units were made."""
        for unit, result in zip(units, results, strict=True):
            self._texts[unit.text].add((unit.without_source(), result))

    def final_sentences(self, text: int) -> dict[int, SentenceTranslation]:
        """Returns the sentences of a text that are complete, followed by another one, and not revised later, by their
        index. Another thread may be adding sentences."""
        found = enumerate(tuple(self._texts[text].sentences))
        return {i: one for i, one in found if self._revision is None or not self._revision.may_revise(one)}

    def translations(self) -> list[Translation]:
        """Returns the translations of all texts; all units must have been added."""
        return [text.finished(self._nbest) for text in self._texts]

    def steps(self) -> Steps:
        found = yield self
        return found if self._revision is None else (yield from self._revision.steps(found))


def next_step(steps: Steps, translations: list[Translation] | None = None) -> TranslationJob | list[Translation]:
    """Returns the next job of `steps`, given the translations of the last one (None at the start), or the result."""
    try:
        return next(steps) if translations is None else steps.send(translations)
    except StopIteration as end:
        result: list[Translation] = end.value
        return result


def run_steps(steps: Steps) -> list[Translation]:
    """Runs each job of `steps`, and returns their result."""
    step = next_step(steps)
    while isinstance(step, TranslationJob):
        step = next_step(steps, step.run())
    return step


class TextTranslation:
    """The interface shared by a single model and a chain of models: texts in, translations out."""

    def job(self, texts: str | Iterable[str], options: TranslateOptions | None = None, **changes: Any) -> DividedWork:
        """Returns the work of a call of `translate`, for a caller that runs it in parts."""
        raise NotImplementedError

    @overload
    def translate(self, texts: str, options: TranslateOptions | None = None, **changes: Any) -> Translation: ...

    @overload
    def translate(
        self, texts: Iterable[str], options: TranslateOptions | None = None, **changes: Any
    ) -> list[Translation]: ...

    def translate(
        self, texts: str | Iterable[str], options: TranslateOptions | None = None, **changes: Any
    ) -> Translation | list[Translation]:
        """Translates a string, or several strings into a list of translations in their order.

        Every field of `TranslateOptions` is a keyword: `translate(texts, beam=1, split="lines")`. `options` can be
        shared by several calls; keywords override some of them. Raises InputError for an option that is unknown, out of
        its bounds, or not possible with this model.

        Paragraphs, line breaks, list marks and spaces between sentences are as in the text. Several threads may use one
        translator at a time; the results do not change.
        """
        found = run_steps(self.job(texts, options, **changes).steps())
        return found[0] if isinstance(texts, str) else found

    def translate_stream(
        self, texts: Iterable[str], options: TranslateOptions | None = None, **changes: Any
    ) -> Iterator[Translation]:
        """Translates any number of texts lazily, like `translate`, with at most 2,000 in memory. Reads ahead.

        >>> import regard
        >>> translator = regard.load("en-fr", device="cpu")
        >>> [one.text for one in translator.translate_stream(iter(["The cat is black.", "Thank you!"]))]
        ['Le chat est noir.', 'Merci !']
        """
        remaining = iter(texts)
        while some := list(islice(remaining, CHUNK)):
            yield from self.translate(some, options, **changes)
