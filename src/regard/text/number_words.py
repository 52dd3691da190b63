"""Numbers written as words in English, French, German and Spanish: which digits may stand for them in a translation.

For the check that a translation invents no number: "two" may become 2, "twenty-one" 21, "half past three" 30, and in
the afternoon 3 may become 15. Words of other languages are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

_WORD = regex.compile(r"[\p{L}\p{M}]++|\d++")
_FROM_ZERO = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "de": "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig",
    "es": "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco",
}
_OTHERS = {
    "en": "first=1 once=1 second=2 twice=2 both=2 couple=2 third=3 fourth=4 fifth=5 sixth=6 seventh=7 eighth=8 ninth=9 "
    "tenth=10 dozen=12 noon=12 midday=12 midnight=0 midnight=12 midnight=24 quarter=15 quarter=45 half=30 half=50 "
    "half=5 twelfth=12 twentieth=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 "
    "hundreds=100 thousand=1000 thousands=1000 million=1000000 billion=1000000000 fortnight=15 week=8",
    "fr": "une=1 premier=1 première=1 second=2 deuxième=2 troisième=3 quatrième=4 cinquième=5 vingt=20 trente=30 "
    "quarante=40 cinquante=50 soixante=60 cent=100 cents=100 mille=1000 million=1000000 millions=1000000 "
    "milliard=1000000000 douzaine=12 midi=12 minuit=0 minuit=12 minuit=24 quart=15 demi=30 demie=30 quinzaine=15",
    "de": "eins=1 eine=1 einen=1 einer=1 erste=1 ersten=1 zweite=2 zweiten=2 dritte=3 dritten=3 dreißig=30 vierzig=40 "
    "fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90 hundert=100 tausend=1000 million=1000000 "
    "millionen=1000000 mittag=12 mitternacht=0 mitternacht=12 viertel=15 viertel=45 halb=30 dutzend=12",
    "es": "uno=1 una=1 primero=1 primera=1 primer=1 segundo=2 segunda=2 tercero=3 tercera=3 treinta=30 cuarenta=40 "
    "cincuenta=50 sesenta=60 setenta=70 ochenta=80 noventa=90 cien=100 ciento=100 mil=1000 millón=1000000 "
    "millones=1000000 mediodía=12 medianoche=0 medianoche=12 cuarto=15 cuarto=45 media=30 docena=12",
}
_JOINING = frozenset(["and", "et", "und", "y", "a"])
_LATE = {  # after noon, hours of the half day may be written as those of the whole
    "en": frozenset(["p", "pm", "afternoon", "evening", "night", "tonight", "clock", "past", "to", "at"]),
    "fr": frozenset(["heure", "heures", "h", "soir", "midi"]),
    "de": frozenset(["uhr", "abends", "nachmittags", "abend", "nachmittag"]),
    "es": frozenset(["tarde", "noche", "las"]),
}


def _table(language: str) -> dict[str, list[int]]:
    table: dict[str, list[int]] = {}
    for value, word in enumerate(_FROM_ZERO.get(language, "").split()):
        table.setdefault(word, []).append(value)
    for entry in _OTHERS.get(language, "").split():
        word, _, value_text = entry.partition("=")
        table.setdefault(word, []).append(int(value_text))
    return table


_TABLES = {language: _table(language) for language in _FROM_ZERO}
_GERMAN_PAIR = regex.compile(r"(\p{L}+)und(\p{L}+zig|dreißig)")


def numbers_in_words(text: str, language: str = "en") -> set[str]:
    """The numbers, as digits, that the text says in words or that follow from its words.

    >>> sorted(numbers_in_words("I have twenty-one cats.", "en"), key=int)
    ['1', '20', '21']
    """
    table, late = _TABLES.get(language, {}), _LATE.get(language, frozenset())
    said: set[int] = set()
    run: list[int] = []
    hours = False
    for word in map(str.lower, _WORD.findall(text)):
        values = [int(word)] if word.isdecimal() and len(word) < 10 else table.get(word, [])
        if not values and language == "de" and (pair := _GERMAN_PAIR.fullmatch(word)):
            values = [sum(table.get(part, [0])[0] for part in pair.groups())]
        hours = hours or word in late
        if values:
            said.update(values)
            run.append(values[0])
        elif word not in _JOINING:
            said.update(_read(run))
            run = []
    said.update(_read(run))
    if hours:
        said.update({value + 12 for value in said if value <= 12})
    return {str(value) for value in said}


def _read(run: Sequence[int]) -> set[int]:
    """The value of number words in a row: two hundred five."""
    total = current = 0
    for value in run:
        if value >= 1000:
            total, current = total + max(current, 1) * value, 0
        elif value == 100:
            current = max(current, 1) * value
        else:
            current = current * value if current == 4 and value == 20 else current + value  # quatre-vingt
    return {total + current} if run else set()
