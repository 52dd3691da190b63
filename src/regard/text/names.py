"""Names in running text: by their shape, and by the words that a model knows.

By shape alone: a capital within a word (AcmeCloud, iPhone), capitals with digits (GPT-4o, A380), acronyms (NASA). With
known words (`known_words.py`) also any capitalised word that the model does not know; at the beginning of a sentence
only where its small form is not known either. In German, whose nouns are capitalised, only after a title or another
name. Neighbours make one name: "AcmeCloud Pro", "Angela Merkel", "J. K.
Rowling", "Ludwig van Beethoven". A line in capitals has no names, since everything in it looks like one.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from regard.text.capitals import CAPITALISED_NOUNS, TITLES, CasedWord, Span, cased_words
from regard.text.known_words import KnownWords

LONGEST = 60  # characters of a name's word
_BEFORE, _AFTER = r"(?<![\p{L}\p{M}\p{N}_])", r"(?![\p{L}\p{M}\p{N}_])"
WITH_DIGITS = (  # as a pattern of the scan of protect.py
    rf"{_BEFORE}(?:\p{{Lu}}\p{{L}}{{0,20}}+\p{{N}}{{1,9}}+(?:-?+[\p{{L}}\p{{N}}]{{1,20}}+)*+"  # A380 MP3 R2-D2
    rf"|\p{{Lu}}{{1,8}}+-\p{{N}}{{1,9}}+[\p{{L}}\p{{N}}]{{0,9}}+(?:-[\p{{L}}\p{{N}}]{{1,20}}+)*+"  # GPT-4o F-16
    rf"|\d{{1,5}}\p{{Lu}}{{1,4}}+\d{{0,5}}+){_AFTER}"  # 3D 221B 6XE
    rf"|{_BEFORE}(?:C\+\+|[CF]\#(?!\w))|(?<!\w)\.NET{_AFTER}"
)
_MIXED = regex.compile(r"\p{Ll}\p{Lu}")
_PARTICLES = frozenset(
    str.split("""
    van von der den de du da di del della la le bin ibn al el zu ten ter
    """)
)
_BEFORE_NAMES = frozenset(
    str.split("""
    Herr Herrn Frau Fräulein Familie Dr Prof Professor Doktor heiße heißt heißen namens
    """)
)
# Capitals that are ordinary words said loudly, or acronyms that most languages spell otherwise. For models without
# known words only; such a list is never complete.
_NOT_NAMES = frozenset(
    str.split("""
    OK TV UN EU US USA UK UAE NATO AIDS HIV DNA RNA GDP VAT CEO AM PM AD BC PS ASAP FAQ NO NOT YES ALL ANY AND ARE
    BUT CAN DO EVER EVERY FOR FREE GO GOOD HAS HE HERE HOW IF IN IS IT ITS ME MORE MOST MUST MY NEVER NEW NOW OF
    ON ONE ONLY OR OUR OUT REALLY SHE SO STOP THAT THE THEY THIS TO TOO UP VERY WANT WAS WE WHAT WHEN WHERE WHO
    WHY WILL WITH YOU YOUR LOVE HATE HELP PLEASE NON OUI PAS TOUT TRES TRÈS PLUS JAMAIS NEIN JA NICHT ALLE SEHR
    NIE SI SÍ TODO MUY NUNCA
    """)
)


def name_spans(
    text: str, taken: Sequence[Span] = (), known: KnownWords | None = None, language: str = "en"
) -> list[Span]:
    """The names outside the spans that are `taken`, in order.

    >>> text = "AcmeCloud Pro runs on an iPhone, says NASA."
    >>> [text[start:end] for start, end in name_spans(text)]
    ['AcmeCloud Pro', 'iPhone', 'NASA']
    """
    words = list(cased_words(text, taken, language))
    forms = [text[word.start : min(word.end, word.start + LONGEST + 1)] for word in words]
    loud = _loud(words, forms, known)
    named: list[bool] = []
    for i, (word, form) in enumerate(zip(words, forms, strict=True)):
        named.append(
            not loud[i]
            and 2 <= len(form) <= LONGEST
            and (_shaped_like_name(form, known) or _unknown_name(text, word, form, known, language))
            and (
                language not in CAPITALISED_NOUNS
                or _MIXED.search(form) is not None
                or form.isupper()
                or (i > 0 and _names_follow(forms[i - 1], named[i - 1], known))
            )
        )
    if not any(named):
        return []
    _join_neighbours(text, words, forms, named, known)
    spans: list[Span] = []
    for i, word in enumerate(words):
        if named[i] and i and named[i - 1] and _beside(text, words, i):
            spans[-1] = spans[-1][0], word.end
        elif named[i]:
            spans.append((word.start, word.end))
    return spans


def _shaped_like_name(form: str, known: KnownWords | None) -> bool:
    """AcmeCloud, NASA: unless the model knows it."""
    if _MIXED.search(form):
        return known is None or form not in known.copied
    if known is None:
        return form.isupper() and form not in _NOT_NAMES
    return form.isupper() and known.knowledge(form) in ("unknown", "rare")


def _unknown_name(text: str, word: CasedWord, form: str, known: KnownWords | None, language: str) -> bool:
    """Zürich, where the model does not know it."""
    if known is None or not form[0].isupper():
        return False
    imperative = word.at_start and text[word.end : word.end + 1] == "-"  # Oublie-la
    return not imperative and known.is_name(form, word.at_start, language)


def _names_follow(form: str, named: bool, known: KnownWords | None) -> bool:
    """Whether a name may follow this word where all nouns are capitalised: after a title or another name."""
    return named or form in _BEFORE_NAMES or (known is not None and known.knowledge(form) == "copied")


def _loud(words: Sequence[CasedWord], forms: Sequence[str], known: KnownWords | None) -> list[bool]:
    """Of each word, whether it stands in a sentence most of whose words are in capitals. A word that stands alone is
    left to the known words."""
    loud: list[bool] = []
    first = 0
    for last in range(1, len(words) + 1):
        if last < len(words) and not words[last].at_start:
            continue
        long = [form for form in forms[first:last] if len(form) > 1]
        in_capitals = 2 * sum(map(str.isupper, long)) > len(long)
        loud += [in_capitals and (len(long) > 1 or known is None)] * (last - first)
        first = last
    return loud


def _join_neighbours(
    text: str, words: Sequence[CasedWord], forms: Sequence[str], named: list[bool], known: KnownWords | None
) -> None:
    """Mark what belongs to a name beside it: known names, what follows a product's name, initials, particles."""

    def capitalised(i: int) -> bool:
        return forms[i][0].isupper() and _beside(text, words, i)

    def copied(i: int) -> bool:
        return known is not None and known.knowledge(forms[i]) in ("copied", "rare")

    product = False  # a capital within a word began the name
    for i in range(len(words)):
        product = bool(named[i] and _MIXED.search(forms[i])) or (product and i > 0 and named[i - 1])
        if i and not named[i] and named[i - 1] and capitalised(i):
            translated = known is not None and known.knowledge(forms[i]) == "translated"
            named[i] = len(forms[i]) > 1 and (copied(i) or (product and not translated))
    for i in range(len(words) - 2, -1, -1):
        if named[i + 1] and not named[i] and capitalised(i + 1):
            named[i] = forms[i][0].isupper() and (copied(i) or (text[words[i].end] == "." and forms[i] not in TITLES))
    for i in range(1, len(words) - 1):
        if named[i - 1] and forms[i] in _PARTICLES and _beside(text, words, i) and _beside(text, words, i + 1):
            named[i] = named[i + 1] or (i + 2 < len(words) and named[i + 2] and forms[i + 1] in _PARTICLES)


def _beside(text: str, words: Sequence[CasedWord], i: int) -> bool:
    """Whether word i follows the word before it without anything but a space, or as in "J. K. Rowling"."""
    before = words[i - 1]
    gap = text[before.end : min(words[i].start, before.end + 3)]
    initial = before.end - before.start == 1 and text[before.start].isupper()
    return gap in (" ", "\u00a0") or (initial and gap in (". ", "."))
