"""Dates with the name of a month, as English writes them: the month before the day.

Other languages say the day first, so a model must see that it reads a date. It does not where the numbers are slots:
"May ⟨1⟩, ⟨2⟩" could be anything.
"""

from __future__ import annotations

import re

Span = tuple[int, int]

_MONTH = (
    "Jan(?:uary|[.])?|Feb(?:ruary|[.])?|Mar(?:ch|[.])|Apr(?:il|[.])?|May|June?|July?|Aug(?:ust|[.])?"
    "|Sep(?:t(?:ember|[.])?|[.])?|Oct(?:ober|[.])?|Nov(?:ember|[.])?|Dec(?:ember|[.])?"
)
_ENGLISH = re.compile(rf"\b(?:{_MONTH})\s(?:[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b(?![.,:/-]\d)(?:,?\s\d{{4}}\b)?")


def dates_in_words(text: str, language: str = "en") -> list[Span]:
    """
    >>> text = "Born on May 3, 1998, in Room 5, and married on Sept. 12th."
    >>> [text[start:end] for start, end in dates_in_words(text)]
    ['May 3, 1998', 'Sept. 12th']
    """
    return [found.span() for found in _ENGLISH.finditer(text)] if language == "en" else []
