"""Which language a text is in: whether a sentence is not in the language that a model reads, and what a sample is in.

The identifier is py3langid (naive Bayes over byte n-grams, 139 languages, offline). Its answer for one sentence is not
taken as it is: short sentences and names look like many languages. The question here is narrower, "is this *not*
English?", and is answered by a margin: the log-probability of the best other language less that of the expected one.
`benchmarks/language.py` measures it beside other identifiers and shows what the thresholds cost.

The identifier is loaded when the first sentence is judged (`language_tables.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from regard.text.language_tags import TWO_LETTERS, two_letters

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LONGEST = 1000  # characters of a text that are looked at
# Nats by which another language must be more probable. Chosen on English sentences of Tatoeba (dev), FLORES (dev) and
# Common Voice: 0.1% of them have a margin above 4. Of two or three words the margin varies more.
MARGIN = 4.0
SHORT_MARGIN = 8.0
SHORT = 4  # words below which the wider margin holds
FEWEST = 2  # words of a text that is judged; one word may be a name
NAMES = 6  # words below which a text in which every word is capitalised is taken for names
SURE = 0.8  # share of a sample's lines that must be in one language
FEWEST_LINES, MOST_LINES = 200, 400  # of a sample

CRY = re.compile(r"([^\W\d_]{1,3}?)\1{3,}")  # hahahaha, noooo
NO_WORD = frozenset("0123456789/\\@<>=_{}|$%#&*+^~`\ufffc")  # a word with one of these tells no language

# Not told apart from one sentence: the other languages of a row are no reason for an alarm.
ALIKE = (
    {"da", "nn", "no"},
    {"bs", "hr", "sr"},
    {"id", "ms"},
    {"cs", "sk"},
    {"gl", "pt"},
    {"af", "nl"},
    {"de", "lb"},
    {"bg", "mk"},
    {"be", "ru", "uk"},
    {"hi", "mr", "ne"},
)

# The languages that an alarm may name. Others of the identifier are left out: names, cries and loans look like one of
# them more often than anybody writes it to a translator, and its sentences are still unlike the expected language.
NAMES_OF = {
    "af": "Afrikaans", "ar": "Arabic", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali", "br": "Breton",
    "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "fy": "Frisian", "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ka": "Georgian", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "mr": "Marathi", "ms": "Malay", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
# What a few languages call themselves, and codes of libraries (ISO 639-2/B) that differ from ISO 639-3.
OTHER_NAMES = {
    "deutsch": "de", "español": "es", "espanol": "es", "castellano": "es", "français": "fr", "francais": "fr",
    "italiano": "it", "nederlands": "nl", "polski": "pl", "português": "pt", "portugues": "pt",
    "alb": "sq", "arm": "hy", "baq": "eu", "chi": "zh", "cze": "cs", "dut": "nl", "fre": "fr", "geo": "ka",
    "ger": "de", "gre": "el", "ice": "is", "mac": "mk", "may": "ms", "per": "fa", "rum": "ro", "slo": "sk", "wel": "cy",
}  # fmt: skip


def language_name(code: str) -> str:
    """
    >>> language_name("fr"), language_name("xh")
    ('French', 'language "xh"')
    """
    return NAMES_OF.get(code, f'language "{code}"')


def language_code(name: str) -> str | None:
    """The ISO 639-1 code of a language given by its name, in English or in itself, or by a code, with or without a
    country.

    >>> [language_code(name) for name in ("French", "fr", "fra", "fr-FR", "Français", "Klingon")]
    ['fr', 'fr', 'fr', 'fr', 'fr', None]
    """
    given = name.strip().lower()
    by_name = next((code for code, known in NAMES_OF.items() if given == known.lower()), None)
    code = by_name or OTHER_NAMES.get(given) or two_letters(given)
    return code if code in NAMES_OF or code in TWO_LETTERS.values() else None


def plain_words(text: str) -> list[str]:
    """The words of a text that tell its language, each once: numbers, addresses, markup and options left out.

    >>> plain_words("Use --force on 3 files in /tmp, please.")
    ['Use', 'on', 'files', 'in', 'please.']
    """
    words = dict.fromkeys(CRY.sub(r"\1", text[:LONGEST]).split())
    return [w for w in words if not w.startswith("-") and NO_WORD.isdisjoint(w) and any(map(str.isalpha, w))]


def word_count(words: Iterable[str]) -> int:
    """How many words, where scripts without capitals and spaces count two letters as one."""
    return sum(1 if word.isascii() else max(1, sum(map(_without_case, word)) // 2) for word in words)


@cache
def _without_case(character: str) -> bool:
    return character.isalpha() and character.lower() == character.upper()


def not_in(text: str, language: str) -> tuple[str, float] | None:
    """The language of a text that is not in `language`, and by how many nats it is more probable; None where the text
    may be in `language`, or is too short, or where the identifier does not know `language`.

    >>> not_in("Le chat est sur le tapis.", "en")[0]
    'fr'
    >>> not_in("The cat is on the mat.", "en") is None, not_in("Zürich", "en") is None
    (True, True)
    """
    words = plain_words(text)
    count = word_count(words)
    capitalised = all(word[:1].isupper() for word in words) and not "".join(words).isupper()
    if count < FEWEST or (capitalised and count < NAMES):
        return None
    ranked = ranks(" ".join(words))
    scores = dict(ranked)
    if language not in scores:
        return None
    alike = next((row for row in ALIKE if language in row), {language})
    best, score = next((code, s) for code, s in ranked if code in NAMES_OF and code not in alike)
    margin = score - scores[language]
    return (best, margin) if margin > (MARGIN if count >= SHORT else SHORT_MARGIN) else None


def language_of(lines: Iterable[str]) -> str | None:
    """The language that most lines of a sample are in; None where they do not agree, or are too few.

    >>> language_of(["Le chat dort sur le tapis.", "Où est la gare, s'il vous plaît ?"] * 100)
    'fr'
    """
    long_enough = (" ".join(words) for words in map(plain_words, lines) if word_count(words) >= SHORT)
    texts = list(islice(long_enough, MOST_LINES))
    if len(texts) < FEWEST_LINES:
        return None
    code, count = Counter(ranks(text)[0][0] for text in texts).most_common(1)[0]
    return code if count >= SURE * len(texts) and code in NAMES_OF else None


def ranks(text: str) -> list[tuple[str, float]]:
    """All languages by log-probability, the best first."""
    found: list[tuple[str, float]] = _identifier().rank(text)
    return found


@cache
def _identifier() -> LanguageIdentifier:
    from regard.text.language_tables import load_identifier

    return load_identifier()
