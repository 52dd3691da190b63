"""Segments of a source text, collected run by run.

A reader passes the parts of the source to a `SegmentBuilder` in order: text, line breaks, atoms, marks that open and
close, each with its span in the source. `cut` returns the segments so far. What a segment does not need stays outside
it: spaces, comments and images at its edges, and marks around all of it. Inside,

- white space that is equivalent to a space is one space;
- a mark without words in it is an atom, and so is an unpaired tag; adjacent atoms are merged;
- texts without a letter are not segments;
- links separated only by punctuation (a navigation bar) are separate segments.

`markup.py` writes the translated segments in place of the originals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import regex

from regard.formats.document import ATOM, Mark, Segment, Span
from regard.formats.markup import BuiltSegment, Escapes, Run

SPACES = regex.compile(r"[ \t\n\r\f]++")
LETTER = regex.compile(r"\p{L}")


class LineNumbers:
    """Computes line numbers of positions that are requested roughly in order."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.place, self.line = 0, 1

    def at(self, place: int) -> int:
        if place >= self.place:
            self.line += self.source.count("\n", self.place, place)
        else:
            self.line -= self.source.count("\n", place, self.place)
        self.place = place
        return self.line


class SegmentBuilder:
    """Collects runs, which must be added in the order of the source and without gaps."""

    def __init__(self, source: str, escapes: Escapes, collapse: bool = True) -> None:
        self.source = source
        self.escapes = escapes
        self.collapse = collapse  # whether any white space counts as one space
        self.runs: list[Run] = []
        self.lines = LineNumbers(source)
        self.overlapping: list[str] = []  # places of texts that were left out because their marks overlap

    def text(self, start: int, end: int) -> None:
        """Adds text that the source contains literally."""
        if not self.collapse:
            self._plain(start, end)
            return
        cursor = start
        for match in SPACES.finditer(self.source, start, end):
            if match[0] != " ":
                self._plain(cursor, match.start())
                self.runs.append(Run("text", match.start(), match.end(), " "))
                cursor = match.end()
        self._plain(cursor, end)

    def _plain(self, start: int, end: int) -> None:
        while start < end:
            at = self.source.find(ATOM, start, end)
            if at < 0:
                at = end
            if start < at:
                self.runs.append(Run("text", start, at, self.source[start:at]))
            if at < end:
                self.runs.append(Run("atom", at, at + 1, word=True))
            start = at + 1

    def character(self, start: int, end: int, character: str) -> None:
        """Adds a character that the source writes in another form, such as an entity. Several are an atom."""
        if len(character) == 1 and character != ATOM:
            self.runs.append(Run("text", start, end, character))
        else:
            self.atom(start, end, word=True)

    def atom(self, start: int, end: int, word: bool = False) -> None:
        self.runs.append(Run("atom", start, end, word=word))

    def open(self, name: str, start: int, end: int, separate: bool = False, bound: bool = False) -> None:
        self.runs.append(Run("open", start, end, name, separate=separate, bound=bound))

    def close(self, name: str, start: int, end: int) -> None:
        self.runs.append(Run("close", start, end, name))

    def cut(self, place: str = "") -> list[BuiltSegment]:
        """Returns the segments of what was collected, and starts anew."""
        runs, self.runs = self.runs, []
        if not any(run.kind == "text" and LETTER.search(run.text) for run in runs):
            return []
        paired = _paired(runs)
        if paired is None:
            self.overlapping.append(place or self.place_of(runs[0]))
            return []
        runs, partner = _filled(*paired)
        return [
            _built(runs[first:last], partner[first:last], first, place or self.place_of(runs[first]), self.escapes)
            for begin, end in _separate(runs, partner)
            for first, last in [_trimmed(runs, partner, begin, end)]
            if any(run.kind == "text" and LETTER.search(run.text) for run in runs[first:last])
        ]

    def place_of(self, run: Run) -> str:
        return f"line {self.lines.at(run.start)}"


