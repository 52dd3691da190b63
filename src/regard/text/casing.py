"""Letter case: words that may begin a sentence, where any word has a capital, and the case of a first letter.

Sentences are not split here (`sentences.py` does that). A word after a full stop, a colon, an opening quotation mark or
bracket or a line break may begin one, which is sufficient for `names.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

from regard.text.full_stops import full_stop_rules
from regard.text.words import Span, word_lists

# Letters and digits with inner apostrophes and &, and hyphens before a capital (Jean-Luc, but Tokyo-based is two); a
# possessive 's is not part of the word.
_POSSESSIVE = r"['’]s(?![\p{L}\p{N}])"
_BEFORE = r"(?<!\p{L}['’])"
_WORD = rf"[\p{{L}}\p{{M}}\p{{N}}]++(?:(?!{_POSSESSIVE})(?:['’&](?=\p{{L}})|-(?=\p{{Lu}}))[\p{{L}}\p{{M}}\p{{N}}]++)*+"
_ELISION = rf"(?:(?i:[cdjlmnst]|qu|lorsqu|puisqu|jusqu)(?!{_POSSESSIVE})['’](?=\p{{L}}))?+"
WORD = regex.compile(_BEFORE + _WORD)
_CASED_WORD = regex.compile(f"{_BEFORE}({_WORD})")
_CASED_WORD_AFTER_ELISION = regex.compile(f"{_BEFORE}{_ELISION}({_WORD})")
_ELIDING_LANGUAGES = ("fr", "it", "ca")
NOUN_CAPITALIZING_LANGUAGES = ("de", "lb")  # in which a capital does not mark a name
_SENTENCE_START = regex.compile(r"[.!?…:;\n\r|•]|[\"“„«‘(\[{¡¿>*_–—-]\s*+$|\s['‚]$")

TITLES = frozenset(word_lists("names")["titles"])
_FIRST_WORD = regex.compile(r"[\p{L}\p{M}]++(?:['’][\p{L}\p{M}]++)*+")


def capitalize_first(word: str) -> str:
    """Returns the word with its first letter in upper case and the rest unchanged.

    >>> capitalize_first("été"), capitalize_first("iPhone")
    ('Été', 'IPhone')
    """
    return word[:1].upper() + word[1:]


def lowercase_initial(text: str, language: str | None) -> str:
    """Lower-cases the first letter of the translation of a list item, as in the source: models trained on sentences
    capitalize it. Words that always have a capital keep it: in English days, months, nationalities and languages, in
    German all but frequent words that are not nouns.

    >>> items = {"fr": "Deux œufs", "en": "English lessons", "de": "Milch"}
    >>> [lowercase_initial(text, language) for language, text in items.items()]
    ['deux œufs', 'English lessons', 'Milch']
    """
    first = _FIRST_WORD.match(text)
    if first is None or not text[0].isupper() or any(map(str.isupper, first[0][1:])):
        return text
    word = first[0].lower()
    if language == "en":
        stem = word.partition("'")[0].partition("’")[0]
        lowercase = (
            stem not in word_lists("list_items")["english_capitalized"] and word not in full_stop_rules("en").months
        )
    else:
        lowercase = language in ("fr", "es") or (
            language == "de" and word in word_lists("list_items")["german_lowercase"]
        )
    return text[0].lower() + text[1:] if lowercase else text


class CasedWord(NamedTuple):
    start: int
    end: int
    at_start: bool  # it begins a sentence, or may begin one


def cased_forms(text: str, language: str = "en") -> list[str]:
    """Returns the words that `cased_words` yields.

    >>> cased_forms("L'été d'Anne", "fr")
    ['été', 'Anne']
    """
    words: list[str] = _cased_word(language).findall(text)
    return words


def _cased_word(language: str) -> regex.Pattern[str]:
    return _CASED_WORD_AFTER_ELISION if language in _ELIDING_LANGUAGES else _CASED_WORD


def cased_words(text: str, excluded: Sequence[Span] = (), language: str = "en") -> Iterator[CasedWord]:
    """Yields the words outside the `excluded` spans (in order), with whether each begins a sentence.

    >>> text = 'Mr. Smith said: "We saw Ann." Then he left.'
    >>> [text[word.start : word.end] for word in cased_words(text) if word.at_start]
    ['Mr', 'We', 'Then']
    """
    before: Span | None = None
    free = 0  # start of the text between the last word or span and this word
    spans = iter([*excluded, (len(text), len(text))])
    span = next(spans)
    for found in _cased_word(language).finditer(text):
        start, end = found.span()
        while span[1] <= start and span[0] < len(text):
            free, span = span[1], next(spans)
        if end > span[0]:
            continue  # within a span
        gap = text[free:start]
        at_start = before is None or (
            gap != " " and bool(_SENTENCE_START.search(gap)) and not (gap[0] == "." and _abbreviated(text, before))
        )
        word_start = found.start(1)  # after an elision
        yield CasedWord(word_start, end, at_start and word_start == start)
        before, free = (word_start, end), end


def _abbreviated(text: str, word: Span) -> bool:
    """Whether the full stop after the word belongs to it: a title or an initial."""
    form = text[word[0] : min(word[1], word[0] + 8)]
    return form in TITLES or (len(form) == 1 and form.isupper() and form != "I")
