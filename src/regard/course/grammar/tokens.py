"""Tokens in both languages with alignment keys.

Every construction writes an English and a French list of `Tok`. A token carries keys; an English and a French token
that share a key are aligned. Nothing else in the grammar counts positions: words may be moved, merged and elided
freely, and the alignment is computed at the end.

`realize_french` applies elision (le homme → l'homme), forms before a vowel (beau homme → bel homme) and contraction
(de le → du); `realize_english` chooses a / an.
"""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

Combination = tuple[str, str, str]  # ("adjective-noun" | "subject-verb" | "verb-object", lemma, lemma)


class Tok(NamedTuple):
    """A word with its alignment keys."""

    text: str
    keys: tuple[int, ...] = ()
    before_vowel: str = ""  # the form before a vowel sound, if it is not by elision ("ma" → "mon")
    article: bool = False  # the article le / les, which contracts with de and à (the pronoun le does not)


class Pair(NamedTuple):
    """The same words in both languages."""

    en: list[Tok]
    fr: list[Tok]


def joined(*pairs: Pair) -> Pair:
    """Concatenates the words of all pairs."""
    return Pair([t for p in pairs for t in p.en], [t for p in pairs for t in p.fr])


class Draft:
    """The state of one sentence while it is written: alignment keys, tags and word combinations."""

    __slots__ = ("_key", "combinations", "rng", "tags")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.tags: set[str] = set()
        self.combinations: list[Combination] = []
        self._key = 0

    def key(self) -> int:
        """Returns a new alignment key."""
        self._key += 1
        return self._key

    def chance(self, probability: float) -> bool:
        """Returns True with this probability."""
        return self.rng.random() < probability

    def words(self, en: str, fr: str) -> Pair:
        """Returns a fixed expression, whose words all share one key: words("every day", "tous les jours")"""
        key = (self.key(),)
        return Pair([Tok(w, key) for w in en.split()], [Tok(w, key) for w in fr.split()])


_ELIDING = {"le", "la", "je", "me", "ne", "de", "que", "se", "jusque"}
_FRENCH_VOWELS = "aeiouàâéèêëîïôùœ"
_ASPIRATED = {"hibou", "haie", "hérisson", "héros", "hache", "harpe", "haut", "haute", "haricot"}
_CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
_CONSONANT_STARTS = ("uni", "use", "eu", "one")  # spelt with a vowel, pronounced with a consonant
_SILENT_H = ("hour", "honest", "heir")


@cache
def starts_with_vowel_sound(french: str) -> bool:
    """
    >>> [starts_with_vowel_sound(w) for w in ("homme", "hibou", "hiboux", "école", "chat")]
    [True, False, False, True, False]
    """
    word = french.lower()
    if word[0] == "h":
        return word not in _ASPIRATED and word.rstrip("sx") not in _ASPIRATED
    return word[0] in _FRENCH_VOWELS or word in ("y", "yeux")


def realize_french(tokens: list[Tok]) -> list[Tok]:
    """
    >>> [t.text for t in realize_french([Tok("de"), Tok("le", article=True), Tok("chat")])]
    ['du', 'chat']
    >>> [t.text for t in realize_french([Tok("de"), Tok("le", article=True), Tok("homme")])]
    ['de', "l'", 'homme']
    """
    out: list[Tok] = []  # built from the right, so that each token sees the final form of the next one
    for token in reversed(tokens):
        following = out[-1] if out else None
        if following is not None:
            if starts_with_vowel_sound(following.text):
                if token.before_vowel:
                    token = token._replace(text=token.before_vowel)
                elif token.text in _ELIDING or (token.text == "si" and following.text in ("il", "ils")):
                    token = token._replace(text=token.text[:-1] + "'")
            elif following.article and (token.text, following.text) in _CONTRACTIONS:
                text = _CONTRACTIONS[token.text, following.text]
                out[-1] = Tok(text, token.keys + following.keys)
                continue
        out.append(token)
    out.reverse()
    return out


def realize_english(tokens: list[Tok]) -> list[Tok]:
    """
    >>> [t.text for t in realize_english([Tok("a"), Tok("old"), Tok("cat")])]
    ['an', 'old', 'cat']
    """
    out = list(tokens)
    for i in range(len(out) - 1):
        if out[i].text == "a" and _english_vowel_sound(out[i + 1].text):
            out[i] = out[i]._replace(text="an")
    return out


def _english_vowel_sound(word: str) -> bool:
    lower = word.lower()
    if lower.startswith(_SILENT_H):
        return True
    return lower[0] in "aeiou" and not lower.startswith(_CONSONANT_STARTS)


def join(tokens: list[Tok], attached: str) -> str:
    """Joins tokens to a capitalized text; `attached` are marks without a space before them (all but ? in French)."""
    text = " ".join([token.text for token in tokens]).replace("' ", "'")
    for mark in attached:
        text = text.replace(f" {mark}", mark)
    return text[0].upper() + text[1:]


def alignment(en: list[Tok], fr: list[Tok]) -> tuple[tuple[int, int], ...]:
    """Returns all (English position, French position) that share a key."""
    where: dict[int, list[int]] = {}
    for i, token in enumerate(en):
        for key in token.keys:
            where.setdefault(key, []).append(i)
    links = {(i, j) for j, token in enumerate(fr) for key in token.keys for i in where.get(key, ())}
    return tuple(sorted(links))
