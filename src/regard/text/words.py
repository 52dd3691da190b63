"""Where the words of a sentence are: the unit in which alignments are given and attention is shown.

A word is a run of letters, marks and digits with inner apostrophes and hyphens ("didn't", "vient-il"); a French elision
stands apart from the word it leans on ("l'" + "homme"); any other visible character is a word of its own. This is for
looking and aligning, not for translation: models read subwords (`tokenizer.py`), and BLEU has its own tokenisers.
"""

from __future__ import annotations

import regex

_WORD = regex.compile(
    r"\b(?:[cdjlmnst]|(?:lors|puis|jus|quoi)?qu)['’](?=\p{L})"  # l'  qu'  lorsqu'
    r"|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*"  # chat  didn't  vient-il
    r"|[^\s\p{L}\p{M}\p{N}]",  # punctuation and symbols, one by one
    regex.IGNORECASE,
)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words, in order."""
    return [match.span() for match in _WORD.finditer(text)]


def split_words(text: str) -> list[str]:
    """
    >>> split_words("L'homme n'a pas traversé la rue.")
    ["L'", 'homme', "n'", 'a', 'pas', 'traversé', 'la', 'rue', '.']
    >>> split_words("The animal didn't stop.")
    ['The', 'animal', "didn't", 'stop', '.']
    """
    return [text[start:end] for start, end in word_spans(text)]
