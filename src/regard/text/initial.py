"""The first letter of a list's items: small in a translation where it is small in the source.

    - two eggs    →    - deux œufs        a model trained on sentences says: Deux œufs

Words that always have a capital keep it: names of days, months and languages in English, and in German all words but
those that are surely no nouns.
"""

from __future__ import annotations

import regex

from regard.text.abbreviations import usage

_FIRST = regex.compile(r"[\p{L}\p{M}]++(?:['’][\p{L}\p{M}]++)*+")
_ENGLISH = frozenset(
    str.split("""
    i african american arab arabic asian australian austrian belgian brazilian british canadian chinese christian
    czech danish dutch english european finnish french german greek hungarian indian irish islamic italian japanese
    jewish korean latin mexican muslim norwegian polish portuguese roman romanian russian scottish spanish swedish
    swiss turkish ukrainian welsh christmas easter
    """)
)
_GERMAN = frozenset(
    str.split("""
    der die das den dem des ein eine einen einem einer eines kein keine keinen mein meine dein deine sein seine ihr
    ihre unser unsere euer eure zwei drei vier fünf sechs sieben acht neun zehn elf zwölf einige viele alle mehr
    mehrere wenige und oder mit ohne für von vom zu zum zur in im an am auf bei nach aus vor über unter durch gegen
    um bis seit als wie nicht nur auch sehr neu neue neuer neues neuen alt alte alter altes alten groß große großer
    großes klein kleine kleiner kleines gut gute guter gutes rot rote roter rotes grün grüne grüner grünes blau
    blaue blauer blaues schwarz schwarze schwarzer weiße weißer weißes frisch frische frischer frisches jung junge
    junger lang lange kurz kurze
    """)
)


def with_small_initial(text: str, language: str | None) -> str:
    """
    >>> said = {"fr": "Deux œufs", "en": "English lessons", "de": "Milch"}
    >>> [with_small_initial(text, language) for language, text in said.items()]
    ['deux œufs', 'English lessons', 'Milch']
    """
    first = _FIRST.match(text)
    if first is None or not text[0].isupper() or any(map(str.isupper, first[0][1:])):
        return text
    word = first[0].lower()
    if language in ("fr", "es") or (language == "de" and word in _GERMAN):
        return text[0].lower() + text[1:]
    keeps = word.partition("'")[0].partition("’")[0] in _ENGLISH or word in usage("en").months
    return text[0].lower() + text[1:] if language == "en" and not keeps else text
