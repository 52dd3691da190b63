"""The text of a subtitle: words, tags around words (`<i>`, `<c.loud>`), and standalone codes (`{\\an8}`, times).

The edges of a line stay where they are (tags around the whole line, a dash, a note of music); the words between them
are translated. Tags inside the words are marks if both ends are present, otherwise atoms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# The tags of SRT players and the override codes of SSA; the tags of WebVTT.
SRT_TAGS = re.compile(r"<(?P<close>/)?(?P<name>[A-Za-z]{1,10})(?=[\s>=])[^<>\n]*+>|\{\\[^{}\n]*+\}")
VTT_TAGS = re.compile(r"<(?P<close>/)?(?P<name>[A-Za-z]*+)[^<>\n]*+>")
FIRST = re.compile(r"[\s♪♫*]*+(?:[-–—]\s*+)?")
AT_END = " \t♪♫*"


class CueToken(NamedTuple):
    """A token of a line. `kind`: text, open, close, or fixed (a code, or text at the edge that is not a word)."""

    kind: str
    start: int
    end: int
    name: str = ""


@dataclass
class CueLine:
    """A line of a cue: tokens `first` to `last` (excluded) are its words; the others are not translated."""

    cue: int
    number: int  # line number in the document, from 1
    start: int
    end: int
    tokens: list[CueToken]
    first: int = 0
    last: int = 0

    @property
    def words(self) -> tuple[int, int]:
        """The span of the words in the document."""
        if self.first == self.last:
            return self.end, self.end
        return self.tokens[self.first].start, self.tokens[self.last - 1].end


@dataclass
class CueLines:
    """The lines of one cue, and the partner of each tag: the offset of its opening tag → its closing tag, and back."""

    lines: list[CueLine]
    partners: dict[int, int] = field(default_factory=dict)


def line_tokens(text: str, start: int, end: int, tags: re.Pattern[str]) -> list[CueToken]:
    """Splits a line, characters `start` to `end` of the document, into tokens.

    >>> [(t.kind, t.start, t.end) for t in line_tokens("- <i>Oh</i>!", 0, 12, SRT_TAGS)]
    [('fixed', 0, 2), ('open', 2, 5), ('text', 5, 7), ('close', 7, 11), ('text', 11, 12)]
    """
    tokens: list[CueToken] = []
    cursor = start
    for found in tags.finditer(text, start, end):
        if cursor < found.start():
            tokens.append(CueToken("text", cursor, found.start()))
        name = found["name"]
        kind = "fixed" if not name else "close" if found["close"] else "open"
        tokens.append(CueToken(kind, found.start(), found.end(), (name or "").lower()))
        cursor = found.end()
    if cursor < end:
        tokens.append(CueToken("text", cursor, end))
    return with_edges(text, tokens)


def with_edges(text: str, tokens: list[CueToken]) -> list[CueToken]:
    """Splits off what is not a word at the edges of the line, as fixed tokens."""
    made: list[CueToken] = []
    words = [number for number, token in enumerate(tokens) if token.kind == "text"]
    for number, token in enumerate(tokens):
        start, end = token.start, token.end
        if words and number == words[0]:
            found = FIRST.match(text, start, end)
            start = found.end() if found else start
        if words and number == words[-1]:
            end = start + len(text[start:end].rstrip(AT_END))
        if len(words) == 1 and number == words[0] and text[start : start + 1] + text[end - 1 : end] in ("[]", "()"):
            start, end = start + 1, end - 1  # a sound in brackets
        parts = [CueToken("fixed", token.start, start), token._replace(start=start, end=end)]
        made += [part for part in (*parts, CueToken("fixed", end, token.end)) if part.start < part.end]
    return made


def read_cue(lines: list[CueLine]) -> CueLines:
    """Pairs the tags of a cue and finds the words of its lines."""
    cue = CueLines(lines)
    opened: dict[str, list[int]] = {}
    for line in lines:
        for token in line.tokens:
            if token.kind == "open":
                opened.setdefault(token.name, []).append(token.start)
            elif token.kind == "close" and opened.get(token.name):
                partner = opened[token.name].pop()
                cue.partners[partner], cue.partners[token.start] = token.start, partner
    edges = {token.start for line in lines for token in edge_tokens(line.tokens)}

    def is_word(token: CueToken) -> bool:
        """Whether a token is part of the words: text, or a tag whose partner is inside them."""
        partner = cue.partners.get(token.start)
        return token.kind == "text" or (partner is not None and partner not in edges)

    for line in lines:
        words = [number for number, token in enumerate(line.tokens) if is_word(token)]
        line.first, line.last = (words[0], words[-1] + 1) if words else (0, 0)
    return cue


def edge_tokens(tokens: Sequence[CueToken]) -> list[CueToken]:
    """The tokens before the first text token and after the last."""
    words = [number for number, token in enumerate(tokens) if token.kind == "text"]
    if not words:
        return list(tokens)
    return [*tokens[: words[0]], *tokens[words[-1] + 1 :]]
