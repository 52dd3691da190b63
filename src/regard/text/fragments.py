"""Fragments, which are not sentences: labels, headings, table cells, list items, greetings and closings of letters.

    Settings    settings:    • Log out    Save…    Cancel (Esc)    Date / Time    Kind regards,

A model trained on sentences adds a full stop, a capital or an article to them: "Les paramètres." `reshaped` removes
what it added. `phrases.py` has translations of frequent fragments.
"""

from __future__ import annotations

import re

from regard.text.casing import capitalize_first, lowercase_initial
from regard.text.layout import is_list_item
from regard.text.words import Span, word_lists

MAX_CHARS, MAX_WORDS = 60, 6
MAX_LABEL = 4  # words of a fragment to which no article is added
_END = re.compile(r"(?:\s*[.,:;!?…。！？])*$")
_FIRST_WORD = re.compile(r"([^\s'’]+['’]?).*", re.DOTALL)  # l' is one
_SPACED = re.compile(r"\s*([:;!?]+)")
_LINE_BREAK = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")


def is_fragment(text: str, span: Span, language: str = "en") -> bool:
    """Whether a sentence of a text is a fragment: it is short, alone in its line apart from list marks, and does not
    end with a full stop.

    >>> [is_fragment(text, (0, len(text))) for text in ("Settings", "Save…", "kind regards,", "It is saved.")]
    [True, True, True, False]
    """
    start, end = span
    if end - start > MAX_CHARS:
        return False
    sentence = text[start:end]
    if sum(any(map(str.isalpha, word)) for word in sentence.split()) > MAX_WORDS:
        return False
    first = max(0, start - MAX_CHARS)  # a window, since a line may be long
    before = _LINE_BREAK.split(text[first:start])[-1]
    after = _LINE_BREAK.split(text[end : end + MAX_CHARS], 1)[0]
    if any(map(str.isalnum, after)) or (sentence.endswith((".", "。")) and not sentence.endswith("..")):
        return False
    return not any(map(str.isalnum, before)) or is_list_item(before + sentence, len(before), language)


def reshaped(read: str, answer: str, language: str | None) -> str:
    """Returns the translation of a fragment with the end and the case of the first letter of the fragment, and without
    an article at its beginning if the fragment has none. German nouns and English names of days keep their capital, and
    so do questions and exclamations of several words, which are sentences typed in lower case.

    >>> reshaped("settings:", "Les paramètres.", "fr"), reshaped("Cancel (Esc)", "Annuler (Esc).", "fr")
    ('paramètres :', 'Annuler (Esc)')
    >>> reshaped("es-tu sûr ?", "Are you sure?", "en")
    'Are you sure?'
    """
    own, added = _END.search(read), _END.search(answer)
    if own is None or added is None or not answer[: added.start()]:
        return answer
    core, body = read[: own.start()], answer[: added.start()]
    body = _without_article(core, body, language)
    if core[:1].isupper():
        body = capitalize_first(body)
    elif core[:1].islower() and not (len(core.split()) > 1 and own[0].strip()[:1] in ("?", "!")):
        body = lowercase_initial(body, language)
    return body + spaced(read[own.start() :], language)


def spaced(marks: str, language: str | None) -> str:
    """Returns punctuation marks with the spaces that models write before them: in French one before : ; ! and ?

    >>> spaced(":", "fr"), spaced(" :", "de"), spaced("…", "fr")
    (' :', ':', '…')
    """
    return _SPACED.sub(r" \1" if language == "fr" else r"\1", marks)


def _without_article(core: str, text: str, language: str | None) -> str:
    """Removes the article that a translation begins with, unless the fragment begins with one in any language, is
    longer than a label, is a list, or is a clause: its translation has a frequent verb (La vie est belle)."""
    articles, verbs = (word_lists("labels")[name] for name in ("articles", "verbs"))
    if language not in articles or "," in core or len(core.split()) > MAX_LABEL:
        return text
    own, first = (_FIRST_WORD.sub(r"\1", some).lower().replace("’", "'") for some in (core, text))
    added = first in articles[language] and not any(own in some for some in articles.values())
    if not added or set(text.lower().split()) & set(verbs[language]):
        return text
    return text[len(first) :].lstrip() or text
