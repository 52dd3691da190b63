"""A segment's marks and atoms as a tree, and the tree as pieces in order.

Text, here, is without U+FFFC: an atom has a position between two characters.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from regard.formats.document import ATOM, Atom, CloseMark, OpenMark, Piece, Segment

ROOT = -1
Place = tuple[int, int]


@dataclass(frozen=True)
class Skeleton:
    """Which mark each mark and each atom of a segment stands in; `ROOT` for those in none."""

    mark_parents: tuple[int, ...]
    atom_parents: tuple[int, ...]
    atoms: tuple[int, ...]  # where they stand in the segment's text


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
    for at, is_atom, number in events:  # marks open before the atom at the same character
        while opened and segment.marks[opened[-1]].end <= at:
            opened.pop()
        (atom_parents if is_atom else mark_parents).append(opened[-1] if opened else ROOT)
        if not is_atom:
            opened.append(number)
    return Skeleton(tuple(mark_parents), tuple(atom_parents), tuple(atoms))


@dataclass
class Layout:
    """Where marks and atoms stand in a text without U+FFFC."""

    text: str
    marks: Sequence[Place]
    atoms: Sequence[int]
    # For each atom, whether the source has a space before it and after it: one that had to be moved gets them again.
    spaced: Sequence[tuple[bool, bool]] = ()
    placed_by_position: frozenset[int] = frozenset()  # atoms that were not in the text


def in_order(skeleton: Skeleton, layout: Layout) -> tuple[Piece, ...]:
    """The pieces: every mark in its parent and every atom in its mark, whatever the layout says.

    A place outside the parent is moved to the parent's nearest end; one inside a mark to which it does not belong, to
    that mark's nearest end.
    """
    marks = _nested(skeleton.mark_parents, layout)
    inside: dict[int, list[tuple[int, int, int]]] = {}  # mark → (start, end, number) of the marks in it
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
    """Every mark within its parent, which has a smaller number."""
    marks: list[Place] = []
    for (start, end), parent in zip(layout.marks, parents, strict=True):
        low, high = (0, len(layout.text)) if parent == ROOT else marks[parent]
        start = min(max(start, low), high)
        marks.append((start, min(max(end, start), high)))
    return marks


def _outside(at: int, marks: Sequence[tuple[int, int, int]]) -> int:
    """The place nearest to `at` that none of the marks (sorted, not overlapping) holds."""
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
    return tuple(_joined(pieces))


def _spaces(layout: Layout, atom: int, moved: dict[int, int]) -> tuple[str, str]:
    """What a moved atom needs before it and after it."""
    if atom not in moved or not layout.spaced:
        return "", ""
    at = moved[atom]
    touches_before = at > 0 and layout.text[at - 1].isalnum()
    touches_after = at < len(layout.text) and layout.text[at].isalnum()
    spaced_before, spaced_after = layout.spaced[atom]
    return " " * (touches_before and spaced_before), " " * (touches_after and spaced_after)


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Strings beside each other as one."""
    joined: list[Piece] = []
    run: list[str] = []
    for piece in [*pieces, None]:
        if isinstance(piece, str):
            if piece:
                run.append(piece)
            continue
        if run:
            joined.append("".join(run))
            run = []
        if piece is not None:
            joined.append(piece)
    return joined
