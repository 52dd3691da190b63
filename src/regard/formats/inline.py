"""Marks and atoms follow their words into the translation, by word alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from regard.formats.document import ATOM, Piece, PlacedSegment, Segment
from regard.formats.mark_ranges import MarkRanges
from regard.formats.placing import Layout, Skeleton, in_order, skeleton_of
from regard.text.words import Span, shortened
from regard.translation.translation import Translation


def place_marks(segment: Segment, translation: Translation) -> PlacedSegment:
    """The translation of a segment with every mark around the translation of its words and every atom in its place.

    Whatever the translation looks like, every mark and every atom of the segment is in the result once, with the same
    parent. A translation that has lost line breaks of the document is not used.
    """
    doubtful = is_doubtful(translation)
    if translation.text == segment.text:
        return PlacedSegment(source_pieces(segment), doubtful=doubtful, unchanged=True)
    if not segment.wrapped and translation.text.count("\n") != segment.text.count("\n"):
        warning = "its translation has other line breaks, so it stays as it was"
        return PlacedSegment(source_pieces(segment), (warning,), doubtful=True, unchanged=True)
    if not segment.marks and ATOM not in segment.text and ATOM not in translation.text:
        return PlacedSegment((translation.text,) if translation.text else (), doubtful=doubtful)
    pieces, warnings = placed_pieces(segment, translation)
    return PlacedSegment(pieces, warnings, doubtful=doubtful)


def is_doubtful(translation: Translation) -> bool:
    return any(
        sentence.doubtful or any(span.status == "missing" for span in sentence.protected)
        for sentence in translation.sentences
    )


def placed_pieces(segment: Segment, translation: Translation) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """The pieces of a translation with marks or atoms, and what is to be said about them."""
    skeleton = skeleton_of(segment)
    at_atoms = atom_places(translation, skeleton.atoms)
    placed = [(source, at) for source, at in zip(skeleton.atoms, at_atoms, strict=True) if at >= 0]
    ranges = MarkRanges(translation, [((source, source + 1), (at, at + 1)) for source, at in placed])
    marks = ranges.of_marks(segment.marks, skeleton.mark_parents)
    layout, put_in = layout_of(translation, skeleton, marks, at_atoms, ranges)
    warnings = [
        f"no translated word is aligned with {shortened(segment.text[slice(*segment.marks[mark])], 40)!r}; "
        "its inline element was placed by position"
        for mark in ranges.unaligned
    ]
    if put_in:
        warnings.append(f"the translation left out {put_in} inline element(s), which were placed by position")
    return in_order(skeleton, layout), tuple(warnings)


def source_pieces(segment: Segment) -> tuple[Piece, ...]:
    """The segment as it is.

    >>> from regard.formats.document import Mark
    >>> source_pieces(Segment("a red \\ufffc", (Mark(2, 5),)))
    ('a ', OpenMark(mark=0), 'red', CloseMark(mark=0), ' ', Atom(atom=0))
    """
    skeleton = skeleton_of(segment)
    marks = [(_without(skeleton.atoms, start), _without(skeleton.atoms, end)) for start, end in segment.marks]
    atoms = [at - number for number, at in enumerate(skeleton.atoms)]
    return in_order(skeleton, Layout(segment.text.replace(ATOM, ""), marks, atoms))


def atom_places(translation: Translation, atoms: Sequence[int]) -> list[int]:
    """Where each atom stands in the translated text, or -1: as the translation says; otherwise the atoms of a sentence
    that are left take the U+FFFC of its translation that are left, in order."""
    stands = {at for at, character in enumerate(translation.text) if character == ATOM} if atoms else set[int]()
    places = dict.fromkeys(atoms, -1)
    for sentence in translation.sentences:
        for span in sentence.protected:
            if span.target is not None and span.target[0] in stands and places.get(span.source[0]) == -1:
                places[span.source[0]] = span.target[0]
                stands.remove(span.target[0])
    # A stretch is a sentence (odd numbers) or what stands before or after it (even numbers).
    source_edges = [edge for sentence in translation.sentences for edge in sentence.source_span]
    target_edges = [edge for sentence in translation.sentences for edge in sentence.target_span]
    left: dict[int, list[int]] = {}
    for at in sorted(stands, reverse=True):
        left.setdefault(bisect_left(target_edges, at + 1), []).append(at)
    for atom in atoms:
        if places[atom] == -1 and (candidates := left.get(bisect_left(source_edges, atom + 1))):
            places[atom] = candidates.pop()
    return [places[atom] for atom in atoms]


def layout_of(
    translation: Translation, skeleton: Skeleton, marks: Sequence[Span], at_atoms: Sequence[int], ranges: MarkRanges
) -> tuple[Layout, int]:
    """The layout, and how many atoms had to be put in."""
    text, source = translation.text, translation.source
    written = [at for at, character in enumerate(text) if character == ATOM]
    missing = frozenset(number for number, at in enumerate(at_atoms) if at < 0)
    places = [
        _without(written, place_by_position(ranges, source_at, len(text)) if at < 0 else at)
        for source_at, at in zip(skeleton.atoms, at_atoms, strict=True)
    ]
    moved = [(_without(written, start), _without(written, end)) for start, end in marks]
    spaced = [(source[max(0, at - 1) : at].isspace(), source[at + 1 : at + 2].isspace()) for at in skeleton.atoms]
    return Layout(text.replace(ATOM, ""), moved, places, spaced, missing), len(missing)


def place_by_position(ranges: MarkRanges, source: int, target_length: int) -> int:
    """The end of the word that stands as far into the sentence as the source character does."""
    number = ranges.sentence_at(source)
    if number < 0:
        return min(source, target_length)
    sentence = ranges.sentences[number]
    start, end = sentence.sentence.source_span
    if source >= end or not sentence.words:
        return sentence.sentence.target_span[1]
    return sentence.words[int((source - start) * len(sentence.words) / (end - start))][1]


def _without(atoms: Sequence[int], at: int) -> int:
    """A position in a text as one in the same text without U+FFFC."""
    return at - bisect_left(atoms, at)
