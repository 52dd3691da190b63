"""A paragraph of an office document as a list of leaves inside wrappers, and how it is written with a translation.

```
<w:p> <w:r>(bold) <w:t>Big</w:t> </w:r>  <w:hyperlink> <w:r> <w:t> cats</w:t> </w:r> </w:hyperlink> <w:r> <w:tab/> …
       wrapper 0   leaf 0                 wrapper 1     wrapper 2  leaf 1                           wrapper 3  leaf 2
```
Leaves are text, atoms (a picture, a field), breaks (a tab, a line break: the text before it and the text after it are
separate segments) or points (a bookmark, white space of the file: nothing that is read). A segment is the text between
two breaks, without atoms at its edges. Most of it is in one format, the *base*; the other formats and the links are its
marks. A reference to a note is written after the translation of its word. An unchanged segment keeps its bytes; a
changed one is rewritten from the start tags of its wrappers, with points that begin something at its start and other
points at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from regard.formats.document import ATOM, Atom, CloseMark, Mark, OpenMark, PlacedSegment, Segment

# start: a point that begins something · note: an atom that belongs to the previous word
Kind = Literal["text", "atom", "note", "break", "point", "start"]
Path = tuple[int, ...]  # indices of wrappers, outermost first
Bytes = Callable[[int, int], bytes]  # a range of the file, with edits applied


class Leaf(NamedTuple):
    """An element inside a paragraph that is copied, or translated, as a whole."""

    kind: Kind
    start: int
    end: int
    path: Path
    text: str = ""


@dataclass
class Wrapper:
    """An element around leaves. Adjacent wrappers with the same key are one format (None: never)."""

    open: tuple[int, int]
    key: bytes | None = None
    holds_text: bool = True  # otherwise text needs another wrapper inside
    kept: bool = False  # text in it is not translated: code
    close: tuple[int, int] = (0, 0)


@dataclass
class Flow:
    """A paragraph: its content is bytes `start` to `end` of its file."""

    start: int
    end: int = 0
    place: str = ""
    kept: bool = False  # not translated: code
    leaves: list[Leaf] = field(default_factory=list)
    wrappers: list[Wrapper] = field(default_factory=list)
    stretches: list[FlowSegment] = field(default_factory=list)

    @property
    def segments(self) -> list[Segment]:
        return [stretch.segment for stretch in self.stretches]

    def cut(self) -> None:
        """Splits the paragraph into segments."""
        if self.kept:
            return
        code = {number for number, wrapper in enumerate(self.wrappers) if wrapper.kept}
        for number, leaf in enumerate(self.leaves):
            if leaf.kind == "text" and not code.isdisjoint(leaf.path):
                self.leaves[number] = leaf._replace(kind="atom")
        first = 0
        for number in range(len(self.leaves) + 1):
            if number == len(self.leaves) or self.leaves[number].kind == "break":
                self.add_stretch(first, number)
                first = number + 1

    def add_stretch(self, first: int, last: int) -> None:
        while first < last and not is_words(self.leaves[first]):
            first += 1
        while first < last and not is_words(self.leaves[last - 1]):
            last -= 1
        if any(has_letter(leaf.text) for leaf in self.leaves[first:last]):
            self.stretches.append(FlowSegment(self, first, last))

    def formats(self, leaves: Sequence[Leaf]) -> list[Path]:
        """The path of each leaf, in which adjacent leaves of the same format share wrappers."""
        paths = list[Path]()
        last_raw: Path = ()
        last: Path = ()
        for leaf in leaves:
            if leaf.kind != "text":
                paths.append(leaf.path)
                continue
            path: list[int] = []
            for depth, wrapper in enumerate(leaf.path):
                same = depth < len(last) and tuple(path) == last[:depth]
                if same and (wrapper == last_raw[depth] or self.alike(wrapper, last[depth])):
                    path.append(last[depth])
                else:
                    path += leaf.path[depth:]
                    break
            last_raw, last = leaf.path, tuple(path)
            paths.append(last)
        return paths

    def alike(self, one: int, other: int) -> bool:
        return one == other or (
            self.wrappers[one].key is not None and self.wrappers[one].key == self.wrappers[other].key
        )

    def base(self, texts: Sequence[tuple[Path, Leaf]]) -> Path:
        """The format of text outside all marks: of the least nested formats, the one with most characters."""
        lengths: Counter[tuple[bytes | int, ...]] = Counter()
        first: dict[tuple[bytes | int, ...], Path] = {}
        for path, leaf in texts:
            keys = [self.wrappers[wrapper].key for wrapper in path]
            key = tuple(wrapper if key is None else key for wrapper, key in zip(path, keys, strict=True))
            first.setdefault(key, path)
            lengths[key] += len(leaf.text)
        depths = {key: sum(not self.wrappers[wrapper].holds_text for wrapper in first[key]) for key in lengths}
        return first[max(lengths, key=lambda key: (-depths[key], lengths[key]))]

    def render(self, placed: Sequence[PlacedSegment], inner: Bytes, text: Callable[[str], bytes]) -> bytes:
        """The content of the paragraph with these translations; `text` encodes a piece of text."""
        out = FlowWriter(self, inner)
        done = 0
        for stretch, translated in zip(self.stretches, placed, strict=True):
            out.leaves(self.leaves[done : stretch.first])
            if translated.unchanged:
                out.leaves(self.leaves[stretch.first : stretch.last])
            else:
                self.render_stretch(stretch, translated, out, text)
            done = stretch.last
        out.leaves(self.leaves[done:])
        out.move(())
        return bytes(out.written)

    def render_stretch(
        self, built: FlowSegment, placed: PlacedSegment, out: FlowWriter, text: Callable[[str], bytes]
    ) -> None:
        out.leaves([leaf for leaf in built.points if leaf.kind == "start"])
        paths = [built.base]
        for piece in placed.pieces:
            written = ""
            if isinstance(piece, OpenMark):
                path = built.marks[piece.mark].path
                paths.append(paths[-1] if path is None else path)
            elif isinstance(piece, CloseMark):
                paths.pop()
                out.leaves(built.marks[piece.mark].notes)
            elif isinstance(piece, Atom):
                leaves = built.atoms[piece.atom]
                out.leaves(leaves)
                written = ATOM if not leaves else ""
            else:
                written = piece
            if written:
                out.move(built.defaults.get(paths[-1], paths[-1]))
                out.written += text(written)
        out.leaves([leaf for leaf in built.points if leaf.kind == "point"])


class FlowMark(NamedTuple):
    """A mark of a segment: its text gets this path (None: the path of its parent), and `notes` are written after it."""

    span: list[int]
    path: Path | None
    notes: list[Leaf]


class FlowSegment:
    """The text of a segment, its marks, atoms and points: leaves `first` to `last` (excluded) of the paragraph."""

    def __init__(self, flow: Flow, first: int, last: int) -> None:
        self.flow, self.first, self.last = flow, first, last
        leaves = flow.leaves[first:last]
        self.paths = flow.formats(leaves)
        texts = [(path, leaf) for path, leaf in zip(self.paths, leaves, strict=True) if leaf.kind == "text"]
        self.base = flow.base(texts)
        self.text = ""
        self.atoms: list[list[Leaf]] = []  # empty: the character U+FFFC itself
        self.points: list[Leaf] = []
        self.notes: list[FlowMark] = []
        self.spans: dict[tuple[Path, int], list[int]] = {}  # of formats other than the base, by path and occurrence
        self.defaults: dict[Path, Path] = {}  # for wrappers that cannot hold text: the path of their text
        before, last_text = "", 0
        for leaf, path in zip(leaves, self.paths, strict=True):
            if leaf.kind in ("point", "start"):
                self.points.append(leaf)
                continue
            if leaf.kind == "text":
                last_text = len(self.text)
                self.add_text(leaf.text, path)
            elif leaf.kind == "note" and before == "text" and self.text[last_text:][-1:].strip().strip(ATOM):
                self.add_note(leaf, last_text)
            elif before in ("atom", "note"):
                (self.notes[-1].notes if before == "note" else self.atoms[-1]).append(leaf)
                continue
            else:
                self.text += ATOM
                self.atoms.append([leaf])
                before = "atom"
                continue
            before = leaf.kind
        self.marks = self.sorted_marks()
        self.segment = Segment(self.text, tuple(Mark(*mark.span) for mark in self.marks), place=flow.place)

    def add_text(self, text: str, path: Path) -> None:
        start = len(self.text)
        self.text += text
        self.atoms += [[]] * text.count(ATOM)
        for depth in range(len(path)):
            if not self.flow.wrappers[path[depth]].holds_text:
                self.defaults.setdefault(path[: depth + 1], path)
        shared = 0
        while shared < min(len(path), len(self.base)) and self.flow.alike(path[shared], self.base[shared]):
            shared += 1
        if text and not shared == len(path) == len(self.base):
            # A path that ends above the base is a mark of its own wherever it occurs.
            own = [(path[: depth + 1], 0) for depth in range(shared, len(path))] or [(path, start)]
            for key in own:
                self.spans.setdefault(key, [start, start])[1] = len(self.text)

    def add_note(self, leaf: Leaf, last_text: int) -> None:
        """Attaches a reference to a note to the word before it."""
        words = self.text[last_text:]
        start = last_text + max(words.rfind(" "), words.rfind(ATOM)) + 1
        self.notes.append(FlowMark([start, len(self.text)], None, [leaf]))

    def sorted_marks(self) -> list[FlowMark]:
        for span in self.spans.values():  # spaces at the edges of a mark need no format
            words = self.text[slice(*span)]
            span[:] = span[0] + len(words) - len(words.lstrip(" ")), span[0] + len(words.rstrip(" "))
        formats = [
            FlowMark(span, path, [])
            for (path, _), span in self.spans.items()
            if span[0] < span[1] and not self.is_default(path, span)
        ]
        return sorted([*formats, *self.notes], key=lambda mark: (mark.span[0], -mark.span[1], len(mark.path or ())))

    def is_default(self, path: Path, span: list[int]) -> bool:
        """Whether text in the parent wrapper gets this format anyway, because it has no other."""
        return self.spans.get((path[:-1], 0)) == span and path[:-1] in self.defaults


class FlowWriter:
    """Writes leaves one after another, opening and closing wrappers between them."""

    def __init__(self, flow: Flow, inner: Bytes) -> None:
        self.wrappers, self.inner = flow.wrappers, inner
        self.written = bytearray()
        self.path: Path = ()

    def move(self, path: Path) -> None:
        """Closes and opens wrappers until those of the path are open."""
        shared = 0
        while shared < min(len(path), len(self.path)) and path[shared] == self.path[shared]:
            shared += 1
        for wrapper in reversed(self.path[shared:]):
            self.written += self.inner(*self.wrappers[wrapper].close)
        for wrapper in path[shared:]:
            self.written += self.inner(*self.wrappers[wrapper].open)
        self.path = path

    def leaves(self, leaves: Sequence[Leaf]) -> None:
        for leaf in leaves:
            self.move(leaf.path)
            self.written += self.inner(leaf.start, leaf.end)


def is_words(leaf: Leaf) -> bool:
    return leaf.kind == "text" and bool(leaf.text.strip())


def has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)
