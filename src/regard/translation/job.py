"""A call of `translate` as work that can be divided: units, how they are searched for, and how they become texts again.

    texts ─▶ TranslationJob ─ units ─▶ Pipeline.results ─ results ─▶ TranslationJob ─▶ translations

`run` does all of it at once. A server takes some units of each of many jobs instead, and translates them together: the
result for a unit does not depend on the others, and parts of equal `key` may share a pipeline.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, overload

from regard.translation.assemble import TextAssembly
from regard.translation.options import CHUNK, TranslateOptions
from regard.translation.translation import SentenceTranslation, Translation

if TYPE_CHECKING:
    from regard.search.engine import Progress
    from regard.translation.pipeline import Pipeline, UnitResult
    from regard.translation.units import Unit

# A job asks for translations by jobs of single models, one after another, and ends with its own translations.
Steps = Generator["TranslationJob", list[Translation], list[Translation]]


class DividedWork(Protocol):
    """A call of `translate`, by one model or by several one after another."""

    def steps(self) -> Steps: ...


@dataclass(frozen=True)
class JobPart:
    """Units that are searched for in the same way; they are made as they are asked for."""

    key: Hashable  # equal for parts that one pipeline may translate together
    pipeline: Pipeline
    units: Iterator[Unit]


class TranslationJob:
    """The work of one model on some texts."""

    def __init__(
        self,
        translator: object,
        lines: Sequence[str],
        parts: Sequence[JobPart],
        nbest: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """`translator` is whose work it is; `lines` are the texts without the tags that they began with."""
        self.translator, self.parts, self._nbest, self._progress = translator, parts, nbest, progress
        self._texts = [TextAssembly(line) for line in lines]

    def run(self) -> list[Translation]:
        for part in self.parts:
            while some := list(islice(part.units, CHUNK)):
                self.add(some, part.pipeline.results(some, self._progress))
        return self.translations()

    def add(self, units: Sequence[Unit], results: Sequence[UnitResult]) -> None:
        """What was found for units, in the order in which they were made."""
        for unit, result in zip(units, results, strict=True):
            self._texts[unit.text].add((unit.without_reading(), result))

    def finished_sentences(self, text: int) -> Sequence[SentenceTranslation]:
        """Of one text, those of which all units were added and that another one follows."""
        return self._texts[text].sentences

    def translations(self) -> list[Translation]:
        """Of all texts; all units must have been added."""
        return [text.finished(self._nbest) for text in self._texts]

    def steps(self) -> Steps:
        return (yield self)


def next_step(steps: Steps, translations: list[Translation] | None = None) -> TranslationJob | list[Translation]:
    """The next job of `steps`, given the translations of the one before it (None at the start), or what they return."""
    try:
        return next(steps) if translations is None else steps.send(translations)
    except StopIteration as end:
        result: list[Translation] = end.value
        return result


def run_steps(steps: Steps) -> list[Translation]:
    """Run each job of `steps`, and return their result."""
    step = next_step(steps)
    while isinstance(step, TranslationJob):
        step = next_step(steps, step.run())
    return step


class TextTranslation:
    """What one model and a chain of models have in common: texts in, translations out."""

    def job(self, texts: str | Iterable[str], options: TranslateOptions | None = None, **changes: Any) -> DividedWork:
        """The work of a call of `translate`, for a caller that runs it in parts."""
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
        """Translate a string, or several strings into a list of translations in their order.

        Every field of `TranslateOptions` is a keyword: `translate(texts, beam=1, split="lines")`. `options` may hold
        several calls' options; keywords change some of them. Raises InputError for an option that is unknown, out of
        its bounds, or not possible with this model.

        Paragraphs, line breaks, list marks and spaces between sentences are as in the text. Several threads may
        translate at a time with one translator; results are the same as one after another.
        """
        found = run_steps(self.job(texts, options, **changes).steps())
        return found[0] if isinstance(texts, str) else found

    def translate_stream(
        self, texts: Iterable[str], options: TranslateOptions | None = None, **changes: Any
    ) -> Iterator[Translation]:
        """As `translate`, of any number of texts, of which 2,000 are in memory at a time. Texts are read ahead.

        >>> import regard
        >>> translator = regard.load("en-fr", device="cpu")
        >>> [one.text for one in translator.translate_stream(iter(["The cat is black.", "Thank you!"]))]
        ['Le chat est noir.', 'Merci !']
        """
        remaining = iter(texts)
        while some := list(islice(remaining, CHUNK)):
            yield from self.translate(some, options, **changes)
