"""Subtitles (SRT, WebVTT): sentences are translated across lines and cues.

Lines are joined until one ends a sentence; the translation is split again into as many lines, at spaces, in proportion
to the lengths of the source's lines and preferably after punctuation. Numbers, times, settings, styles, regions, notes
and the edges of lines (tags, dashes) stay unchanged.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from regard.errors import InputError
from regard.formats.cue_text import SRT_TAGS, VTT_TAGS, CueLine, CueLines, CueToken, line_tokens, read_cue
from regard.formats.document import ATOM, Atom, FormatOptions, Mark, OpenMark, PlacedSegment, Segment, SourceEdits, Tag
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter

MAX_SENTENCE_LINES = 8  # maximum lines of one sentence
MAX_PAUSE_SECONDS = 3.0  # a longer pause between two cues ends a sentence
SENTENCE_START = re.compile(r"[-–—♪♫\[(]|<v\b")  # a speaker, music, a sound
CUE_END_SIGN = re.compile(r"[♪♫\])]")
SENTENCE_END = re.compile(r"[.!?…。！？\])][\"'»”’)\]]*+$")


class Cue(NamedTuple):
    """A cue: its lines and its times in seconds."""

    text: CueLines
    start: float
    end: float


@dataclass
class Passage:
    """Lines that are translated together."""

    lines: list[CueLine]
    segment: Segment
    marks: list[tuple[CueToken, CueToken]]
    atoms: list[CueToken | None]  # None: the character U+FFFC itself
    lengths: list[int]  # of the words of each line


@dataclass
class Subtitles:
    """A subtitle file; `escape` writes text for the format, `unescape` reads it."""

    source: Encoded
    cues: Sequence[Cue]
    unescape: Callable[[str], str] = str
    escape: Callable[[str], str] = str
    warnings: tuple[str, ...] = ()
    passages: list[Passage] = field(init=False)

    def __post_init__(self) -> None:
        partners = {start: end for cue in self.cues for start, end in cue.text.partners.items()}
        found = [self.passage(lines, partners) for lines in self.grouped()]
        self.passages = [passage for passage in found if has_letter(passage.segment.text)]

    @property
    def segments(self) -> list[Segment]:
        return [passage.segment for passage in self.passages]

    def grouped(self) -> list[list[CueLine]]:
        """The lines with words, grouped by sentence."""
        groups: list[list[CueLine]] = []
        ended, last_end = True, 0.0
        for cue in self.cues:
            ended = ended or cue.start - last_end > MAX_PAUSE_SECONDS
            last_end = cue.end
            for line in cue.text.lines:
                if line.first == line.last:
                    continue
                first, last = line.words
                before = self.source.text[line.start : first]
                after = self.source.text[last : line.end]
                if (
                    ended
                    or SENTENCE_START.search(before + self.source.text[first : first + 1])
                    or len(groups[-1]) >= MAX_SENTENCE_LINES
                ):
                    groups.append([])
                groups[-1].append(line)
                ended = bool(SENTENCE_END.search(self.source.text[first:last]) or CUE_END_SIGN.search(after))
        return groups

    def passage(self, lines: list[CueLine], partners: dict[int, int]) -> Passage:
        """The words of the lines as one segment."""
        inside = [token for line in lines for token in line.tokens[line.first : line.last]]
        numbers = {token.start: number for number, token in enumerate(inside)}
        words_before = [0, *accumulate(self.is_words(token) for token in inside)]
        text, lengths = "", list[int]()
        opened: dict[int, int] = {}
        spans: list[tuple[int, int, CueToken, CueToken]] = []
        atoms: list[CueToken | None] = []
        for line in lines:
            text += " " if lengths else ""
            before = len(text)
            for token in line.tokens[line.first : line.last]:
                number = numbers[token.start]
                other = numbers.get(partners.get(token.start, -1))
                if token.kind == "text":
                    words = self.unescape(self.source.text[token.start : token.end])
                    atoms += [None] * words.count(ATOM)
                    text += words
                elif other is not None and words_before[number] != words_before[other]:
                    if token.kind == "open":
                        opened[token.start] = len(text)
                    else:
                        spans.append((opened[inside[other].start], len(text), inside[other], token))
                else:
                    atoms.append(token)
                    text += ATOM
            lengths.append(len(text) - before)
        spans.sort(key=lambda span: (span[0], -span[1], span[2].start))
        segment = Segment(text, tuple(Mark(span[0], span[1]) for span in spans), place=f"line {lines[0].number}")
        return Passage(lines, segment, [(span[2], span[3]) for span in spans], atoms, lengths)

    def is_words(self, token: CueToken) -> bool:
        return token.kind == "text" and not self.source.text[token.start : token.end].isspace()

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        edits = [
            (line.words, words)
            for passage, placed in zip(self.passages, translated, strict=True)
            if not placed.unchanged
            for line, words in zip(passage.lines, self.lines_of(passage, placed), strict=True)
        ]
        return self.source.encode(SourceEdits(self.source.text, edits)())

    def lines_of(self, passage: Passage, placed: PlacedSegment) -> list[str]:
        """Splits the translation into the passage's lines."""
        words = "".join(piece if isinstance(piece, str) else "" for piece in placed.pieces)
        breaks = line_breaks(words, passage.lengths)
        out = LineWriter(passage, self.source.text, self.escape)
        position = 0
        for piece in placed.pieces:
            if isinstance(piece, str):
                out.text(piece, position, breaks)
                position += len(piece)
            else:
                out.tag(piece)
        while len(out.lines) < len(passage.lines):
            out.next_line()
        # A line without words gets an ellipsis, since an empty line would end the cue.
        return [line.strip(" ") or "…" for line in out.lines]


