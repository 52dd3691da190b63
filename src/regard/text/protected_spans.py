"""Protected spans: the parts of a text that a translation must copy unchanged.

    number       1998  1,250  3.14  -5  20%  ½ (only the digits of "20th" and "1950s")
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
    object       U+FFFC, which replaces something that is not text: an image, a line break
    script       שלום  Привет, как дела (in other scripts than those named by the caller)
    symbol       →  ★  𝕏, control characters, private use
    name         AcmeCloud Pro, GPT-4o; with known words also Zürich, Angela Merkel (`names.py`)

The text is scanned once from left to right; of the patterns that match at a position, the first in `span_patterns.py`
wins. Then the words between are searched for names. Time is linear in the length of the text. The patterns are not
joined into one, because the regex library takes time at every lookaround in proportion to the repetitions of the whole
pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import regex

from regard.text.known_words import KnownWords
from regard.text.names import name_spans
from regard.text.span_patterns import FOREIGN, JOINT, NUMERIC, PATTERNS, SCRIPT_STARTS
from regard.text.words import Span

NAME = "name"
MAX_WORD = 200  # characters; longer words are data
KINDS = tuple(dict.fromkeys(kind for kind, _, _ in PATTERNS))

# Where a span may begin: at a word, unless a space or a comma follows its letters (then only a currency's code or "xD"
# matters), and at any other visible character.
_START = (
    r"(?<![\p{L}\p{M}\p{N}_])(?:[[\p{L}\p{M}]--[\U00010000-\U0010FFFF]]++(?![\s,;!?]|\.?(?:\s|$))|\p{Lu}{3}(?=\s\d)|[xX]D)"
    r"|[^\s,\"'’)[[\p{L}\p{M}]--[\U00010000-\U0010FFFF]]]"
)
# What most sentences do not have, found twenty times as fast: a character other than Latin letters and usual
# punctuation, or such punctuation in an unusual place. Without it no pattern matches anywhere.
_LETTER = "A-Za-zÀ-ÖØ-öø-ɏ"
UNUSUAL = re.compile(
    rf"[^{_LETTER.replace('A-Z', 'A-CE-Z')} \n\u00a0\u202f,!?\"'’)“”„«»–—…]"
    r"(?:(?<![.:;(D-])"
    r"|(?<=\.)(?![ \n\u00a0\u202f\"'’)”»]|\Z)|(?<=[:;])(?![ \n\u00a0\u202f]|\Z)|(?<=\b[dD]:)|(?<=[xX]D)"
    rf"|(?<=\()(?![{_LETTER}])|(?<=[{_LETTER}]\()|(?<=-)(?![{_LETTER}])|(?<=-)(?<![{_LETTER}]-))"
)
# Very long runs of letters, in scripts that have spaces: data that cannot be translated.
_DATA = rf"[\p{{Latin}}\p{{Greek}}\p{{Cyrillic}}\p{{Arabic}}\p{{Hebrew}}\p{{M}}\p{{N}}_]{{{MAX_WORD},}}+"
_ALL_SCRIPTS = r"\p{L}"  # no letter is foreign
PLACEHOLDER_STARTS = re.compile(r"[{$%<&\\\[#@]")
_REPEATED = r"(?s)(.)\1*+"

_MONTH = (
    "Jan(?:uary|[.])?|Feb(?:ruary|[.])?|Mar(?:ch|[.])|Apr(?:il|[.])?|May|June?|July?|Aug(?:ust|[.])?"
    "|Sep(?:t(?:ember|[.])?|[.])?|Oct(?:ober|[.])?|Nov(?:ember|[.])?|Dec(?:ember|[.])?"
)
_ENGLISH_DATE = re.compile(rf"\b(?:{_MONTH})\s(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b(?![.,:/-]\d)(?:,?\s\d{{4}}\b)?")


class LabeledSpan(NamedTuple):
    """A span of the text, [start, end), and its kind: one of KINDS."""

    start: int
    end: int
    kind: str


def protected_spans(
    text: str, known: KnownWords | None = None, language: str = "en", scripts: Sequence[str] | None = None
) -> list[LabeledSpan]:
    """Returns the protected spans, in order and without overlap. Without `known` words, names are found by shape only.
    Words in other scripts than `scripts` are protected, if there are any: see `language.scripts_of`.

    >>> text = "Call 555-0199 at 3:45 pm 🍕"
    >>> [(text[span.start : span.end], span.kind) for span in protected_spans(text)]
    [('555-0199', 'phone'), ('3:45 pm', 'time'), ('🍕', 'emoji')]
    """
    spans: list[LabeledSpan] = []
    end = 0
    for found in _compiled(_DATA).finditer(text):
        spans += _shifted(protected_spans(text[end : found.start()], known, language, scripts), end)
        spans.append(LabeledSpan(found.start(), found.end(), "code"))
        end = found.end()
    if end:
        return spans + _shifted(protected_spans(text[end:], known, language, scripts), end)
    own = _script_set(scripts) if foreign_letters(text, scripts) else _ALL_SCRIPTS
    if own != _ALL_SCRIPTS or UNUSUAL.search(text):
        spans = pattern_spans(text, own)
    names = name_spans(text, [span[:2] for span in spans], known, language)
    return _join_names(text, sorted([*spans, *(LabeledSpan(*name, NAME) for name in names)])) if names else spans


def pattern_spans(text: str, scripts: str = _ALL_SCRIPTS) -> list[LabeledSpan]:
    """Returns the spans that are found by a pattern."""
    spans: list[LabeledSpan] = []
    end = 0
    starts = _compiled(_START if scripts == _ALL_SCRIPTS else f"{SCRIPT_STARTS}|{_START}", scripts)
    while (candidate := starts.search(text, end)) is not None:
        start, end = candidate.span()
        if (span := _span_at(text, start, scripts)) is not None:
            end = span.end
            spans.append(span)
        elif text[start : start + 3] == text[start] * 3:  # no span begins within a run of one character
            end = max(end, _compiled(_REPEATED).match(text, start).end() - 1)
    return spans


def _span_at(text: str, start: int, scripts: str) -> LabeledSpan | None:
    """Returns the span that begins at a character, if any. Numbers, dates, times and amounts that are joined by a sign
    or by a space at which no line breaks are one span, of the kind of its parts if they have one."""
    kinds: set[str] = set()
    at = end = start
    while at < len(text):
        for kind, pattern in _patterns_for(text[at], scripts):
            if (not kinds or kind in NUMERIC) and (found := pattern.match(text, at)) is not None:
                break
        else:
            break
        kinds.add(kind)
        end = found.end()
        if kind not in NUMERIC or (joint := _compiled(JOINT).match(text, end)) is None:
            break
        at = joint.end()
    return LabeledSpan(start, end, kinds.pop() if len(kinds) == 1 else "number") if kinds else None


def placeholders(text: str) -> list[str]:
    """Returns the placeholders, sorted.

    >>> placeholders("Copy {n} of %1$s to <b>%2</b>"), placeholders("100 % of a & b")
    (['%1$s', '%2', '</b>', '<b>', '{n}'], [])
    """
    if not PLACEHOLDER_STARTS.search(text):
        return []
    return sorted(text[span.start : span.end] for span in protected_spans(text) if span.kind == "placeholder")


def foreign_letters(text: str, scripts: Sequence[str] | None) -> list[str]:
    """Returns the letters of a text in other scripts than the given ones; none without scripts.

    >>> foreign_letters("5 kΩ, naïve", ["Latin"])
    ['Ω']
    """
    return [] if text.isascii() or scripts is None else _compiled(FOREIGN, _script_set(scripts)).findall(text)


def _script_set(scripts: Sequence[str] | None) -> str:
    return _ALL_SCRIPTS if scripts is None else "".join(rf"\p{{{script}}}" for script in scripts)


def _shifted(spans: list[LabeledSpan], by: int) -> list[LabeledSpan]:
    return [LabeledSpan(start + by, end + by, kind) for start, end, kind in spans]


def _join_names(text: str, spans: list[LabeledSpan]) -> list[LabeledSpan]:
    """Joins names with only a space between them: the scan finds only the second part of "SolarWind X2"."""
    result: list[LabeledSpan] = []
    for span in spans:
        before = result[-1] if result else span
        if before.kind == span.kind == NAME and text[before.end : span.start] == " ":
            result[-1] = before._replace(end=span.end)
        else:
            result.append(span)
    return result


def written_dates(text: str, language: str = "en") -> list[Span]:
    """Returns English dates with the name of a month, which comes before the day. Other languages put the day first, so
    a model must recognize the date, which it cannot if the numbers are slots: "May ⟨1⟩, ⟨2⟩".

    >>> text = "Born on May 3, 1998, in Room 5, and married on Sept. 12th."
    >>> [text[start:end] for start, end in written_dates(text)]
    ['May 3, 1998', 'Sept. 12th']
    """
    return [found.span() for found in _ENGLISH_DATE.finditer(text)] if language == "en" else []


@lru_cache(4096)
def _patterns_for(character: str, scripts: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Returns the patterns that may match at this character, with their kinds."""
    return tuple(
        (kind, _compiled(pattern, scripts)) for kind, starts, pattern in PATTERNS if _compiled(starts).match(character)
    )


@cache
def _compiled(pattern: str, scripts: str = _ALL_SCRIPTS) -> regex.Pattern[str]:
    return regex.compile(pattern.replace("SCRIPTS", scripts), regex.VERSION1)
