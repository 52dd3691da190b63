"""Marks and atoms follow their words into the translation, by word alignment."""

from __future__ import annotations

from regard.decode.translation import Translation
from regard.formats.document import ATOM, Piece, PlacedSegment, Segment
from regard.formats.placing import Layout, in_order, skeleton_of


def place_marks(segment: Segment, translation: Translation) -> PlacedSegment:
    """The translation of a segment with every mark around the translation of its words and every atom in its place."""
    if translation.text == segment.text:
        return PlacedSegment(source_pieces(segment))
    raise NotImplementedError  # the next commit


def source_pieces(segment: Segment) -> tuple[Piece, ...]:
    """The segment as it is.

    >>> from regard.formats.document import Mark
    >>> source_pieces(Segment("a red \\ufffc", (Mark(2, 5),)))
    ('a ', OpenMark(mark=0), 'red', CloseMark(mark=0), ' ', Atom(atom=0))
    """
    skeleton = skeleton_of(segment)
    before = [0]  # for each character, how many atoms stand before it
    for character in segment.text:
        before.append(before[-1] + (character == ATOM))
    marks = [(start - before[start], end - before[end]) for start, end in segment.marks]
    atoms = [at - before[at] for at in skeleton.atoms]
    return in_order(skeleton, Layout(segment.text.replace(ATOM, ""), marks, atoms))
