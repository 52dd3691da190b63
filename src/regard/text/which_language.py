"""Which of a few languages a text is in, by which a translator is chosen.

`language.py` asks whether a sentence is *not* in one language, and answers only where it is sure. Here one of a few
languages must be chosen, so that a word or two are often enough: of the log-probabilities that the identifier gives,
only those of the languages in question are compared. A text that is clearly in none of them is said to be so. A text of
many lines is in the language of most of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from typing import NamedTuple

from regard.text.language import MARGIN, NAMES_OF, SHORT, plain_words, ranks

# Nats by which a language that is not in question must be more probable than all that are; more in a short line, where
# names count for much.
FOREIGN, FOREIGN_IN_SHORT = 10.0, 20.0
CLOSE = 2.0  # nats within which two languages are taken for equally probable
MOST_LINES = 400  # of a text
MIXED = 0.8  # share of the words that must be in one language for a text of many lines to be in one


class Found(NamedTuple):
    """What a text is in."""

    language: str  # one of those in question, or another that it clearly is in
    sure: bool
    mixed: bool = False  # whether its lines are in several languages, of which `language` is the most frequent


def which_language(texts: Iterable[str], languages: Collection[str], usual: str = "en") -> Found:
    """The language of texts that are in one language, most probably one of these. Where they tell nothing it is the
    usual one, if that is in question, or the first.

    >>> which_language(["Wo ist der Bahnhof?"], ["en", "de", "fr"])
    Found(language='de', sure=True, mixed=False)
    >>> which_language(["Il gatto dorme sul tappeto."], ["en", "de", "fr"]).language
    'it'
    >>> which_language(["Taxi"], ["de", "en"])
    Found(language='en', sure=False, mixed=False)
    """
    usual = usual if usual in languages else next(iter(languages))
    votes, surely = Counter[str](), Counter[str]()
    lines = (line for text in texts for line in text.splitlines())
    told = (words for words in map(plain_words, lines) if words)
    for words in islice(told, MOST_LINES):
        language, sure = _of_words(words, languages, usual)
        votes[language] += len(words)
        surely[language] += len(words) if sure else 0
    if not votes:
        return Found(usual, len(languages) == 1)
    counted = surely if surely.total() else votes  # short lines say nothing beside longer ones
    language, count = counted.most_common(1)[0]
    return Found(language, surely[language] > 0, count < MIXED * counted.total())


def language_shares(text: str, languages: Collection[str]) -> dict[str, float]:
    """How probable each of these languages is for a text that is in one of them, the most probable first; nothing for a
    text without words. By naive Bayes, which takes every piece of a word for independent evidence: of more than a few
    words, nearly all goes to one language.

    >>> {code: round(share, 2) for code, share in language_shares("Wo ist der Bahnhof?", ["en", "de"]).items()}
    {'de': 1.0, 'en': 0.0}
    """
    words = plain_words(text)
    asked = [(code, score) for code, score in ranks(" ".join(words)) if code in languages] if words else []
    if not asked:
        return {}
    shares = {code: math.exp(score - asked[0][1]) for code, score in asked}
    total = sum(shares.values())
    return {code: share / total for code, share in shares.items()}


def _of_words(words: list[str], languages: Collection[str], usual: str) -> tuple[str, bool]:
    """The language of one line, and whether that is sure."""
    ranked = ranks(" ".join(words))
    asked = [(code, score) for code, score in ranked if code in languages]
    if not asked:  # languages that the identifier does not know
        return usual, False
    best, score = asked[0]
    other = next(((code, s) for code, s in ranked if code in NAMES_OF and code not in languages), None)
    if other is not None and other[1] > score + (FOREIGN if len(words) >= SHORT else FOREIGN_IN_SHORT):
        return other[0], True
    close = [code for code, s in asked if s >= score - CLOSE]
    if len(close) > 1:
        return (usual if usual in close else best), False
    return best, len(asked) == 1 or score > asked[1][1] + MARGIN
