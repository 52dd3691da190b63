"""Where the sentences of a text begin and end.

    Dr. Smith left at 5 p.m. "Why?" she asked.  →  [Dr. Smith left at 5 p.m.] ["Why?" she asked.]

What stands outside of the sentences is layout: line breaks, indentation, list marks (`layout.py`), spaces. It belongs
to no span, so a text is put together again by replacing its spans and nothing else.

A mark that can end a sentence is found by a pattern; whether it does is decided by rules on the word before it (by the
tables of `abbreviations.py`) and on the word after it: a sentence does not begin with a small letter. Chinese and
Japanese stops need no space and are known by script, whatever the language. `benchmarks/sentences.py` measures these
rules against libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import regex

from regard.text.abbreviations import Usage, usage
from regard.text.layout import after_list_marks, paragraphs, text_lines
from regard.text.words import Span

LOOK_BACK = 32  # characters before a full stop that are looked at: the longest abbreviation and the word before it
MAX_QUOTATION = 120  # characters of a Japanese or Chinese quotation that is not cut within

_SPACE = r"[ \t\u00a0\u202f\u3000]"
_EMOJI = r"(?:[\p{Extended_Pictographic}--[‼⁉©®™]][\u200d\ufe0f\u20e3🏻-🏿]*+|[🇦-🇿]{2}|[:;=]-?[()DPp|](?=\s|$))"
_CANDIDATE = regex.compile(
    rf"""(?P<mark>
      [[\p{{STerm}}]--[.!?‼⁇⁈⁉．]]++[.!?！？…]*+   # 。 ｡ । ؟ ։ : they end a sentence without a space after them
    | [.!?…‥‼⁇⁈⁉．][\p{{STerm}}…‥]*+(?:{_SPACE}?[!?…]++(?![\w¿¡])|[ \u00a0]\.(?!\w))*+
    )
    (?P<close>(?:
      [\"'”’»›)\]}}*_`」』】〉）］｝〕〞]
    | (?<![。！？｡])[“‘«‹]                # German „…“ and »…«
    | {_SPACE}[»›](?!\w)                   # French « … »
    | {_SPACE}?[\[(](?:\.\.\.|…|\d{{1,3}})[\])](?!\w)   # an omission, a footnote
    )*+)
    (?:{_SPACE}*+{_EMOJI})*+
    """,
    regex.VERBOSE | regex.V1,
)
_NEXT = regex.compile(
    r"""\s*+(?P<open>(?:["'“”‘’„‚«‹»›(\[（「『【〈《*_¿¡—–―•-][ \u00a0\u202f]?){0,4})
    (?:(?P<sign>[{<`@#$€£¥%\ufffc\p{Co}\p{So}])
      |(?P<address>(?:https?://|www\.)\S)
      |(?P<word>[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]{0,30})(?P<stop>\.)?)""",
    regex.VERBOSE,
)
_FIRST = regex.compile(r"[\p{L}\p{N}]")
_IN_NAME = regex.compile(r"\p{Ll}\p{Lu}")  # iPhone, eBay: no word in small letters
_LABEL = regex.compile(r"\d{1,3}|\p{Lu}|[IVX]{1,5}|[a-z]")
_ACRONYM = regex.compile(r"(?:\p{L}{1,2}\.-?)+\p{L}{1,2}")
_ROMAN = regex.compile(r"[IVXLC]{2,}")
_BEFORE_WORD = "\"'“”‘’„‚«‹»›([{（¿¡*_—–-"
_ELISION = regex.compile(r"\p{L}{1,2}['’](?=\p{L})")
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々、「『（《]")
_QUOTED_ON = regex.compile(  # after a quotation the sentence goes on: 」と言った  ”他说
    r"\s?(?:と|って|という|とか|など|は|が|を|に|の|も|で|へ|や|から|まで|、|，|,|\p{Han}{0,5}?[说說道问問喊叫答想笑])"
)
_OPENING, _CLOSING = "「『（“《", "」』）”》"
_BRACKET = regex.compile("[「『（“《」』）”》]")
_SAYING = regex.compile(
    r"\s++\p{Lu}[\p{L}'’-]*+\s(?:\p{Lu}[\p{L}'’-]*+\s)?+"
    r"(?:said|asked|replied|answered|shouted|cried|exclaimed|whispered|yelled|screamed|demanded|inquired|wondered|"
    r"called|muttered|added|says|asks|begged|gasped|sighed|murmured)\b"
)
_NAMES_WITH_MARK = frozenset({"Yahoo", "Jeopardy"})


class _After(NamedTuple):
    """What follows a mark: how it opens, and its first word."""

    open: str
    word: str
    followed_by_stop: bool

    def is_starter(self, known: Usage) -> bool:
        if self.followed_by_stop and len(self.word) == 1:
            return False
        word = self.word.lower().replace("’", "'")
        return "¿" in self.open or "¡" in self.open or not known.starters.isdisjoint({word, word.partition("'")[0]})


def sentence_spans(text: str, language: str = "en", *, wrapped: bool = False) -> list[Span]:
    """The spans of the sentences, in order; what is outside of them is layout.

    Each line is cut by itself, and its end ends a sentence. `wrapped` is for text whose line breaks are only wrapping,
    such as e-mails and manual pages: there a sentence goes on over a line break and `translation/prepare.py` reads it,
    while blank lines, list marks and headings still separate.

    >>> text = "- Dr. Who? Yes.\\n- It costs 3.50 now."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Who?', 'Yes.', 'It costs 3.50 now.']
    """
    if not wrapped:
        lines = text_lines(text, language)
        return [span for line in lines if line.text < line.end for span in _split(text, line.text, line.end, language)]
    found: list[Span] = []
    for block in paragraphs(text, language):
        first, last = block[0], block[-1]
        # the marks before each line are hidden behind as many spaces, so that positions stay
        shown = [text[first.text : first.end]]
        for before, line in pairwise(block):
            shown += [" " * (line.text - before.end), text[line.text : line.end]]
        spans = _split("".join(shown), 0, last.end - first.text, language)
        found += [(first.text + start, first.text + end) for start, end in spans]
    return found


def _split(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """The sentences of one line or paragraph."""
    known = usage(language)
    quotations = _Quotations(text, end)
    first_letter, read = None, start  # of this sentence, looked for up to there
    for found in _CANDIDATE.finditer(text, start, end):
        stop = found.end()
        if stop >= end or found.start() < start:
            continue
        if first_letter is None:
            first_letter, read = _FIRST.search(text, read, found.start()), found.start()
        if first_letter is None or quotations.is_open(found.start(), stop):
            continue
        if not _ends(text, start, end, found, first_letter.group(), known):
            continue
        yield start, stop
        start = stop
        while text[start].isspace():
            start += 1
        start = after_list_marks(text, start, end, language)
        first_letter, read = None, start
    yield start, end


class _Quotations:
    """Whether a place is within a Japanese or Chinese quotation or bracket that closes soon."""

    def __init__(self, text: str, end: int) -> None:
        self.text, self.end = text, end
        self.read = 0
        self.open: list[str] = []

    def is_open(self, start: int, stop: int) -> bool:
        if self.text[start] not in "。！？｡!?":
            return False
        for found in _BRACKET.finditer(self.text, self.read, stop):
            bracket = found.group()
            if bracket in _OPENING:
                self.open.append(_CLOSING[_OPENING.index(bracket)])
            elif self.open and self.open[-1] == bracket:
                self.open.pop()
        self.read = max(self.read, stop)
        if not self.open:
            return False
        if self.text.find(self.open[0], stop, min(self.end, stop + MAX_QUOTATION)) < 0:
            self.open.clear()
        return bool(self.open)


def _ends(text: str, start: int, end: int, found: regex.Match[str], begun: str, known: Usage) -> bool:
    """Whether this mark ends the sentence that began at `start`, with `begun` as its first letter."""
    mark, stop, first = found["mark"], found.end(), found.start()
    if text[first - 1] in "([":
        return False
    if mark[0] not in ".!?…‥‼⁇⁈⁉．":
        return not (found["close"] and _QUOTED_ON.match(text, stop, end))
    if not text[stop].isspace():  # between Chinese or Japanese characters no space is needed
        return mark[0] not in ".…‥" and bool(_CJK.match(text[first - 1]) and _CJK.match(text[stop]))
    after = _NEXT.match(text, stop, end)
    if not after:
        return False
    if after["sign"] or after["address"]:
        following = _After("", "", False)
    else:
        following = _After(after["open"], after["word"], after["stop"] is not None)
        if following.word[0].islower() and not _IN_NAME.match(following.word):
            return _ends_before_small_letter(text, start, found, begun, known)
    if mark == ".":
        return _full_stop_ends(text, start, first, following, known)
    if mark[0] in "!?":
        return not _goes_on(text, start, found, end, following, known)
    return True


def _goes_on(text: str, start: int, found: regex.Match[str], end: int, following: _After, known: Usage) -> bool:
    """Whether what follows "!" or "?" belongs to the same sentence: "Stop!" Tom said. Yahoo! Mail."""
    if found["close"].strip(")]}") and text[start] in _BEFORE_WORD:
        return _SAYING.match(text, found.end(), end) is not None
    word = _last_words(text, start, found.start())[-1:]
    return bool(word) and word[0] in _NAMES_WITH_MARK and not following.is_starter(known)


def _ends_before_small_letter(text: str, start: int, found: regex.Match[str], begun: str, known: Usage) -> bool:
    """People who write no capitals: a full stop after a longer word that is no abbreviation ends a sentence. "?" and
    "!" do where the sentence itself began with a small letter; otherwise they are within it (Oh! what a day.)"""
    if found["close"] or not known.starters:
        return False
    if found["mark"].strip("?!") == "":
        return begun.islower()
    word = "".join(_last_words(text, start, found.start())[-1:])
    shortest = 3 if begun.islower() else 4 if word.islower() else 5
    return found["mark"] == "." and word.isalpha() and len(word) >= shortest and not known.has(word)


def _last_words(text: str, start: int, stop: int) -> list[str]:
    """The words just before a mark, without quotation marks before them; none where a space stands before it."""
    if stop <= start or text[stop - 1].isspace():
        return []
    words = text[max(start, stop - LOOK_BACK) : stop].rsplit(maxsplit=3)[-3:]
    return [_ELISION.sub("", word.lstrip(_BEFORE_WORD), count=1) for word in words]


def _full_stop_ends(text: str, start: int, stop: int, after: _After, known: Usage) -> bool:
    words = _last_words(text, start, stop)
    if not words:
        return True
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if len(last) == stop - start and _LABEL.fullmatch(last) and not (last == "I" and after.is_starter(known)):
        return False  # "A. Einstein", "IV. Summary"
    if len(last) == stop - start:
        words = [last[0].lower() + last[1:]] if known.has(last[0].lower() + last[1:]) else words  # Vgl. = vgl.
    decided = _by_abbreviation(words, after, known)
    if decided is not None:
        return decided
    if len(last) == 1 and last.isalpha():
        if after.followed_by_stop and len(after.word) == 1:
            return False  # J. R. R. Tolkien
        return last == "I" or before.lower() in known.lettered or after.is_starter(known)
    if _ACRONYM.fullmatch(last) and not (last.islower() and len(last.rpartition(".")[2]) > 1):
        return after.is_starter(known)
    if last.isdigit() and len(last) <= 2:
        return before[-1:] not in (":", ";", ",") and not _is_ordinal(before, after, known)  # a list: 1. this, 2. that
    if known.ordinals and _ROMAN.fullmatch(last):  # Ludwig XIV.
        return after.is_starter(known)
    return True


def _by_abbreviation(words: list[str], after: _After, known: Usage) -> bool | None:
    """Whether the sentence ends after these words, where they are a known abbreviation."""
    for length in (3, 2, 1):
        key = "".join(words[-length:])
        if len(words) < length or not all(word.endswith(".") for word in words[-length:-1]):
            continue
        if key in known.never or (len(key) > 1 and key.isupper() and key.capitalize() in known.never):
            return False
        if key in known.before_number and (after.word[:1].isdigit() or _ROMAN.fullmatch(after.word)):
            return False
        if key in known.unless_starter or ("str" in known.unless_starter and key.endswith("str")):
            return after.is_starter(known)
        if key in known.may_end:
            return after.word.lower() not in known.months
    if " ".join(words[-2:]) == "par ex":
        return False
    return None


def _is_ordinal(before: str, after: _After, known: Usage) -> bool:
    """Whether a short number with a full stop is an ordinal or a part of a date: am 3. Oktober, 3. 10. 2020."""
    if after.word.isdigit():
        in_date = before.removesuffix(".").isdigit() and len(after.word) == 4
        return in_date or (after.followed_by_stop and len(after.word) <= 2)
    if not known.ordinals:
        return False
    if after.word.lower() in known.months:
        return True
    return before.lower() in known.ordinals and not after.is_starter(known)
