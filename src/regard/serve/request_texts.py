"""Texts of a request, with or without markup: their segments, and what is answered for their translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.formats.document import ATOM, Document, PlacedSegment, Segment
from regard.formats.translate_document import write_translated
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
