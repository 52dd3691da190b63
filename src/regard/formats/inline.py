"""Places marks and atoms at the translations of their words, by word alignment.

A segment's marks and atoms form a tree, which is written as an ordered list of pieces. The text of a `Layout` is
without U+FFFC: an atom has a position between two characters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from regard.formats.document import ATOM, Atom, CloseMark, OpenMark, Piece, PlacedSegment, Segment
from regard.formats.mark_ranges import ROOT, MarkRanges
from regard.text.words import Span, shortened
from regard.translation.translation import Translation

Place = tuple[int, int]


@dataclass(frozen=True)
class Skeleton:
    """The parent mark of each mark and each atom of a segment; `ROOT` if there is none."""

    mark_parents: tuple[int, ...]
    atom_parents: tuple[int, ...]
    atoms: tuple[int, ...]  # positions in the segment's text


def skeleton_of(segment: Segment) -> Skeleton:
    """
    >>> from regard.formats.document import Mark
    >>> skeleton_of(Segment("a \\ufffc b", (Mark(0, 3), Mark(2, 3))))
    Skeleton(mark_parents=(-1, 0), atom_parents=(1,), atoms=(2,))
    """
    atoms = [at for at, character in enumerate(segment.text) if character == ATOM] if ATOM in segment.text else []
    mark_parents, atom_parents = list[int](), list[int]()
    opened: list[int] = []
    begins = [(mark.start, number) for number, mark in enumerate(segment.marks)]
    events = sorted([(at, 1, number) for number, at in enumerate(atoms)] + [(at, 0, n) for at, n in begins])
    for at, is_atom, number in events:  # marks open before an atom at the same character
        while opened and segment.marks[opened[-1]].end <= at:
            opened.pop()
        (atom_parents if is_atom else mark_parents).append(opened[-1] if opened else ROOT)
        if not is_atom:
            opened.append(number)
    return Skeleton(tuple(mark_parents), tuple(atom_parents), tuple(atoms))


@dataclass
class Layout:
    """The positions of marks and atoms in a text without U+FFFC."""

    text: str
    marks: Sequence[Place]
    atoms: Sequence[int]
    # For each atom, whether the source has a space before it and after it; a moved atom gets them again.
    spaced: Sequence[tuple[bool, bool]] = ()
    placed_by_position: frozenset[int] = frozenset()  # atoms that were missing in the text


def in_order(skeleton: Skeleton, layout: Layout) -> tuple[Piece, ...]:
    """Returns the pieces, with every mark in its parent and every atom in its mark, whatever the layout is.

    A position outside the parent is moved to the parent's nearest end; one inside a mark to which it does not belong,
    to that mark's nearest end.
    """
    marks = _nested(skeleton.mark_parents, layout)
    inside: dict[int, list[tuple[int, int, int]]] = {}  # mark → (start, end, index) of the marks in it
    for number, parent in enumerate(skeleton.mark_parents):
        inside.setdefault(parent, []).append((*marks[number], number))
    items: dict[int, list[tuple[int, int, int, Piece]]] = {}
    for parent, held in inside.items():
        held.sort()
        items[parent] = [(start, end, number, OpenMark(number)) for start, end, number in held]
    moved: dict[int, int] = {}
    by_place = sorted(range(len(layout.atoms)), key=lambda atom: (layout.atoms[atom], atom))
    for rank, atom in enumerate(by_place):
        parent = skeleton.atom_parents[atom]
        start, end = (0, len(layout.text)) if parent == ROOT else marks[parent]
        at = _outside(min(max(layout.atoms[atom], start), end), inside.get(parent, []))
        items.setdefault(parent, []).append((at, at, rank, Atom(atom)))
        if at != layout.atoms[atom] or atom in layout.placed_by_position:
            moved[atom] = at
    for held_items in items.values():
        held_items.sort(key=lambda item: item[:3])
    return _walk(layout, marks, items, moved)


def _nested(parents: Sequence[int], layout: Layout) -> list[Place]:
    """Moves every mark into its parent, which has a smaller index."""
    marks: list[Place] = []
    for (start, end), parent in zip(layout.marks, parents, strict=True):
        low, high = (0, len(layout.text)) if parent == ROOT else marks[parent]
        start = min(max(start, low), high)
        marks.append((start, min(max(end, start), high)))
    return marks


def _outside(at: int, marks: Sequence[tuple[int, int, int]]) -> int:
    """The position nearest to `at` that is not inside any of the marks (sorted, not overlapping)."""
    before = bisect_left(marks, (at, -1, -1)) - 1
    if before >= 0:
        start, end, _ = marks[before]
        if start < at < end:
            return start if at - start < end - at else end
    return at


def _walk(
    layout: Layout,
    marks: Sequence[Place],
    items: dict[int, list[tuple[int, int, int, Piece]]],
    moved: dict[int, int],
) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    cursor = 0
    stack = [(ROOT, iter(items.get(ROOT, ())))]
    while stack:
        mark, held = stack[-1]
        item = next(held, None)
        stop = (len(layout.text) if mark == ROOT else marks[mark][1]) if item is None else item[0]
        if cursor < stop:
            pieces.append(layout.text[cursor:stop])
            cursor = stop
        if item is None:
            stack.pop()
            if mark != ROOT:
                pieces.append(CloseMark(mark))
        elif isinstance(item[3], OpenMark):
            pieces.append(item[3])
            stack.append((item[3].mark, iter(items.get(item[3].mark, ()))))
        else:
            assert isinstance(item[3], Atom)
            before, after = _spaces(layout, item[3].atom, moved)
            pieces += [before, item[3], after]
    return tuple(_merge_strings(pieces))


def _spaces(layout: Layout, atom: int, moved: dict[int, int]) -> tuple[str, str]:
    """The spaces that a moved atom needs before it and after it."""
    if atom not in moved or not layout.spaced:
        return "", ""
    at = moved[atom]
    touches_before = at > 0 and layout.text[at - 1].isalnum()
    touches_after = at < len(layout.text) and layout.text[at].isalnum()
    spaced_before, spaced_after = layout.spaced[atom]
    return " " * (touches_before and spaced_before), " " * (touches_after and spaced_after)


def _merge_strings(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Joins adjacent strings, and removes empty ones."""
    for is_text, run in groupby(pieces, key=lambda piece: isinstance(piece, str)):
        if not is_text:
            yield from run
        elif text := "".join(map(str, run)):
            yield text