class LineWriter:
    """Writes pieces; where another cue begins, it closes the open tags and opens them again."""

    def __init__(self, passage: Passage, source: str, escape: Callable[[str], str]) -> None:
        self.passage, self.source, self.escape = passage, source, escape
        self.lines = [""]
        self.open: list[int] = []

    def text(self, piece: str, position: int, breaks: Sequence[int]) -> None:
        cursor = 0
        for place in breaks[len(self.lines) - 1 :]:
            at = place - position
            if at > len(piece) or (at == len(piece) and piece):
                break
            self.lines[-1] += self.escape(piece[cursor : max(at, cursor)].rstrip(" "))
            self.next_line()
            cursor = max(at, cursor)
            cursor += len(piece[cursor:]) - len(piece[cursor:].lstrip(" "))
        self.lines[-1] += self.escape(piece[cursor:])

    def next_line(self) -> None:
        number = len(self.lines)
        other_cue = self.passage.lines[number].cue != self.passage.lines[number - 1].cue
        tags = [self.passage.marks[mark] for mark in self.open] if other_cue else []
        self.lines[-1] += "".join(self.raw(closing) for _, closing in reversed(tags))
        self.lines.append("".join(self.raw(opening) for opening, _ in tags))

    def tag(self, piece: Tag) -> None:
        if isinstance(piece, Atom):
            atom = self.passage.atoms[piece.atom]
            self.lines[-1] += self.raw(atom) if atom else ATOM
        elif isinstance(piece, OpenMark):
            self.open.append(piece.mark)
            self.lines[-1] += self.raw(self.passage.marks[piece.mark][0])
        else:
            self.open.pop()
            self.lines[-1] += self.raw(self.passage.marks[piece.mark][1])

    def raw(self, token: CueToken) -> str:
        return self.source[token.start : token.end]


def line_breaks(text: str, lengths: Sequence[int]) -> list[int]:
    """The positions where to split a text into as many lines as there are lengths, in proportion to them.

    >>> line_breaks("Je pense, donc je suis.", [7, 12])
    [9]
    """
    places = [at for at, character in enumerate(text) if character == " " and 0 < at < len(text) - 1]
    if len(places) < len(lengths) - 1:
        places = [at for at in range(1, len(text)) if text[at] != " " and is_ideograph(text[at - 1])] or places
    slack = 0.4 * len(text) / len(lengths)
    left, breaks = sum(lengths), list[int]()
    first = last_break = 0
    for number, length in enumerate(lengths[:-1]):
        ideal = last_break + (len(text) - last_break) * length / left
        left -= length
        last = len(places) - (len(lengths) - 2 - number)
        usable = places[first : max(last, first)]
        if not usable:
            break
        distances = [abs(at - ideal) - slack * (text[at - 1] in ",;:.!?…") for at in usable]
        last_break = usable[distances.index(min(distances))]
        breaks.append(last_break)
        first = places.index(last_break) + 1
    return breaks


def is_ideograph(character: str) -> bool:
    return character.isalpha() and character.lower() == character.upper()


TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})"
TIMES = re.compile(rf"\s*+{TIME}\s*+-->\s*+{TIME}")
NEWLINE = re.compile(r"\r\n|\r|\n")


def read_srt(data: bytes, options: FormatOptions) -> Subtitles:
    source = decode(data)
    cues = read_cues(source.text, SRT_TAGS)
    if not cues:
        raise InputError("this is not an SRT file: no line of times such as 00:00:01,000 --> 00:00:02,500 is in it")
    return Subtitles(source, cues)


def read_cues(text: str, tags: re.Pattern[str]) -> list[Cue]:
    """Reads the cues: after each line of times, the lines of text up to an empty one."""
    cues: list[Cue] = []
    lines: list[CueLine] | None = None  # of the open cue
    times = (0.0, 0.0)
    start = 0
    ends = [found.span() for found in NEWLINE.finditer(text)]
    for number, (end, after) in enumerate([*ends, (len(text), len(text))], 1):
        found = TIMES.match(text, start, end)
        if found or not text[start:end].strip():
            if lines is not None:
                if found and lines and text[lines[-1].start : lines[-1].end].strip().isdecimal():
                    lines.pop()  # the number of this cue, with no empty line before it
                cues.append(Cue(read_cue(lines), *times))
            lines = [] if found else None
            times = (seconds(found, 1), seconds(found, 5)) if found else times
        elif lines is not None:
            lines.append(CueLine(len(cues), number, start, end, line_tokens(text, start, end, tags)))
        start = after
    if lines is not None:
        cues.append(Cue(read_cue(lines), *times))
    return cues


def seconds(found: re.Match[str], first: int) -> float:
    hours, minutes, whole, part = (found[first + number] or "0" for number in range(4))
    return float(int(hours) * 3600 + int(minutes) * 60 + int(whole) + int(part) / 10 ** len(part))


REFERENCE = re.compile(r"&(?:amp|lt|gt|nbsp|lrm|rlm);")
WRITTEN = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u200e": "&lrm;", "\u200f": "&rlm;"})


def read_vtt(data: bytes, options: FormatOptions) -> Subtitles:
    source = decode(data)
    if re.match(r"WEBVTT(?:[ \t\r\n]|$)", source.text) is None:
        raise InputError("this is not a WebVTT file: its first line must be WEBVTT")
    return Subtitles(source, read_cues(source.text, VTT_TAGS), unescaped, lambda text: text.translate(WRITTEN))


def unescaped(text: str) -> str:
    """
    >>> unescaped("R&amp;B &copy;")
    'R&B &copy;'
    """
    return REFERENCE.sub(lambda found: html.unescape(found[0]), text)