def _paired(runs: Sequence[Run]) -> tuple[list[Run], list[int]] | None:
    """The index of the partner of each run that opens or closes a mark. Unpaired tags become atoms.

    `<b>x<i>y</b></i>`: the inner mark ends where the outer one does, and its end tag is joined to the outer one's.
    Returns None if marks overlap otherwise: `<b>x<i>y</b>z</i>`.
    """
    made: list[Run] = []
    partner: list[int] = []
    stack: list[int] = []
    waiting: Counter[str] = Counter()
    cut_short: Counter[str] = Counter()
    for run in runs:
        if run.kind == "close" and not waiting[run.text] and cut_short[run.text]:
            last = made[-1]
            if last.kind != "close" or last.end != run.start:
                return None
            cut_short[run.text] -= 1
            made[-1] = last._replace(end=run.end)
            continue
        if run.kind == "open":
            stack.append(len(made))
            waiting[run.text] += 1
        begins = -1
        while run.kind == "close" and begins < 0 and waiting[run.text]:
            opened = stack.pop()
            name = made[opened].text
            waiting[name] -= 1
            partner[opened] = len(made)
            if name == run.text:
                begins = opened
            else:
                made.append(Run("close", run.start, run.start, name))
                partner.append(opened)
                cut_short[name] += 1
        made.append(run)
        partner.append(begins)
    for number, run in enumerate(made):
        if run.kind in ("open", "close") and partner[number] < 0:
            made[number] = Run("atom", run.start, run.end)
    return made, partner


def _filled(runs: list[Run], partner: list[int]) -> tuple[list[Run], list[int]]:
    """Turns marks without words into atoms, and merges adjacent atoms."""
    worded = [0]
    for run in runs:
        worded.append(worded[-1] + (run.kind == "text" and not run.is_blank))
    made: list[Run] = []
    renumbered: dict[int, int] = {}
    number = 0
    while number < len(runs):
        run, last = runs[number], number
        if run.kind == "open" and worded[number] == worded[partner[number]]:
            last = partner[number]
            word = any(inner.word for inner in runs[number:last])
            run = Run("atom", run.start, runs[last].end, word=word)
        if run.kind == "atom" and made and made[-1].kind == "atom":
            made[-1] = Run("atom", made[-1].start, run.end, word=made[-1].word or run.word)
        else:
            renumbered[number] = len(made)
            made.append(run)
        number = last + 1
    partners = [-1] * len(made)
    for old, new in renumbered.items():
        if made[new].kind in ("open", "close"):
            partners[new] = renumbered[partner[old]]
    return made, partners


def _separate(runs: Sequence[Run], partner: Sequence[int]) -> Iterator[Span]:
    """Yields the ranges of runs of each segment: all runs, or one mark each if they are consecutive links."""
    marks: list[Span] = []
    at = 0
    while at < len(runs):
        if runs[at].kind == "open":
            marks.append((at, partner[at] + 1))
            at = partner[at]
        elif runs[at].word or (runs[at].kind == "text" and any(c.isalnum() for c in runs[at].text)):
            break
        at += 1
    else:
        if len(marks) > 1 and all(runs[first].separate for first, _ in marks):
            yield from marks
            return
    yield 0, len(runs)


def _trimmed(runs: Sequence[Run], partner: Sequence[int], first: int, last: int) -> Span:
    """Removes what the segment does not need at its edges."""

    def bare(run: Run) -> bool:
        return run.is_blank or (run.kind == "atom" and not run.word)

    while first < last:
        if bare(runs[first]):
            first += 1
        elif bare(runs[last - 1]):
            last -= 1
        elif runs[first].kind == "open" and partner[first] == last - 1 and not runs[first].bound:
            first, last = first + 1, last - 1
        else:
            break
    return first, last


def _built(runs: list[Run], partner: Sequence[int], shift: int, place: str, escapes: Escapes) -> BuiltSegment:
    """Builds a segment from its runs; indices in `partner` are relative to `shift`."""
    if runs[0].kind == "text" and (cut := len(runs[0].text) - len(runs[0].text.lstrip())):
        runs[0] = runs[0]._replace(start=runs[0].start + cut, text=runs[0].text[cut:])
    if runs[-1].kind == "text" and (cut := len(runs[-1].text) - len(runs[-1].text.rstrip())):
        runs[-1] = runs[-1]._replace(end=runs[-1].end - cut, text=runs[-1].text[:-cut])
    text: list[str] = []
    length = 0
    starts: dict[int, int] = {}
    marks: list[tuple[int, Mark]] = []
    for number, run in enumerate(runs):
        if run.kind == "open":
            starts[number] = length
        elif run.kind == "close":
            opened = partner[number] - shift
            marks.append((opened, Mark(starts[opened], length)))
        else:
            text.append(run.text if run.kind == "text" else ATOM)
            length += len(text[-1])
    marks.sort()
    segment = Segment("".join(text), tuple(mark for _, mark in marks), place=place)
    pairs = tuple((opened, partner[opened] - shift) for opened, _ in marks)
    return BuiltSegment(segment, (runs[0].start, runs[-1].end), tuple(runs), pairs, escapes)
