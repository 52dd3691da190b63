"""What must survive a translation: the spans of a text that a model has no business changing.

    number       1998  1,250  3.14  -5  20%  ½ (of "20th" and "1950s" the digits)
    date         2024-05-03  03/05/2024  3.5.2024
    time         3:45 pm  14:30:05  15h45
    amount       $1,250.50  20 €
    phone        555-0199  +33 1 23 45 67 89  (555) 123-4567
    url          https://example.com/docs?id=42  www.example.com  example.org
    email        me@example.com
    path         /usr/local/bin  C:\\Users\\x  ./a/b.txt  report.pdf
    code         `x = 1`  --flag  snake_case  foo.bar()  v2.0.1  #1a2b3c
    mention      @name
    tag          #tag
    emoji        🍕  👩‍👩‍👧  :)  <3  :smile:
    placeholder  {name}  {{x}}  %s  %(x)d  ${VAR}  $VAR  <x id="7"/>  &nbsp;  [[1]]
    object       U+FFFC, which stands for something that is not text: an image, a line break
    symbol       →  ★  𝕏, control characters, private use
    name         AcmeCloud Pro, GPT-4o; with known words also Zürich, Angela Merkel (`names.py`)

One scan from left to right; of the patterns that match at a place, the first of the table wins. Then the words between
are searched for names. Time is linear in the length of the text. The patterns stay apart, since the regex library takes
time at every look ahead or behind in proportion to the repetitions of the whole pattern.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import regex

from regard.text import addresses, codes, emoji, numbers
from regard.text.known_words import KnownWords
from regard.text.names import WITH_DIGITS, name_spans


class Pattern(NamedTuple):
    kind: str
    starts: str  # the characters with which a match begins
    pattern: str


PATTERNS = (  # in the order in which they are tried
    Pattern("object", emoji.OBJECT, emoji.OBJECT),
    Pattern("url", r"[\p{L}\p{N}]", addresses.URL),
    Pattern("email", r"\w", addresses.EMAIL),
    Pattern("email", "@", addresses.SERVER_MENTION),
    Pattern("placeholder", r"[{$%<&\[\\#@]", codes.PLACEHOLDER),
    Pattern("emoji", emoji.PICTURE_STARTS, emoji.PICTURES),
    Pattern("emoji", emoji.FACE_STARTS, emoji.FACE),
    Pattern("path", r"[A-Za-z\\]", addresses.WINDOWS_PATH),
    Pattern("path", r"[~./]", addresses.UNIX_PATH),
    Pattern("path", r"\w", addresses.FILE_NAME),
    Pattern("date", r"\d", numbers.DATE),
    Pattern("phone", r"[\d+(]", numbers.PHONE),
    Pattern("time", r"\d", numbers.TIME),
    Pattern("amount", r"[\p{Sc}A-Z+−±-]", numbers.AMOUNT_AFTER_SIGN),
    Pattern("amount", numbers.STARTS, numbers.AMOUNT_BEFORE_SIGN),
    Pattern("name", r"[\p{Lu}\d.]", WITH_DIGITS),
    Pattern("code", "`", codes.TICKED),
    Pattern("code", "-", codes.FLAG),
    Pattern("code", "#", codes.COLOUR),
    Pattern("code", "[0-9a-fA-FvV]", codes.ID),
    Pattern("code", "[A-Za-z_]", codes.IDENTIFIER),
    Pattern("code", r"\p{Ll}", codes.WORD_WITH_DIGITS),
    Pattern("number", numbers.STARTS, numbers.NUMBER),
    Pattern("mention", "@", addresses.MENTION),
    Pattern("tag", "#", addresses.TAG),
    Pattern("symbol", emoji.SYMBOL_STARTS, emoji.SYMBOL),
    Pattern("symbol", r"\p{Latin}", emoji.POWER),
)
NAME = "name"
LONGEST_WORD = 200  # characters; what is longer is data
KINDS = tuple(dict.fromkeys(pattern.kind for pattern in PATTERNS))

# Where a span may begin: at a word, unless a space or a comma follows its letters (then only a currency's code or "xD"
# matters), and at any other visible character.
_PLACE = (
    r"(?<![\p{L}\p{M}\p{N}_])(?:[[\p{L}\p{M}]--[\U00010000-\U0010FFFF]]++(?![\s,;!?]|\.?(?:\s|$))|\p{Lu}{3}(?=\s\d)|[xX]D)"
    r"|[^\s,\"'’)[[\p{L}\p{M}]--[\U00010000-\U0010FFFF]]]"
)


class Protected(NamedTuple):
    """A span of the text, [start, end), and what it is: one of KINDS."""

    start: int
    end: int
    kind: str


def protected_spans(text: str, known: KnownWords | None = None, language: str = "en") -> list[Protected]:
    """What must survive, in order and without overlap. Names are found by `known` words, without them by shape alone.

    >>> text = "Call 555-0199 at 3:45 pm 🍕"
    >>> [(text[span.start : span.end], span.kind) for span in protected_spans(text)]
    [('555-0199', 'phone'), ('3:45 pm', 'time'), ('🍕', 'emoji')]
    """
    spans: list[Protected] = []
    at = 0
    for found in _no_word().finditer(text):
        before = protected_spans(text[at : found.start()], known, language)
        spans += [Protected(at + span.start, at + span.end, span.kind) for span in before]
        spans.append(Protected(found.start(), found.end(), "code"))
        at = found.end()
    if at:
        rest = protected_spans(text[at:], known, language)
        return spans + [Protected(at + span.start, at + span.end, span.kind) for span in rest]
    return _in_words(text, known, language)


def _in_words(text: str, known: KnownWords | None, language: str) -> list[Protected]:
    """The spans of a text whose words have a word's length."""
    spans = []
    place = _place()
    at = 0
    while (candidate := place.search(text, at)) is not None:
        start, at = candidate.span()
        for kind, pattern in _tried(text[start]):
            found = pattern.match(text, start)
            if found is not None:
                at = found.end()
                spans.append(Protected(start, at, kind))
                break
        else:
            if text[start : start + 3] == text[start] * 3:  # nothing begins within a run of one character
                at = max(at, _run().match(text, start).end() - 1)
    names = name_spans(text, [(span.start, span.end) for span in spans], known, language)
    return _neighbours_joined(text, sorted([*spans, *(Protected(*name, NAME) for name in names)])) if names else spans


def _neighbours_joined(text: str, spans: list[Protected]) -> list[Protected]:
    """Names with only a space between them as one: of "SolarWind X2" the scan finds the second part."""
    joined: list[Protected] = []
    for span in spans:
        before = joined[-1] if joined else span
        if before.kind == span.kind == NAME and text[before.end : span.start] == " ":
            joined[-1] = before._replace(end=span.end)
        else:
            joined.append(span)
    return joined


@cache
def _no_word() -> regex.Pattern[str]:
    """Letters without end, in scripts that have spaces: data, and nothing that could be translated."""
    scripts = r"\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{M}\p{N}_"
    return regex.compile(f"[{scripts}]{{{LONGEST_WORD},}}+", regex.VERSION1)


@cache
def _place() -> regex.Pattern[str]:
    return regex.compile(_PLACE, regex.VERSION1)


@cache
def _run() -> regex.Pattern[str]:
    return regex.compile(r"(.)\1*+", regex.DOTALL)


@lru_cache(4096)
def _tried(character: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """The patterns that may match where this character stands, with their kinds."""
    return tuple(
        (row.kind, _compiled(row.pattern)) for row in PATTERNS if _compiled(row.starts).match(character) is not None
    )


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.VERSION1)
