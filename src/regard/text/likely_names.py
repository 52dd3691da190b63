"""Names in a text whose capitals say nothing: IN CAPITALS, In Title Case, or without any.

A word that a model does not know is a name there if it stands where names stand: behind a preposition, a title, a mark
or another name. Elsewhere an unknown word is rather a seldom one: le lapin *cendré*. Not in German, where any noun may
follow such words.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.text.capitals import cased_words, with_capital
from regard.text.known_words import KnownWords
from regard.text.mend import in_capitals, in_small, in_title_case, with_known_capitals
from regard.text.protect import NAME, Protected, protected_spans
from regard.text.stems import has_known_stem

FEWEST_LETTERS = 3
BEFORE_NAMES = {
    "en": frozenset(
        str.split("""
        of in and or to at from by on with for against towards near via than like as the between through into
        mr mrs ms dr king named called
        """)
    ),
    "fr": frozenset(
        str.split("""
        de du d' d’ l' l’ à au aux en et ou par pour avec chez sur sous vers selon contre entre sans dans depuis comme
        m mme mlle dr monsieur madame nommé nommée appelé appelée
        """)
    ),
    "es": frozenset(
        str.split("""
        de del a al en y o e por para con desde hasta según contra entre sobre sin hacia como
        sr sra dr don doña llamado llamada
        """)
    ),
}


def likely_names(sentence: str, found: Sequence[Protected], known: KnownWords, language: str) -> dict[Protected, str]:
    """The names outside of what was `found`, if the capitals of the sentence say nothing, each as it is to be said:
    with a capital if the sentence has none."""
    silent = not any(map(str.isupper, sentence))
    if language not in BEFORE_NAMES:
        return {}
    if not (silent or in_capitals(sentence) or in_title_case(sentence, language, known)):
        return {}
    small = with_known_capitals(sentence if silent else in_small(sentence), known, language)
    read = with_likely_names(small, known, language)
    said = read if silent else sentence
    return {
        span: said[span.start : span.end]
        for span in protected_spans(read, known, language)
        if span.kind == NAME and not any(span.start < one.end and one.start < span.end for one in found)
    }


def with_likely_names(text: str, known: KnownWords, language: str = "en") -> str:
    """A text in small letters, but for capitals that words are known with (`mend.py`), with those of likely names too.
    As many characters as before.

    >>> known = KnownWords(["il", "habite", "à", "avec", "un", "lapin", "Marie"])
    >>> with_likely_names("il habite à brest avec m. dupont, avec un lapin cendré", known, "fr")
    'il habite à Brest avec m. Dupont, avec un lapin cendré'
    >>> with_likely_names("l'oregon, s'effondra", known, "fr")
    "l'Oregon, s'effondra"
    """
    before = BEFORE_NAMES[language]
    read = list(text)
    behind, may_follow = 0, False  # the end of the word before, and whether a name may follow it
    for start, end, at_start in cased_words(text, language=language):
        word = text[start:end]
        between = text[behind:start]  # may end with an elided word: l', d'
        if any(map(str.isalnum, between)):
            may_follow = between.lower().split()[-1] in before
        elif between.strip(" ."):  # a mark
            may_follow = True
        named = not at_start and word[:1].isupper()
        if may_follow and _is_likely_name(word, known, language):
            read[start] = with_capital(word)[0]
            named = True
        behind, may_follow = end, named or word.lower() in before
    return "".join(read)


def _is_likely_name(word: str, known: KnownWords, language: str) -> bool:
    """Whether it is no word that is known, and no form or slip of one."""
    return (
        word.islower()
        and len(word) >= FEWEST_LETTERS
        and len(with_capital(word)) == len(word)
        and known.knowledge(word) == known.knowledge(with_capital(word)) == "unknown"
        and not has_known_stem(word, known.words, language)
        and known.intended(word, language=language) is None
    )