def place_marks(segment: Segment, translation: Translation) -> PlacedSegment:
    """Returns the translation of a segment with every mark around the translation of its words and every atom placed.

    For any translation, every mark and every atom of the segment is in the result exactly once, with the same parent. A
    translation that has lost line breaks of the document is not used.
    """
    if translation.text == segment.text:
        return PlacedSegment(source_pieces(segment), unchanged=True)
    if not segment.wrapped and translation.text.count("\n") != segment.text.count("\n"):
        warning = "its translation has other line breaks, so it stays as it was"
        return PlacedSegment(source_pieces(segment), (warning,), unchanged=True)
    if not segment.marks and ATOM not in segment.text and ATOM not in translation.text:
        return PlacedSegment((translation.text,) if translation.text else ())
    return PlacedSegment(*placed_pieces(segment, translation))


def placed_pieces(segment: Segment, translation: Translation) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """The pieces of a translation with marks or atoms, and warnings about them."""
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
    """The pieces of the untranslated segment.

    >>> from regard.formats.document import Mark
    >>> source_pieces(Segment("a red \\ufffc", (Mark(2, 5),)))
    ('a ', OpenMark(mark=0), 'red', CloseMark(mark=0), ' ', Atom(atom=0))
    """
    skeleton = skeleton_of(segment)
    marks = [(_without(skeleton.atoms, start), _without(skeleton.atoms, end)) for start, end in segment.marks]
    atoms = [at - number for number, at in enumerate(skeleton.atoms)]
    return in_order(skeleton, Layout(segment.text.replace(ATOM, ""), marks, atoms))


def atom_places(translation: Translation, atoms: Sequence[int]) -> list[int]:
    """The position of each atom in the translated text, or -1: as the translation records it; otherwise the remaining
    atoms of a sentence are assigned to the remaining U+FFFC of its translation, in order."""
    stands = {at for at, character in enumerate(translation.text) if character == ATOM} if atoms else set[int]()
    places = dict.fromkeys(atoms, -1)
    for sentence in translation.sentences:
        for span in sentence.protected:
            if span.target is not None and span.target[0] in stands and places.get(span.source[0]) == -1:
                places[span.source[0]] = span.target[0]
                stands.remove(span.target[0])
    # Odd numbers are sentences, even numbers the text before or after a sentence.
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
    """The layout, and the number of atoms that were missing in the translation."""
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
    """The end of the target word at the same relative position in the sentence as the source character."""
    number = ranges.sentence_at(source)
    if number < 0:
        return min(source, target_length)
    sentence = ranges.sentences[number]
    start, end = sentence.sentence.source_span
    if source >= end or not sentence.words:
        return sentence.sentence.target_span[1]
    return sentence.words[int((source - start) * len(sentence.words) / (end - start))][1]


def _without(atoms: Sequence[int], at: int) -> int:
    """Converts a position in a text to one in the same text without U+FFFC."""
    return at - bisect_left(atoms, at)
