"""Normalization of informal input for a model trained on edited sentences: the option `mend`.

    LINES IN CAPITALS      read in lower case, translated in capitals
    Lines In Title Case    read in lower case
    lines in lower case    read with the capitals of words that are known only with a capital: paris, das haus
    A lnie with typos.     A line with typos: a misspelled word is read as the only known word that it can be

A vocabulary learned from ordinary text spells capitals letter by letter, which a small model translates badly. In lower
case, names can be distinguished from words only if they are known, and a model that was also trained on such text
(`data.lower`) loses least. It is optional ([decode] mend), and not for a model that was trained on capitals.

Where case carries no information, an unknown word is taken for a name if it follows a preposition, a title, a
punctuation mark or another name. Elsewhere it is more probably a rare word: le lapin *cendré*. This is not done in
German, where any noun may follow such words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from regard.text.casing import NOUN_CAPITALIZING_LANGUAGES, capitalize_first, cased_words
from regard.text.inflection import is_inflected_form
from regard.text.known_words import KnownWords
from regard.text.protected_spans import NAME, LabeledSpan, protected_spans
from regard.text.words import Span, word_lists

TextEdit = tuple[int, int, str]  # a span of a text, and its replacement

MIN_CAPS_LETTERS = 4  # of a line in capitals; a shorter one may be a name: USA, BBC
MIN_TITLE_WORDS = 4  # of a line in title case; a shorter one may be names: Mary Ann Smith
MAX_FUNCTION_WORD = 3  # letters of words that may be in lower case in titles: of, the
MIN_TITLE_SHARE = 0.75  # share of capitalized words that a title must exceed
MIN_NAME_LETTERS = 3

OPENING, CLOSING = "\"'“‘«(¿¡", ".,;:!?…\"'”’»)"  # punctuation before and after a word
FIRST_LETTER = re.compile(r"[^\W\d_]")
WORD = re.compile(r"[^\W\d_][\w'’-]*")
BETWEEN_WORDS = re.compile(r"^\w|\W++\w?")  # possessive, so that time is linear in the length of a line
SENTENCE_BREAK = re.compile(r"[.!?…]\s")
WORDS_BEFORE_NAMES = {language: frozenset(words) for language, words in word_lists("before_uncased_names").items()}


def is_all_caps(line: str) -> bool:
    """Whether a line has enough letters and none in lower case. Scripts without case are never in capitals.

    >>> [is_all_caps(line) for line in ("STOP! 2 CATS.", "USA", "Stop!", "猫がいます。", "ÉTÉ 42 À NICE")]
    [True, False, False, False, True]
    """
    return line.isupper() and sum(map(str.isalpha, line)) >= MIN_CAPS_LETTERS


def is_title_case(line: str, language: str | None = None, known: KnownWords | None = None) -> bool:
    """Whether a line is in title case: words have a capital that would have none otherwise. German nouns always have
    one, so two German words after the first must be known in lower case. A line of two or three words may be a name; it
    must end like a sentence, and have only known words, one of them known in lower case.

    >>> [is_title_case(line) for line in ("The Cat Is Back on His Mat", "Tom met John Smith.", "Mary Ann Smith")]
    [True, False, False]
    >>> known = KnownWords(["Tag", "Frau", "Berg", "guten", "ist", "hier"])
    >>> [is_title_case(line, "de", known) for line in ("Guten Tag Frau Berg", "Frau Berg Ist Hier", "Es Ist Hier.")]
    [False, True, True]
    """
    capitalized, others = list[str](), 0
    for found in WORD.finditer(line):  # mostly ends at one of the first words
        if (word := found[0])[0].isupper():
            capitalized.append(word)
        elif len(word) > MAX_FUNCTION_WORD:
            return False
        else:
            others += 1
    words = len(capitalized) + others
    if len(capitalized) <= MIN_TITLE_SHARE * words:
        return False
    short, nouns = words < MIN_TITLE_WORDS, language in NOUN_CAPITALIZING_LANGUAGES
    if not short and not nouns:
        return True
    classes = [known.word_class(word) for word in capitalized[1:]] if known else []
    if short and ("unknown" in classes or not line.rstrip().endswith((".", "!", "?", "…"))):
        return False
    return classes.count("ordinary") >= (2 if nouns else 1)


def sentence_case(line: str) -> str:
    """Lower-cases a line, except for the first letters of sentences. Its length is unchanged.

    >>> sentence_case("HELLO. HOW ARE YOU, TOM?")
    'Hello. How are you, tom?'
    """

    def capitalize(found: re.Match[str]) -> str:
        begins = found.start() == 0 or SENTENCE_BREAK.search(found[0])
        return _map_characters(str.upper, found[0]) if begins else found[0]

    return BETWEEN_WORDS.sub(capitalize, _map_characters(str.lower, line))


def truecase(text: str, known: KnownWords, language: str = "en") -> str:
    """Capitalizes the words of a lower-case text that are known only with a capital. Its length is unchanged.

    >>> truecase("das haus ist in paris", KnownWords(["das", "Haus", "ist", "in", "Paris"]), "de")
    'das Haus ist in Paris'
    """
    characters = list(text)
    for start, end, _ in cased_words(text, language=language):
        if (new := known.truecased(text[start:end])) != text[start:end] and len(new) == end - start:
            characters[start] = new[0]
    return "".join(characters)


def spelling_corrections(
    sentence: str, excluded: Sequence[Span], known: KnownWords, language: str = "en"
) -> list[TextEdit]:
    """Returns misspelled words outside the `excluded` spans, each with the known word that it must be. A sentence that
    begins in lower case may have names in lower case, so nothing is changed there; nor are words next to anything but
    space and punctuation, such as [w]hile and file_name.

    >>> known = KnownWords(["where", "is", "the", "station"])
    >>> [spelling_corrections(text, [], known) for text in ("Where is teh staiton?", "where is the staiton")]
    [[(13, 20, 'station')], []]
    """
    first = FIRST_LETTER.search(sentence)
    if not first or not first[0].isupper():
        return []
    edges = [0, *(edge for span in excluded for edge in span), len(sentence)]
    outside = " ".join([sentence[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)])
    unfamiliar = known.unfamiliar(sentence, language)
    wrong = {word for word in unfamiliar if word in outside and known.may_be_misspelled(word, language)}
    edits = []
    for start, end, at_start in cased_words(sentence, excluded, language) if wrong else ():
        before, after = sentence[start - 1 : start] if start else " ", sentence[end : end + 1] or " "
        stands_alone = (before.isspace() or before in OPENING) and (after.isspace() or after in CLOSING)
        if (
            stands_alone
            and sentence[start:end] in wrong
            and (new := known.correction(sentence[start:end], at_start, language))
        ):
            edits.append((start, end, new))
    return edits


def _map_characters(change: Callable[[str], str], text: str) -> str:
    """Changes each character whose result is one character, so that all characters keep their positions."""
    return "".join(new if len(new := change(character)) == 1 else character for character in text)


def uncased_names(
    sentence: str, found: Sequence[LabeledSpan], known: KnownWords, language: str
) -> dict[LabeledSpan, str]:
    """Returns the probable names outside the spans `found`, if the sentence is IN CAPITALS, In Title Case or without
    capitals, each with its text in the translation: with a capital if the sentence has none."""
    if language not in WORDS_BEFORE_NAMES:
        return {}
    lowercase = not any(map(str.isupper, sentence))
    if not (lowercase or is_all_caps(sentence) or is_title_case(sentence, language, known)):
        return {}
    cased = capitalize_names(
        truecase(sentence if lowercase else sentence_case(sentence), known, language), known, language
    )
    text = cased if lowercase else sentence
    return {
        span: text[span.start : span.end]
        for span in protected_spans(cased, known, language)
        if span.kind == NAME and not any(span.start < one.end and one.start < span.end for one in found)
    }


def capitalize_names(text: str, known: KnownWords, language: str = "en") -> str:
    """Capitalizes probable names in a lower-case or truecased text. Its length is unchanged.

    >>> known = KnownWords(["il", "habite", "à", "avec", "un", "lapin", "Marie"])
    >>> capitalize_names("il habite à brest avec m. dupont, avec un lapin cendré", known, "fr")
    'il habite à Brest avec m. Dupont, avec un lapin cendré'
    >>> capitalize_names("l'oregon, s'effondra", known, "fr")
    "l'Oregon, s'effondra"
    """
    before_names = WORDS_BEFORE_NAMES[language]
    characters = list(text)
    previous_end, may_follow = 0, False  # the end of the previous word, and whether a name may follow it
    for start, end, at_start in cased_words(text, language=language):
        word = text[start:end]
        between = text[previous_end:start]  # may end with an elided word: l', d'
        if any(map(str.isalnum, between)):
            may_follow = between.lower().split()[-1] in before_names
        elif between.strip(" ."):  # a punctuation mark
            may_follow = True
        is_name = not at_start and word[:1].isupper()
        if may_follow and _may_be_name(word, known, language):
            characters[start] = capitalize_first(word)[0]
            is_name = True
        previous_end, may_follow = end, is_name or word.lower() in before_names
    return "".join(characters)


def _may_be_name(word: str, known: KnownWords, language: str) -> bool:
    """Whether a word is neither a known word nor a form or misspelling of one."""
    return (
        word.islower()
        and len(word) >= MIN_NAME_LETTERS
        and len(capitalize_first(word)) == len(word)
        and known.word_class(word) == known.word_class(capitalize_first(word)) == "unknown"
        and not is_inflected_form(word, known.words, language)
        and known.correction(word, language=language) is None
    )
