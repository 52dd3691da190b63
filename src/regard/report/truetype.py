"""TrueType fonts: the glyphs of a text with their widths, and a font with the outlines of some glyphs only.

Only what embedding in a PDF needs. Glyph numbers stay the same in the smaller font. There is no shaping: each character
is one glyph, so scripts whose letters join or change places need another renderer (`needs_shaping`). Format:
https://learn.microsoft.com/typography/opentype/spec/otff
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

from regard.errors import InputError
from regard.report.text import printable

USUAL = (  # file names, without .ttf
    "DejaVuSans", "NotoSans-Regular", "LiberationSans-Regular", "Arial", "arial", "segoeui", "Roboto-Regular",
    "FreeSans",
)  # fmt: skip
FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts", "/Library/Fonts",
           "/System/Library/Fonts", "C:/Windows/Fonts")  # fmt: skip
KEPT = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")  # tables that a PDF reader needs
SHAPED = ((0x0590, 0x08FF), (0x0900, 0x0DFF), (0x0E00, 0x109F), (0x1780, 0x17FF), (0x1800, 0x18AF), (0xFB1D, 0xFEFC))
WORDS, SCALE, MORE, TWO_SCALES, MATRIX = 0x1, 0x8, 0x20, 0x40, 0x80  # flags of a composite glyph's component


def needs_shaping(text: str) -> bool:
    """Whether the text has letters of scripts that run from right to left, join, or change places.

    >>> needs_shaping("Žluťoučký 黒猫"), needs_shaping("قطة")
    (False, True)
    """
    return any(first <= ord(character) <= last for character in text for first, last in SHAPED)


@cache
def usual_fonts() -> tuple[Path, ...]:
    """The font files of common families that are installed here."""
    folders = [folder for name in FOLDERS if (folder := Path(name).expanduser()).is_dir()]
    found = {path.stem: path for folder in folders for path in sorted(folder.rglob("*.ttf"))}
    return tuple(found[name] for name in USUAL if name in found)


@cache
def read_font(path: Path) -> TrueType:
    try:
        return TrueType(path.read_bytes())
    except (OSError, struct.error, KeyError, IndexError):
        raise InputError(f"{path} cannot be read as a TrueType font; name a .ttf file", parameter="font") from None


class TrueType:
    def __init__(self, data: bytes) -> None:
        start = struct.unpack_from(">I", data, 12)[0] if data[:4] == b"ttcf" else 0  # the first font of a collection
        (count,) = struct.unpack_from(">H", data, start + 4)
        rows = (struct.unpack_from(">4sIII", data, start + 12 + 16 * n) for n in range(count))
        self.tables = {tag.decode("latin-1"): data[at : at + size] for tag, _, at, size in rows}
        self.units: int
        (self.units,) = struct.unpack_from(">H", self.tables["head"], 18)
        self.box: tuple[int, ...] = struct.unpack_from(">4h", self.tables["head"], 36)
        self.ascent, self.descent = struct.unpack_from(">2h", self.tables["hhea"], 4)
        (self.glyphs,) = struct.unpack_from(">H", self.tables["maxp"], 4)
        (self._metrics,) = struct.unpack_from(">H", self.tables["hhea"], 34)
        form = ">{}I" if struct.unpack_from(">h", self.tables["head"], 50)[0] else ">{}H"
        places = struct.unpack_from(form.format(self.glyphs + 1), self.tables["loca"])
        self._places = places if form == ">{}I" else tuple(2 * place for place in places)

    def glyph(self, character: str) -> int:
        """The number of a character's glyph; 0 if the font has none."""
        return self._characters.get(ord(character), 0)

    def advance(self, glyph: int) -> float:
        """How far the next glyph is from this one, in em."""
        place = 4 * min(glyph, self._metrics - 1)
        width: int = struct.unpack_from(">H", self.tables["hmtx"], place)[0]
        return width / self.units

    @cached_property
    def _characters(self) -> dict[int, int]:
        table = self.tables["cmap"]
        (count,) = struct.unpack_from(">H", table, 2)
        found: dict[int, int] = {}
        for n in range(count):
            platform, _, at = struct.unpack_from(">HHI", table, 4 + 8 * n)
            (form,) = struct.unpack_from(">H", table, at)
            if platform in (0, 3) and form in (4, 12):
                found |= _segments(table[at:]) if form == 4 else _groups(table[at:])
        return found

    def subset(self, glyphs: Iterable[int]) -> bytes:
        """The font with the outlines of these glyphs, and of the parts that they consist of."""
        kept = {0} | set(glyphs)
        waiting = list(kept)
        while waiting:
            new = set(self._parts(waiting.pop())) - kept
            kept |= new
            waiting += new
        outlines = [self._outline(glyph) if glyph in kept else b"" for glyph in range(self.glyphs)]
        places = [0]
        for outline in outlines:
            places.append(places[-1] + len(outline))
        head = bytearray(self.tables["head"])
        head[50:52] = b"\x00\x01"  # places have four bytes
        made = {"glyf": b"".join(outlines), "loca": struct.pack(f">{len(places)}I", *places), "head": bytes(head)}
        return _file({tag: made.get(tag, self.tables[tag]) for tag in KEPT if tag in self.tables})

    def _outline(self, glyph: int) -> bytes:
        outline = self.tables["glyf"][self._places[glyph] : self._places[glyph + 1]]
        return outline + bytes(-len(outline) % 4)

    def _parts(self, glyph: int) -> Iterator[int]:
        outline = self._outline(glyph)
        if not outline or struct.unpack_from(">h", outline)[0] >= 0:
            return
        at, flags = 10, MORE
        while flags & MORE:
            flags, part = struct.unpack_from(">HH", outline, at)
            yield part
            at += 4 + (4 if flags & WORDS else 2)
            at += 2 if flags & SCALE else 4 if flags & TWO_SCALES else 8 if flags & MATRIX else 0


