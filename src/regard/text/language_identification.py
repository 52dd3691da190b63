"""Language identification: whether a sentence is in the language that a model reads, the language of a text among a few
candidates, and the language of a sample of lines.

The identifier is py3langid (naive Bayes over byte n-grams, 139 languages, offline). Its result for one sentence is not
used directly: short sentences and names resemble many languages. `foreign_language` answers a narrower question, "is
this *not* English?", by a margin: the log-probability of the best other language minus that of the expected one.
`benchmarks/language.py` compares it with other identifiers. `identify_language` must choose one of a few languages, so
a word or two are often enough: only the log-probabilities of these languages are compared.

py3langid stores its model in a compressed file, which takes 0.7 s and 100 MB to unpack. Here it is unpacked once, into
the user's cache (68 MB); after that a process maps the tables into memory when it first identifies a language. If the
cache is not writable, the model is unpacked in each process.
"""

from __future__ import annotations

import contextlib
import copy
import math
import os
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.files import user_cache
from regard.text.language import LANGUAGE_NAMES
from regard.text.phrases import phrase_languages
from regard.text.words import MAX_PARTS, PartCache, may_repeat

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

MAX_CHARACTERS = 1000  # of a text that are used
# Nats by which another language must be more probable. Chosen on English sentences of Tatoeba (dev), FLORES (dev) and
# Common Voice: 0.1% of them have a margin above 4. For two or three words the margin varies more.
MARGIN = 4.0
SHORT_MARGIN = 8.0
ROUNDING = 0.1  # nats, more than the error of a score
SHORT_TEXT = 4  # words below which the larger margin applies
MIN_WORDS = 2  # minimal words of a text to decide on; a single word may be a name
MAX_NAME_WORDS = 6  # words below which a fully capitalized text is taken for names
SAMPLE_SHARE = 0.8  # of a sample's lines that must be in one language
MIN_SAMPLE_LINES, MAX_LINES = 200, 400
# Nats by which a language outside the candidates must be more probable than all of them; more in a short line, where
# names have a large influence.
OTHER_MARGIN, SHORT_OTHER_MARGIN = 10.0, 20.0
TIE_MARGIN = 2.0  # nats within which two languages count as equally probable
MIXED_SHARE = 0.8  # minimal share of the words in one language, else a text of many lines is mixed

REPETITION = re.compile(r"([^\W\d_]{1,3}?)\1{3,}")  # hahahaha, noooo
NOT_WESTERN = re.compile("[^\x00-\xa9\xab-\xb9\xbb-\u0137\u0139-\u017f\u2010-\u203a€]")  # perhaps a letter without case
NOT_IN_WORDS = frozenset("0123456789/\\@<>=_{}|$%#&*+^~`\ufffc")  # a word with one of these has no language

# Languages that one sentence cannot distinguish
SIMILAR = (
    {"da", "nn", "no"}, {"bs", "hr", "sr"}, {"id", "ms"}, {"cs", "sk"}, {"gl", "pt"}, {"af", "nl"}, {"de", "lb"},
    {"bg", "mk"}, {"be", "ru", "uk"}, {"hi", "mr", "ne"},
)  # fmt: skip
# Frequent words that languages similar to this one do not have
COMMON_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the and with were this that from which have has are been they would their to his be by you not will can "
        "as at but an she her who more about after other than its it when there out said all one",
        "fr": "est les dans pour qui pas avec une sur être cette sont aux ses plus mais elle ils nous vous où été et "
        "du au ce il je par ne son leur comme tout deux aussi lui ces sans même bien très avait",
        "de": "und der das nicht ist ein eine mit auf für dem den sich auch wurde sind von zu im es sie aus nach aber "
        "oder hat haben werden wird über noch nur vor zum zur um wenn dass durch kann ich einen einer bei wie",
        "es": "el los las pero muy está más también y fue había ser hay cuando porque sin por con él hasta tiene ya "
        "según donde aunque puede años otros sus",
    }.items()
}
ENOUGH_COMMON_WORDS, COMMON_SHARE = 3, 0.1  # different ones in a text, and of its words, that make a search needless
TABLES = ("ptc", "pc", "classes", "nextmove", "row", "output")


class IdentifiedLanguage(NamedTuple):
    """The language of a text."""

    language: str  # one of the candidates, or another if that is clear
    sure: bool
    mixed: bool = False  # whether its lines are in several languages, of which `language` is the most frequent


def language_words(text: str) -> list[str]:
    """Returns the distinct words that identify a text's language: without numbers, addresses, markup, options.

    >>> language_words("Use --force on 3 files in /tmp, please.")
    ['Use', 'on', 'files', 'in', 'please.']
    """
    return list(dict.fromkeys(_LANGUAGE_WORDS(text[:MAX_CHARACTERS])))


