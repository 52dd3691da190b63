"""Plain texts, fragments of markup and documents: their segments are translated together, each input in one language.

    inputs ─ the language of each ─ segments of one language ─▶ TranslationService ─▶ translations, by input

An input whose language cannot be detected from its own words (a heading, an answer of a poll) is assumed to be in the
language of most characters of the other inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from regard.bundle.bundled_models import Direction
from regard.errors import InputError
from regard.formats.document import ATOM, Document, PlacedSegment, Segment
from regard.formats.translate_document import write_translated
from regard.serve.errors import ServeError
from regard.serve.translation_service import (
    TranslationRequest,
    TranslationService,
    gather_or_cancel,
    run_in_thread_if_long,
)
from regard.translation.options import TranslateOptions
from regard.translation.translation import Translation

BEFORE = -1  # in place of the number of a segment: the sentence before the input


class TranslatedText(NamedTuple):
    text: str
    alternatives: list[str]


@dataclass(frozen=True)
class PlainText:
    """A text without markup."""

    text: str

    @property
    def segments(self) -> Sequence[Segment]:
        return [Segment(self.text)] if self.text.strip() else []

    def translated(self, found: Sequence[Translation], alternatives: int) -> TranslatedText:
        """The text of the translations of its segments, and at most `alternatives` alternatives."""
        if not found:
            return TranslatedText(self.text, [])
        return TranslatedText(found[0].text, alternative_texts(found[0], alternatives))


@dataclass(frozen=True)
class MarkupText:
    """A fragment of HTML or XML. Alternatives are given only for one segment without markup inside: for other
    candidates the positions of the markup are not known."""

    document: Document

    @property
    def segments(self) -> Sequence[Segment]:
        return self.document.segments

    def translated(self, found: Sequence[Translation], alternatives: int) -> TranslatedText:
        text = write_translated(self.document, found).data.decode()
        plain = len(found) == 1 and not self.segments[0].marks and ATOM not in self.segments[0].text
        others = alternative_texts(found[0], alternatives) if plain else []
        return TranslatedText(text, [self.document.write([PlacedSegment((other,))]).decode() for other in others])


def alternative_texts(translation: Translation, most: int) -> list[str]:
    texts = [candidate.text for candidate in translation.candidates]
    return [text for text in texts if text != translation.text][:most]


@dataclass(frozen=True)
class SegmentRequest:
    """The segments of each input, the languages (`source` None: detected in each input), and the options."""

    segments: Sequence[Sequence[Segment]]
    target: str
    source: str | None = None
    options: TranslateOptions | None = None
    before: str = ""  # a sentence before each input, which is not part of the result
    through: str | None = None  # as in `TranslationRequest`

    @property
    def characters(self) -> int:
        return sum(len(segment.text) for segments in self.segments for segment in segments)


class TranslatedSegments(NamedTuple):
    """A translation for each segment, and their source language."""

    translations: list[Translation]
    source: str


async def translate_segments(
    service: TranslationService, request: SegmentRequest, deadline: float | None = None
) -> list[TranslatedSegments]:
    """Return the translations of each input, in order. The size must have been checked."""
    sources = await run_in_thread_if_long(request.characters, input_languages, service, request)
    groups: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for number, segments in enumerate(request.segments):
        if request.before and segments:
            groups.setdefault((sources[number], segments[0].wrapped), []).append((number, BEFORE))
        for place, segment in enumerate(segments):
            groups.setdefault((sources[number], segment.wrapped), []).append((number, place))
    found: dict[tuple[int, int], Translation] = {}

    async def translate(source: str, wrapped: bool, places: list[tuple[int, int]]) -> None:
        texts = [
            request.before if place == BEFORE else request.segments[number][place].text for number, place in places
        ]
        options = group_options(service, request, source, wrapped)
        options = replace(options, documents=tuple(number for number, _ in places))
        group = TranslationRequest(texts, request.target, source, through=request.through, options=options)
        served = await service.translate(group, deadline, checked=True)
        found.update(zip(places, (one.translation for one in served), strict=True))

    await gather_or_cancel(translate(*kind, places) for kind, places in groups.items())
    return [
        TranslatedSegments([found[number, place] for place in range(len(segments))], sources[number])
        for number, segments in enumerate(request.segments)
    ]


def checked_options(**given: Any) -> TranslateOptions:
    """The options of a request. Raises `ServeError` with status 400 if one is out of its bounds."""
    try:
        return TranslateOptions(**given)
    except InputError as problem:
        raise ServeError(400, str(problem)) from None


def group_options(service: TranslationService, request: SegmentRequest, source: str, wrapped: bool) -> TranslateOptions:
    """The options for segments of one language and layout. With several candidates the beam is at least their
    number; a chain of two models gives one candidate."""
    options = request.options or TranslateOptions()
    if wrapped and options.split == "sentences":
        options = replace(options, split="wrapped")
    model = service.pool.by_direction.get(Direction(source, request.target))
    if model is None:
        return replace(options, nbest=1)
    beam = max(options.nbest, service.pool.models[model].bundle.decode.beam)
    return replace(options, beam=beam) if options.nbest > 1 else options


def input_languages(service: TranslationService, request: SegmentRequest) -> list[str]:
    """The language of each input: if it is not certain, the language of most characters of the others."""
    texts = [[segment.text for segment in segments] for segments in request.segments]
    if request.source is not None:
        return [service.choice([], request.target, request.source, request.through).source] * len(texts)
    choices = [service.choice(some, request.target, None, request.through) for some in texts]
    certain: Counter[str] = Counter()
    for choice, some in zip(choices, texts, strict=True):
        if choice.sure and any(character.isalpha() for text in some for character in text):
            certain[choice.source] += sum(map(len, some))
    usual = certain.most_common(1)[0][0] if certain else None
    return [choice.source if choice.sure or usual is None else usual for choice in choices]