def _segments(table: bytes) -> dict[int, int]:
    """The characters of a cmap of format 4."""
    (double,) = struct.unpack_from(">H", table, 6)
    columns = [14, 16 + double, 16 + 2 * double, 16 + 3 * double]
    ends, starts, deltas, offsets = (struct.unpack_from(f">{double // 2}H", table, at) for at in columns)
    found = {}
    for n, (end, start, delta, offset) in enumerate(zip(ends, starts, deltas, offsets, strict=True)):
        for code in range(start, min(end, 0xFFFE) + 1):
            at = columns[3] + 2 * n + offset + 2 * (code - start)
            glyph = struct.unpack_from(">H", table, at)[0] if offset else code
            found[code] = (glyph + delta) % 65536 if glyph or not offset else 0
    return found


def _groups(table: bytes) -> dict[int, int]:
    """The characters of a cmap of format 12."""
    (count,) = struct.unpack_from(">I", table, 12)
    groups = (struct.unpack_from(">III", table, 16 + 12 * n) for n in range(count))
    return {code: glyph + code - start for start, end, glyph in groups for code in range(start, end + 1)}


def _file(tables: dict[str, bytes]) -> bytes:
    """A font file with these tables."""
    padded = {tag: table + bytes(-len(table) % 4) for tag, table in tables.items()}
    places = [12 + 16 * len(tables)]
    for table in padded.values():
        places.append(places[-1] + len(table))
    power = len(tables).bit_length() - 1
    head = struct.pack(">IHHHH", 0x10000, len(tables), 16 << power, power, 16 * len(tables) - (16 << power))
    rows = [
        struct.pack(">4sIII", tag.encode("latin-1"), _checksum(padded[tag]), at, len(tables[tag]))
        for tag, (at, _) in zip(tables, pairwise(places), strict=True)
    ]
    return b"".join([head, *rows, *padded.values()])


def _checksum(table: bytes) -> int:
    words: tuple[int, ...] = struct.unpack(f">{len(table) // 4}I", table)
    return sum(words) % 2**32


def fonts_of(font: Path | None) -> tuple[Path, ...]:
    """The fonts to draw with: the named one first, then those that are installed."""
    found = (*([font] if font else []), *usual_fonts())
    if not found:
        raise InputError(
            "no usual font was found here; name a .ttf file, or write an .svg or .html, which need no font",
            parameter="font",
        )
    return found


def font_for(text: str, font: Path | None) -> TrueType:
    """The first font that has all letters of a text."""
    fonts = [read_font(path) for path in fonts_of(font)]
    for each in fonts:
        if all(each.glyph(c) or c.isspace() for c in text):
            return each
    missing = next(c for c in text if not c.isspace() and not any(each.glyph(c) for each in fonts))
    raise InputError(
        f"no font here has the letter “{printable(missing)}”; name a .ttf file that has it, or write an .svg or .html",
        parameter="font",
    )
