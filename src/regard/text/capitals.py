"""The words of a text with what a capital says: whether a word begins a sentence, where any word has one.

Sentences are not cut here (`sentences.py` does); a word after a full stop, a colon, an opening quotation
mark or bracket or a line break may begin one, and that is all the names need to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

Span = tuple[int, int]

# Letters and digits with inner apostrophes and &, and hyphens before a capital (Jean-Luc, but Tokyo-based is two); a
# possessive 's is not part of the word.
_POSSESSIVE = r"['’]s(?![\p{L}\p{N}])"
WORD = regex.compile(
    rf"(?<!\p{{L}}['’])[\p{{L}}\p{{M}}\p{{N}}]++(?:(?!{_POSSESSIVE})(?:['’&](?=\p{{L}})|-(?=\p{{Lu}}))[\p{{L}}\p{{M}}\p{{N}}]++)*+"
)
_ELISION = regex.compile(r"(?:[cdjlmnst]|qu|lorsqu|puisqu|jusqu)['’](?=\p{L})", regex.IGNORECASE)
ELIDING = ("fr", "it", "ca")
CAPITALISED_NOUNS = ("de", "lb")  # languages in which a capital says little
_BEGINS = regex.compile(r"[.!?…:;\n\r|•]|[\"“„«‘(\[{¡¿>*_–—-]\s*+$|\s['‚]$")
TITLES = frozenset(
    str.split("""
    M Mr Mrs Ms Dr Prof St Ste Sgt Lt Col Gen Capt Rev Hon Jr Sr Mt Mme Mlle MM Me Hr Fr Sra Srta Dra
    """)
)


def with_capital(word: str) -> str:
    """
    >>> with_capital("été"), with_capital("iPhone")
    ('Été', 'IPhone')
    """
    return word[:1].upper() + word[1:]


class CasedWord(NamedTuple):
    start: int
    end: int
    at_start: bool  # it begins a sentence, or may begin one


def cased_words(text: str, taken: Sequence[Span] = (), language: str = "en") -> Iterator[CasedWord]:
    """The words outside the spans `taken` (in order), with whether each begins a sentence.

    >>> text = 'Mr. Smith said: "We saw Ann." Then he left.'
    >>> [text[word.start : word.end] for word in cased_words(text) if word.at_start]
    ['Mr', 'We', 'Then']
    """
    before: Span | None = None
    free = 0  # where the text begins that lies between the last word or span and this one
    spans = iter([*taken, (len(text), len(text))])
    span = next(spans)
    for found in WORD.finditer(text):
        start, end = found.span()
        while span[1] <= start and span[0] < len(text):
            free, span = span[1], next(spans)
        if end > span[0]:
            continue  # within a span
        gap = text[free:start]
        at_start = before is None or (bool(_BEGINS.search(gap)) and not (gap[0] == "." and _abbreviated(text, before)))
        if language in ELIDING and (elision := _ELISION.match(text, start, end)):
            start, at_start = elision.end(), False
        yield CasedWord(start, end, at_start)
        before, free = (start, end), end


def _abbreviated(text: str, word: Span) -> bool:
    """Whether the full stop after the word belongs to it: a title or an initial."""
    form = text[word[0] : min(word[1], word[0] + 8)]
    return form in TITLES or (len(form) == 1 and form.isupper() and form != "I")
