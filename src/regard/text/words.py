"""The words of a sentence: the unit of alignments and of displayed attention.

A word is a run of letters, marks and digits with inner apostrophes and hyphens ("didn't", "vient-il"); a French elision
is separate from the word that follows ("l'" + "homme"); any other visible character is a separate word. This is for
display and alignment, not for translation: models read subwords (`tokenizer.py`), and BLEU has its own tokenizers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

Span = tuple[int, int]
WordLink = tuple[Span, Span]  # a source word and a target word that translates it
WordsOf = Callable[[str], list[Span]]

MAX_PARTS, MAX_PART = 20_000, 40  # remembered parts, and characters of one
MAX_SPLIT = 16  # texts whose parts are remembered

T = TypeVar("T")

_WORD = regex.compile(
    r"\b(?:[cdjlmnst]|(?:lors|puis|jus|quoi)?qu)['’](?=\p{L})"  # l'  qu'  lorsqu'
    r"|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*"  # chat  didn't  vient-il
    r"|[^\s\p{L}\p{M}\p{N}]",  # punctuation and symbols, one by one
    regex.IGNORECASE,
)


class PartCache(dict[str, tuple[T, ...]]):
    """A function of a text whose result is those for its parts between spaces, one after another. Most parts occurred
    before; their results are remembered.

    >>> PartCache(str.upper)("a cat")
    ['A', 'C', 'A', 'T']
    """

    def __init__(self, find: Callable[[str], Iterable[T]]) -> None:
        super().__init__()
        self.find = find

    def __missing__(self, part: str) -> tuple[T, ...]:
        found = tuple(self.find(part))
        if len(part) <= MAX_PART:
            if len(self) >= MAX_PARTS:
                self.clear()
            self[part] = found
        return found

    def __call__(self, text: str) -> list[T]:
        return list(chain.from_iterable(map(self.__getitem__, parts_of(text))))


@lru_cache(MAX_SPLIT)
def parts_of(text: str) -> list[str]:
    """Returns the parts of a text between spaces. Several functions need those of one text; a string that was looked up
    before is found faster."""
    return text.split(" ")


def may_repeat(text: str, times: int) -> bool:
    """Returns False for most texts in which nothing occurs this many times in a row."""
    return len(text) - len(set(text)) >= times - 1


def shortened(text: str, most: int = 100) -> str:
    """Returns the text, cut to `most` characters with an ellipsis at the end.

    >>> shortened("The cat sleeps.", most=8)
    'The cat…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


@cache
def word_lists(name: str) -> dict[str, Any]:
    """Returns a section of `word_lists.json`: name, or language and name → words."""

    def split(table: dict[str, Any]) -> dict[str, Any]:
        return {key: " ".join(value).split() if isinstance(value, list) else value for key, value in table.items()}

    lists = json.loads(Path(__file__).with_name("word_lists.json").read_text(encoding="utf-8"), object_hook=split)
    section: dict[str, Any] = lists[name]
    return section


_SPANS = PartCache[Span](
    lambda part: [(0, len(part))] if part.isalpha() else [match.span() for match in _WORD.finditer(part)]
)


def word_spans(text: str) -> list[Span]:
    """Returns the character spans of the words, in order."""
    found, first = list[Span](), 0  # character of the part
    for part in parts_of(text):
        for start, end in _SPANS[part]:
            found.append((first + start, first + end))
        first += len(part) + 1
    return found


def space_spans(text: str) -> list[Span]:
    """Returns the character spans of the words of a tokenized text, which are separated by spaces.

    >>> space_spans("l' homme .")
    [(0, 2), (3, 8), (9, 10)]
    """
    return [match.span() for match in regex.finditer(r"\S+", text)]


def split_words(text: str) -> list[str]:
    """
    >>> split_words("L'homme n'a pas traversé la rue.")
    ["L'", 'homme', "n'", 'a', 'pas', 'traversé', 'la', 'rue', '.']
    >>> split_words("The animal didn't stop.")
    ['The', 'animal', "didn't", 'stop', '.']
    """
    return [text[start:end] for start, end in word_spans(text)]


def subword_shares(subwords: Sequence[Span], words: Sequence[Span]) -> NDArray[np.float64]:
    """Returns the share of each subword that belongs to each word, by their common characters; rows sum to 1.

    A subword that touches no word (a space, an empty span) is assigned to the nearest word, or to the later of two.
    """
    if not subwords or not words:
        return np.zeros((len(subwords), len(words)))
    (start, end), (begin, stop) = np.array(subwords).T[:, :, None], np.array(words).T[:, None]
    common = np.maximum(0, np.minimum(end, stop) - np.maximum(start, begin))  # (subwords, words)
    alone = ~common.any(axis=1)
    if alone.any():
        distances = np.maximum(np.maximum(begin - end[alone], start[alone] - stop), 0)
        nearest = len(words) - 1 - distances[:, ::-1].argmin(axis=1)  # the last of equally near ones
        common[alone, nearest] = 1
    shares: NDArray[np.float64] = common / common.sum(axis=1, keepdims=True)
    return shares
