"""SubRip subtitles (SRT): blocks of a number, a line of times and lines of text, with empty lines between."""

from __future__ import annotations

import re

from regard.errors import InputError
from regard.formats.cue_text import SRT_TAGS, CueLine, line_tokens, read_cue
from regard.formats.document import FormatOptions
from regard.formats.encoding import decode
from regard.formats.subtitles import Cue, Subtitles

TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})"
TIMES = re.compile(rf"\s*+{TIME}\s*+-->\s*+{TIME}")
NEWLINE = re.compile(r"\r\n|\r|\n")


def read(data: bytes, options: FormatOptions) -> Subtitles:
    source = decode(data)
    cues = read_cues(source.text, SRT_TAGS)
    if not cues:
        raise InputError("this is no SRT file: no line of times such as 00:00:01,000 --> 00:00:02,500 is in it")
    return Subtitles(source, cues)


def read_cues(text: str, tags: re.Pattern[str]) -> list[Cue]:
    """The cues: after each line of times, the lines of text up to an empty one."""
    cues: list[Cue] = []
    lines: list[CueLine] | None = None  # of the cue that is open
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
