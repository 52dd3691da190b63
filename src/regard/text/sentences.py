"""Splits a text into sentences.

    Dr. Smith left at 5 p.m. "Why?" she asked.  →  [Dr. Smith left at 5 p.m.] ["Why?" she asked.]

Everything outside of the sentences is layout: line breaks, indentation, list marks (`layout.py`), spaces. It belongs to
no span, so a translated text is assembled by replacing only the spans.

A mark that can end a sentence is found by a pattern; whether it does is decided by rules on the word before it
(`full_stops.py`) and on the word after it: a sentence does not begin in lower case. Chinese and Japanese stops
need no space and are recognized by script, whatever the language. `benchmarks/sentences.py` compares these rules with
libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import regex

from regard.text.full_stops import OPENING, Following, FullStopRules, full_stop_ends, full_stop_rules, last_words
from regard.text.layout import after_list_marks, paragraphs, text_lines
from regard.text.words import Span

MAX_QUOTATION = 120  # characters of a Japanese or Chinese quotation that is not split

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
_IN_NAME = regex.compile(r"\p{Ll}\p{Lu}")  # iPhone, eBay: not a lower-case word
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々、「『（《]")
_QUOTED_ON = regex.compile(  # after a quotation the sentence continues: 」と言った  ”他说
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


def sentence_spans(text: str, language: str = "en", *, wrapped: bool = False) -> list[Span]:
    """Returns the spans of the sentences, in order; everything outside of them is layout.

    Each line is split by itself, and its end ends a sentence. `wrapped` is for text whose line breaks only wrap it,
    such as e-mails and manual pages: there a sentence continues over a line break, while blank lines, list marks and
    headings still separate.

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
        # the marks before each line are replaced by as many spaces, so that positions do not change
        shown = [text[first.text : first.end]]
        for before, line in pairwise(block):
            shown += [" " * (line.text - before.end), text[line.text : line.end]]
        spans = _split("".join(shown), 0, last.end - first.text, language)
        found += [(first.text + start, first.text + end) for start, end in spans]
    return found


def _split(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """Yields the sentences of one line or paragraph."""
    rules = full_stop_rules(language)
    quotations = _Quotations(text, end)
    first_letter, read = None, start  # of this sentence, searched up to there
    for found in _CANDIDATE.finditer(text, start, end):
        stop = found.end()
        if stop >= end or found.start() < start:
            continue
        if first_letter is None:
            first_letter, read = _FIRST.search(text, read, found.start()), found.start()
        if first_letter is None or quotations.is_open(found.start(), stop):
            continue
        if not _ends(text, start, end, found, first_letter.group(), rules):
            continue
        yield start, stop
        start = stop
        while text[start].isspace():
            start += 1
        start = after_list_marks(text, start, end, language)
        first_letter, read = None, start
    yield start, end


class _Quotations:
    """Tracks whether a place is within a Japanese or Chinese quotation or bracket that closes soon."""

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


def _ends(text: str, start: int, end: int, found: regex.Match[str], begun: str, rules: FullStopRules) -> bool:
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
        following = Following()
    else:
        following = Following(after["open"], after["word"], after["stop"] is not None)
        if following.word[0].islower() and not _IN_NAME.match(following.word):
            return _ends_before_small_letter(text, start, found, begun, rules)
    if mark == ".":
        return full_stop_ends(text, start, first, following, rules)
    if mark[0] in "!?":
        return not _continues(text, start, found, end, following, rules)
    return True


def _continues(
    text: str, start: int, found: regex.Match[str], end: int, following: Following, rules: FullStopRules
) -> bool:
    """Whether the text after "!" or "?" belongs to the same sentence: "Stop!" Tom said. Yahoo! Mail."""
    if found["close"].strip(")]}") and text[start] in OPENING:
        return _SAYING.match(text, found.end(), end) is not None
    word = last_words(text, start, found.start())[-1:]
    return bool(word) and word[0] in _NAMES_WITH_MARK and not following.is_starter(rules)


def _ends_before_small_letter(text: str, start: int, found: regex.Match[str], begun: str, rules: FullStopRules) -> bool:
    """Whether a mark before a lower-case letter ends a sentence, in text without capitals: a full stop after a longer
    word that is not an abbreviation; "?" and "!" if the sentence began in lower case (not in Oh! what a day.)"""
    if found["close"] or not rules.starters:
        return False
    if found["mark"].strip("?!") == "":
        return begun.islower()
    word = "".join(last_words(text, start, found.start())[-1:])
    shortest = 3 if begun.islower() else 4 if word.islower() else 5
    return found["mark"] == "." and word.isalpha() and len(word) >= shortest and not rules.is_abbreviation(word)
