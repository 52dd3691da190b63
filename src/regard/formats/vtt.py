"""Web subtitles (WebVTT): cues with tags and character references; styles, regions and notes stay as they are."""

from __future__ import annotations

import html
import re

from regard.errors import InputError
from regard.formats.cue_text import VTT_TAGS
from regard.formats.document import FormatOptions
from regard.formats.encoding import decode
from regard.formats.srt import read_cues
from regard.formats.subtitles import Subtitles

REFERENCE = re.compile(r"&(?:amp|lt|gt|nbsp|lrm|rlm);")
WRITTEN = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u200e": "&lrm;", "\u200f": "&rlm;"})


def read(data: bytes, options: FormatOptions) -> Subtitles:
    source = decode(data)
    if re.match(r"WEBVTT(?:[ \t\r\n]|$)", source.text) is None:
        raise InputError("this is no WebVTT file: its first line must be WEBVTT")
    return Subtitles(source, read_cues(source.text, VTT_TAGS), unescaped, escaped)


def unescaped(text: str) -> str:
    """
    >>> unescaped("R&amp;B &copy;")
    'R&B &copy;'
    """
    return REFERENCE.sub(lambda found: html.unescape(found[0]), text)


def escaped(text: str) -> str:
    return text.translate(WRITTEN)