def _identifying(part: str) -> list[str]:
    if not may_repeat(part, 4):
        if part.isalpha():
            return [part]
        words = part.split()
    else:
        words = REPETITION.sub(r"\1", part).split()
    return [w for w in words if not w.startswith("-") and NOT_IN_WORDS.isdisjoint(w) and any(map(str.isalpha, w))]


_LANGUAGE_WORDS = PartCache(_identifying)


def word_count(words: Iterable[str]) -> int:
    """Counts words; in scripts without case and spaces, two letters count as one word."""
    return sum([1 if word.isascii() else _word_count(word) for word in words])


@lru_cache(MAX_PARTS)
def _word_count(word: str) -> int:
    return max(1, sum(one.isalpha() and one.lower() == one.upper() for one in word) // 2)


def foreign_language(text: str, expected: str) -> tuple[str, float] | None:
    """Returns the language of a text that is not in the expected one, and by how many nats it is more probable; None if
    the text may be in the expected one, is too short, or the identifier does not know the expected one.

    >>> foreign_language("Le chat est sur le tapis.", "en")[0]
    'fr'
    >>> foreign_language("The cat is on the mat.", "en") is None, foreign_language("Zürich", "en") is None
    (True, True)
    """
    if _has_common_words(text[:MAX_CHARACTERS], expected):
        return None
    return foreign_language_of(language_words(text), expected)


def _has_common_words(text: str, language: str) -> bool:
    """Whether a text has enough common words of a language, by its parts between spaces, each at most one word. Quick,
    and nearly always True for a sentence in the language."""
    if NOT_WESTERN.search(text):
        return False
    parts = text.lower().split()
    common = len(COMMON_WORDS.get(language, frozenset()).intersection(parts))
    return common >= max(ENOUGH_COMMON_WORDS, COMMON_SHARE * len(parts))


def foreign_language_of(words: Sequence[str], expected: str, only: str | None = None) -> tuple[str, float] | None:
    """Like `foreign_language`, for the words of a text by `language_words`. With `only`, other languages need not be
    found, which is faster."""
    count = word_count(words)
    if count < MIN_WORDS:
        return None
    common = len(COMMON_WORDS.get(expected, frozenset()).intersection(map(str.lower, words)))
    if common >= max(ENOUGH_COMMON_WORDS, COMMON_SHARE * count):
        return None
    joined = " ".join(words)
    if count < MAX_NAME_WORDS and all(word[:1].isupper() for word in words) and not joined.isupper():
        return None
    if only is not None and not _may_be_in(joined, only, expected):
        return None
    ranked = ranked_languages(joined)
    scores = dict(ranked)
    if expected not in scores:
        return None
    similar = next((row for row in SIMILAR if expected in row), {expected})
    best, score = next((code, s) for code, s in ranked if code in LANGUAGE_NAMES and code not in similar)
    margin = score - scores[expected]
    return (best, margin) if margin > (MARGIN if count >= SHORT_TEXT else SHORT_MARGIN) else None


def _may_be_in(text: str, language: str, expected: str) -> bool:
    """Whether a language is more probable than the expected one by a margin."""
    if language == expected or not {language, expected}.issubset(load_identifier().nb_classes):
        return False
    scores = dict(_identifier_of(language, expected).rank(text))
    return bool(scores[language] - scores[expected] > MARGIN - ROUNDING)


def sample_language(lines: Iterable[str]) -> str | None:
    """Returns the language of most lines of a sample; None if they do not agree, or are too few.

    >>> sample_language(["Le chat dort sur le tapis.", "Où est la gare, s'il vous plaît ?"] * 100)
    'fr'
    """
    long_enough = (" ".join(words) for words in map(language_words, lines) if word_count(words) >= SHORT_TEXT)
    texts = list(islice(long_enough, MAX_LINES))
    if len(texts) < MIN_SAMPLE_LINES:
        return None
    code, count = Counter(ranked_languages(text)[0][0] for text in texts).most_common(1)[0]
    return code if count >= SAMPLE_SHARE * len(texts) and code in LANGUAGE_NAMES else None


def identify_language(texts: Iterable[str], candidates: Collection[str], default: str = "en") -> IdentifiedLanguage:
    """Returns the language of texts in one language, most probably one of the candidates. A text that is clearly in
    none of them gets another language; a text of many lines gets that of most lines. Without any words it is the
    default, if that is a candidate, or the first candidate.

    >>> identify_language(["Wo ist der Bahnhof?"], ["en", "de", "fr"])
    IdentifiedLanguage(language='de', sure=True, mixed=False)
    >>> identify_language(["Il gatto dorme sul tappeto."], ["en", "de", "fr"]).language
    'it'
    >>> identify_language(["Taxi"], ["de", "en"])
    IdentifiedLanguage(language='en', sure=False, mixed=False)
    >>> identify_language(["Hallo!"], ["de", "en"])
    IdentifiedLanguage(language='de', sure=True, mixed=False)
    """
    default = default if default in candidates else next(iter(candidates))
    votes, sure_votes = Counter[str](), Counter[str]()
    lines = (line for text in texts for line in text.splitlines())
    for words in islice(filter(None, map(language_words, lines)), MAX_LINES):
        language, sure = _line_language(words, candidates, default)
        if not sure and (known := _phrase_language(words, candidates)):
            language, sure = known, True
        votes[language] += len(words)
        sure_votes[language] += len(words) if sure else 0
    if not votes:
        return IdentifiedLanguage(default, len(candidates) == 1)
    counted = sure_votes if sure_votes.total() else votes  # uncertain lines count only if all are
    language, count = counted.most_common(1)[0]
    return IdentifiedLanguage(language, sure_votes[language] > 0, count < MIXED_SHARE * counted.total())


def _line_language(words: list[str], candidates: Collection[str], default: str) -> tuple[str, bool]:
    """Returns the language of one line, and whether it is certain."""
    ranked = ranked_languages(" ".join(words))
    scores = [(code, score) for code, score in ranked if code in candidates]
    if not scores:  # languages that the identifier does not know
        return default, False
    best, score = scores[0]
    other = next(((code, s) for code, s in ranked if code in LANGUAGE_NAMES and code not in candidates), None)
    if other is not None and other[1] > score + (OTHER_MARGIN if len(words) >= SHORT_TEXT else SHORT_OTHER_MARGIN):
        return other[0], True
    tied = [code for code, s in scores if s >= score - TIE_MARGIN]
    if len(tied) > 1:
        return (default if default in tied else best), False
    return best, len(scores) == 1 or score > scores[1][1] + MARGIN


def _phrase_language(words: list[str], candidates: Collection[str]) -> str | None:
    """Returns the candidate that alone has a line as a phrase: a greeting or label, too short for the identifier."""
    found = phrase_languages(" ".join(words))
    return next(iter(found)) if len(found) == 1 and found <= set(candidates) else None


def language_probabilities(text: str, candidates: Collection[str]) -> dict[str, float]:
    """Returns the probability of each candidate for a text in one of them, the highest first; empty for a text without
    words. Naive Bayes treats n-grams as independent evidence: for more than a few words, nearly all probability goes to
    one language.

    >>> found = language_probabilities("Wo ist der Bahnhof?", ["en", "de"])
    >>> {code: round(probability, 2) for code, probability in found.items()}
    {'de': 1.0, 'en': 0.0}
    """
    words = language_words(text)
    scores = [(code, score) for code, score in ranked_languages(" ".join(words)) if code in candidates] if words else []
    if not scores:
        return {}
    shares = {code: math.exp(score - scores[0][1]) for code, score in scores}
    total = sum(shares.values())
    return {code: share / total for code, share in shares.items()}


def ranked_languages(text: str) -> list[tuple[str, float]]:
    """Returns all languages with their log-probabilities, the most probable first."""
    found: list[tuple[str, float]] = load_identifier().rank(text)
    return found


@cache
def load_identifier() -> LanguageIdentifier:
    """Loads the identifier with unnormalized log-probabilities."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier
    from py3langid.modelio import load_model

    packed = MODEL_DIR / MODEL_FILE
    state = packed.stat()
    folder = user_cache() / "language" / f"{state.st_size}-{state.st_mtime_ns}"  # changes after an upgrade
    try:
        tables = map_tables(folder)
    except (OSError, ValueError):  # not there yet, or damaged
        tables = load_model(packed)
        with contextlib.suppress(OSError):
            store_tables(folder, tables)
    ptc, pc, classes, nextmove, row, output = tables
    return LanguageIdentifier(ptc, pc, classes, nextmove, output, norm_probs=False, tk_row=row)


@cache
def _identifier_of(*languages: str) -> LanguageIdentifier:
    """Returns an identifier that scores only these languages."""
    identifier = copy.copy(load_identifier())
    identifier.set_languages(languages)
    return identifier


def map_tables(folder: Path) -> tuple[Any, ...]:
    """Maps the six tables of a folder into memory, in the form that `LanguageIdentifier` takes: tables that are read
    entry by entry are memory views, whose entries are Python numbers."""
    import numpy as np

    ptc, pc, classes, *looked_up = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in TABLES)
    ptc, pc = np.asarray(ptc), np.asarray(pc)  # slices of a numpy.memmap are slow
    return ptc, pc, classes.tolist(), *(memoryview(table) for table in looked_up)


def store_tables(folder: Path, tables: tuple[Any, ...]) -> None:
    """Writes the tables so that the folder appears complete; those of other versions are removed."""
    import numpy as np

    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        for name, table in zip(TABLES, tables, strict=True):
            np.save(temporary / f"{name}.npy", np.asarray(table, dtype=np.int32 if name == "output" else None))
        for other in set(folder.parent.iterdir()) - {
            temporary
        }:  # an older version, damaged, or left by a killed process
            shutil.rmtree(other, ignore_errors=True)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
