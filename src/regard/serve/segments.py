"""Plain texts, fragments of markup and documents: their segments, translated together, each input in one language.

    inputs ─ the language of each ─ segments of one language ─▶ TranslationService ─▶ translations, by input

An input whose own words do not tell its language (a heading, an answer of a poll) is taken to be in the language of
most characters of the other inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from regard.bundle.bundled_models import Choice, Direction
from regard.errors import InputError
from regard.formats.document import ATOM, Document, PlacedSegment, Segment
from regard.formats.translate_document import write_translated
from regard.serve.errors import ServeError
from regard.serve.translation_service import TranslationRequest, TranslationService, off_the_loop, together
from regard.translation.options import TranslateOptions
from regard.translation.translation import Translation


class TextAnswer(NamedTuple):
    text: str
    alternatives: list[str]


@dataclass(frozen=True)
class PlainText:
    """A text without markup."""

    text: str

    @property
    def segments(self) -> Sequence[Segment]:
        return [Segment(self.text)] if self.text.strip() else []

    def answer(self, found: Sequence[Translation], alternatives: int) -> TextAnswer:
        if not found:
            return TextAnswer(self.text, [])
        return TextAnswer(found[0].text, other_texts(found[0], alternatives))


@dataclass(frozen=True)
class MarkupText:
    """A fragment of HTML or XML. Other translations are given where it is one text without markup inside: of those it
    is not known where their words belong."""

    document: Document

    @property
    def segments(self) -> Sequence[Segment]:
        return self.document.segments

    def answer(self, found: Sequence[Translation], alternatives: int) -> TextAnswer:
        said = write_translated(self.document, found).data.decode()
        plain = len(found) == 1 and not self.segments[0].marks and ATOM not in self.segments[0].text
        others = other_texts(found[0], alternatives) if plain else []
        return TextAnswer(said, [self.document.write([PlacedSegment((text,))]).decode() for text in others])


def other_texts(translation: Translation, most: int) -> list[str]:
    texts = [candidate.text for candidate in translation.candidates]
    return [text for text in texts if text != translation.text][:most]


@dataclass(frozen=True)
class Passages:
    """What is asked for: the segments of each passage, their language or None to find it, and how to translate."""

    segments: Sequence[Sequence[Segment]]
    target: str
    source: str | None = None
    options: TranslateOptions | None = None

    @property
    def characters(self) -> int:
        return sum(len(segment.text) for segments in self.segments for segment in segments)


class TranslatedPassage(NamedTuple):
    """A translation for each segment, and the language that they were in."""

    translations: list[Translation]
    source: str


async def translate_passages(
    service: TranslationService, asked: Passages, deadline: float | None = None
) -> list[TranslatedPassage]:
    """In their order. The size was checked before."""
    sources = await off_the_loop(asked.characters, sources_of, service, asked)
    groups: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for number, segments in enumerate(asked.segments):
        for place, segment in enumerate(segments):
            groups.setdefault((sources[number], segment.wrapped), []).append((number, place))
    found: dict[tuple[int, int], Translation] = {}

    async def translate(source: str, wrapped: bool, places: list[tuple[int, int]]) -> None:
        texts = [asked.segments[number][place].text for number, place in places]
        options = options_for(service, asked, source, wrapped)
        request = TranslationRequest(texts, asked.target, source, options=options)
        served = await service.translate(request, deadline, checked=True)
        found.update(zip(places, (one.translation for one in served), strict=True))

    await together(translate(*kind, places) for kind, places in groups.items())
    return [
        TranslatedPassage([found[number, place] for place in range(len(segments))], sources[number])
        for number, segments in enumerate(asked.segments)
    ]


def checked_options(**given: Any) -> TranslateOptions:
    """Options of a request. Raises a `ServeError` with status 400 where one is out of its bounds."""
    try:
        return TranslateOptions(**given)
    except InputError as problem:
        raise ServeError(400, str(problem)) from None


def options_for(service: TranslationService, asked: Passages, source: str, wrapped: bool) -> TranslateOptions:
    """The options for segments of one kind. The beam is the model's own, unless more candidates are asked for than it
    keeps; two models one after another give one."""
    options = asked.options or TranslateOptions()
    if wrapped and options.split == "sentences":
        options = replace(options, split="wrapped")
    model = service.pool.by_direction.get(Direction(source, asked.target))
    if model is None:
        return replace(options, nbest=1)
    beam = max(options.nbest, service.pool.models[model].bundle.decode.beam)
    return replace(options, beam=beam) if options.nbest > 1 else options


def sources_of(service: TranslationService, asked: Passages) -> list[str]:
    """The language of each passage."""
    texts = [[segment.text for segment in segments] for segments in asked.segments]
    if asked.source is not None:
        choice = service.choice([], asked.target, asked.source)
        return [choice.source] * len(texts)
    choices = [service.choice(some, asked.target) for some in texts]
    usual = usual_language(choices, texts)
    return [choice.source if choice.sure or usual is None else usual for choice in choices]


def usual_language(choices: Sequence[Choice], texts: Sequence[Sequence[str]]) -> str | None:
    """The language that most characters surely are in."""
    sure: Counter[str] = Counter()
    for choice, some in zip(choices, texts, strict=True):
        if choice.sure and any(character.isalpha() for text in some for character in text):
            sure[choice.source] += sum(map(len, some))
    return sure.most_common(1)[0][0] if sure else None
