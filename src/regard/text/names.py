"""Finds names in running text, by their shape, and by the words that a model knows.

By shape alone: a capital within a word (AcmeCloud, iPhone), capitals with digits (GPT-4o, A380), acronyms (NASA). With
known words (`known_words.py`) also any capitalized word that the model does not know; at the beginning of a sentence
only where its lower-case form is not known either. In German, whose nouns are capitalized, only after a title or
another name. Neighbors make one name: "AcmeCloud Pro", "Angela Merkel", "J. K. Rowling", "Ludwig van Beethoven". A line
in capitals has no names, since everything in it looks like one. The name under a closing formula is recognized by its
position.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from regard.text.casing import NOUN_CAPITALIZING_LANGUAGES, TITLES, CasedWord, cased_forms, cased_words
from regard.text.known_words import KnownWords
from regard.text.words import Span, word_lists

MAX_NAME_WORD = 60  # characters
MAX_CLOSING_LINE = 60  # maximal characters of a closing formula
_MIXED_CASE = regex.compile(r"\p{Ll}\p{Lu}")
_LISTS = {name: frozenset(words) for name, words in word_lists("names").items()}
_SIGNATURE = regex.compile(r"\p{Lu}[\p{L}\p{M}'’-]*+\.?(?:[ ]\p{Lu}[\p{L}\p{M}'’-]*+\.?){0,2}")
_LETTERS = regex.compile(r"\p{L}++")


def name_spans(
    text: str, excluded: Sequence[Span] = (), known: KnownWords | None = None, language: str = "en"
) -> list[Span]:
    """Returns the names outside the `excluded` spans, in order.

    >>> text = "AcmeCloud Pro runs on an iPhone, says NASA."
    >>> [text[start:end] for start, end in name_spans(text)]
    ['AcmeCloud Pro', 'iPhone', 'NASA']
    """
    if known is not None and not may_have_names(text, known, language):
        return []
    words = list(cased_words(text, excluded, language))
    forms = [text[start:end][: MAX_NAME_WORD + 1] for start, end, _ in words]
    all_caps = _in_all_caps_sentence(words, forms, known)
    named: list[bool] = []
    for i, (word, form) in enumerate(zip(words, forms, strict=True)):
        named.append(
            not form.islower()
            and 2 <= len(form) <= MAX_NAME_WORD
            and (_has_name_shape(form, known) or _is_unknown(text, word, form, known, language))
            and (
                language not in NOUN_CAPITALIZING_LANGUAGES
                or _MIXED_CASE.search(form) is not None
                or form.isupper()
                or (i > 0 and _names_follow(forms[i - 1], named[i - 1], known))
            )
            and not all_caps[i]
        )
    if not any(named):
        return []
    _extend_names(text, words, forms, named, known)
    spans: list[Span] = []
    for i, word in enumerate(words):
        if named[i] and i and named[i - 1] and _adjacent(text, words, i):
            spans[-1] = spans[-1][0], word.end
        elif named[i]:
            spans.append((word.start, word.end))
    return spans


def may_have_names(text: str, known: KnownWords, language: str) -> bool:
    """Whether any word may be a name, wherever it is in a sentence: quickly False for most texts without names."""
    if _MIXED_CASE.search(text):
        return True
    unfamiliar = known.unfamiliar(text, language)
    if unfamiliar and language in NOUN_CAPITALIZING_LANGUAGES:
        words = cased_forms(text, language)
        if _LISTS["before_names"].isdisjoint(words) and known.copied.isdisjoint(words):
            unfamiliar = set(filter(str.isupper, unfamiliar))
    return any(known.is_name(word, at_start=False) for word in unfamiliar)


def _has_name_shape(form: str, known: KnownWords | None) -> bool:
    """Whether a word has the shape of a name (AcmeCloud, NASA) and the model does not know it. Without known words, an
    incomplete list excludes emphasized ordinary words, and acronyms that differ between languages."""
    if _MIXED_CASE.search(form):
        return known is None or form not in known.copied
    if known is None:
        return form.isupper() and form not in _LISTS["not_names"]
    return form.isupper() and known.word_class(form) in ("unknown", "rare")


def _is_unknown(text: str, word: CasedWord, form: str, known: KnownWords | None, language: str) -> bool:
    """Whether a capitalized word such as Zürich is unknown to the model."""
    if known is None or not form[0].isupper():
        return False
    imperative = word.at_start and text[word.end : word.end + 1] == "-"  # Oublie-la
    return not imperative and known.is_name(form, word.at_start, language)


def _names_follow(form: str, named: bool, known: KnownWords | None) -> bool:
    """Whether a name may follow this word where all nouns are capitalized: after a title or another name."""
    return named or form in _LISTS["before_names"] or (known is not None and known.word_class(form) == "copied")


def _in_all_caps_sentence(words: Sequence[CasedWord], forms: Sequence[str], known: KnownWords | None) -> list[bool]:
    """Returns for each word whether most words of its sentence are in capitals. A single word is left to the known
    words."""
    if not any(map(str.isupper, forms)):
        return [False] * len(words)
    result: list[bool] = []
    first = 0
    for last in range(1, len(words) + 1):
        if last < len(words) and not words[last].at_start:
            continue
        long = [form for form in forms[first:last] if len(form) > 1]
        all_caps = 2 * sum(map(str.isupper, long)) > len(long)
        result += [all_caps and (len(long) > 1 or known is None)] * (last - first)
        first = last
    return result


def _extend_names(
    text: str, words: Sequence[CasedWord], forms: Sequence[str], named: list[bool], known: KnownWords | None
) -> None:
    """Marks words that belong to a neighboring name: known names, words after a product name, initials, particles."""

    def capitalized(i: int) -> bool:
        return forms[i][0].isupper() and _adjacent(text, words, i)

    def copied(i: int) -> bool:
        return known is not None and known.word_class(forms[i]) in ("copied", "rare")

    product = False  # whether the name began with a mixed-case word
    for i in range(len(words)):
        product = bool(named[i] and _MIXED_CASE.search(forms[i])) or (product and i > 0 and named[i - 1])
        if i and not named[i] and named[i - 1] and capitalized(i):
            translated = known is not None and known.word_class(forms[i]) == "translated"
            named[i] = len(forms[i]) > 1 and (copied(i) or (product and not translated))
    for i in range(len(words) - 2, -1, -1):
        if named[i + 1] and not named[i] and capitalized(i + 1):
            named[i] = forms[i][0].isupper() and (copied(i) or (text[words[i].end] == "." and forms[i] not in TITLES))
    for i in range(1, len(words) - 1):
        if (
            named[i - 1]
            and forms[i] in _LISTS["particles"]
            and _adjacent(text, words, i)
            and _adjacent(text, words, i + 1)
        ):
            named[i] = named[i + 1] or (i + 2 < len(words) and named[i + 2] and forms[i + 1] in _LISTS["particles"])


def _adjacent(text: str, words: Sequence[CasedWord], i: int) -> bool:
    """Whether only a space separates word i from the word before it, or an initial's full stop: "J. K. Rowling"."""
    before = words[i - 1]
    gap = text[before.end : min(words[i].start, before.end + 3)]
    initial = before.end - before.start == 1 and text[before.start].isupper()
    return gap in (" ", "\u00a0") or (initial and gap in (". ", "."))


def is_email_signature(text: str, span: Span) -> bool:
    """Whether a line of a text is the name under a closing formula: one to three capitalized words and nothing else.

    >>> text = "See you soon.\\n\\nKind regards,\\nMark"
    >>> is_email_signature(text, (29, 33)), is_email_signature("Kind regards, Mark", (14, 18))
    (True, False)
    """
    start, end = span
    if text[start - 1 : start] not in ("\n", "\r") or text[end : end + 1] not in ("", "\n", "\r"):
        return False
    if _SIGNATURE.fullmatch(text, start, end) is None:
        return False
    before = text[max(0, start - MAX_CLOSING_LINE) : start].rstrip()
    closing = _LETTERS.findall(before.splitlines()[-1].lower()) if before else []
    return bool(closing) and closing[-1] in _LISTS["closings"] and (before[-1] == "," or before[-1].isalpha())
