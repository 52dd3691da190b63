"""Lines as integer ids: tokens by sacreBLEU's tokenizers, and matching n-grams of all orders and many lines at once.

The usual tokenizers do not look beyond the next space, so a word gives the same tokens everywhere (for `intl` and `zh`:
everywhere inside a line). `TokenEncoder` therefore tokenizes every distinct word once and caches the result, which
gives most of the speed. The rules of the tokenizers are not reimplemented here.

The definition of matching is a sum over the n-grams of one line (`bleu.clipped_matches`). This is its fast version: an
(n+1)-gram is a pair of overlapping n-grams and can only match if both do. So each order assigns ids to the remaining
n-grams by one sort, and the next order starts from those that matched.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import unknown

Numbers = NDArray[np.int64]

_WORD_BY_WORD = {"13a", "char", "none"}
_EDGE_SENSITIVE = {"intl", "zh"}  # punctuation at the start or end of a line may stay attached
_EDGE = "\n"  # marks a word at the start or end of a line; no word contains it
_FENCE = "\ue000"  # separates words that are tokenized together; no tokenizer has a rule for it
MOST_WORDS = 500_000  # cached between texts, about 100 MB


@dataclass(frozen=True)
class Ragged:
    """Lines of token or character ids, concatenated."""

    flat: NDArray[Any]
    lengths: Numbers  # of each line

    def __len__(self) -> int:
        return len(self.lengths)


def matching(hypotheses: Ragged, references: Sequence[Ragged], order: int) -> Numbers:
    """(lines, order): how many 1-grams … N-grams of each hypothesis are in a reference, each credited at most as often
    as in the single reference that has it most often.

    >>> the, cat, on, mat = range(4)
    >>> hypothesis = Ragged(np.array([the, the, the, cat]), np.array([4]))
    >>> reference = Ragged(np.array([the, cat, on, the, mat]), np.array([5]))
    >>> matching(hypothesis, [reference], 2)
    array([[3, 1]])
    """
    streams = (hypotheses, *references)
    lines = len(hypotheses)
    numbers = np.arange(lines)
    tokens = np.concatenate([s.flat for s in streams]).astype(np.int64)  # of all streams, one after the other
    line = np.concatenate([np.repeat(numbers, s.lengths) for s in streams])
    stream = np.repeat(np.arange(len(streams)), [len(s.flat) for s in streams])
    same_line = (line[1:] == line[:-1]) & (stream[1:] == stream[:-1])  # as the token before

    found = np.zeros((lines, order), dtype=np.int64)
    place = np.arange(len(tokens))  # starts of the remaining n-grams
    gram = line * (int(tokens.max(initial=0)) + 1) + tokens  # an id for each; equal n-grams have equal ids
    for n in range(order):
        rank, distinct = ranks(gram)
        counts = [
            np.bincount(rank[slice(*np.searchsorted(stream[place], [s, s + 1]))], minlength=distinct)
            for s in range(len(streams))
        ]
        clipped = np.minimum(counts[0], np.maximum.reduce(counts[1:]))
        line_of = np.empty(distinct, dtype=np.int64)
        line_of[rank] = line[place]
        found[:, n] = np.bincount(line_of, weights=clipped, minlength=lines)

        matched = clipped[rank] > 0
        number = np.full(len(tokens), -1)
        number[place[matched]] = rank[matched]
        place = np.flatnonzero(same_line & (number[1:] >= 0) & (number[:-1] >= 0))
        gram = number[place] * distinct + number[place + 1]
    return found


def ranks(values: Numbers) -> tuple[Numbers, int]:
    """The rank of each value among the distinct values, and the number of distinct values."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.empty(len(values), dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(new) - 1
    return ranks, int(new.sum())


# ── tokens ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def tokenizer(name: str) -> Any:
    """sacreBLEU's tokenizer of that name."""
    from sacrebleu.metrics.bleu import BLEU

    if name not in BLEU.TOKENIZERS:
        raise unknown("tokenizer", name, BLEU.TOKENIZERS)
    try:
        return BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f'tokenizer "{name}" needs something that is not installed: {reason}') from None


def tokens_of(line: str, tokenize: str, lowercase: bool = False) -> list[str]:
    """The tokens of one line, tokenized as a whole; `TokenEncoder` must give the same."""
    cut: str = tokenizer(tokenize)((line.lower() if lowercase else line).rstrip())
    return cut.split()


@lru_cache(maxsize=2)
def _cached_encoder(tokenize: str, lowercase: bool) -> TokenEncoder:
    return TokenEncoder(tokenize, lowercase)


def encoder_for(tokenize: str, lowercase: bool) -> TokenEncoder:
    """Returns an encoder that caches the words of the last text, since the next system's text shares most of them."""
    encoder = _cached_encoder(tokenize, lowercase)
    if len(encoder) > MOST_WORDS:
        _cached_encoder.cache_clear()
        encoder = _cached_encoder(tokenize, lowercase)
    return encoder


class TokenEncoder(dict[str, int]):
    """Assigns ids to tokens, the same in all lines. As a dictionary it maps a word to its id."""

    def __init__(self, tokenize: str, lowercase: bool = False) -> None:
        self.tokenize, self.lowercase = tokenize, lowercase
        self._cut = tokenizer(tokenize)
        self._token_numbers: dict[str, int] = {}
        self._tokens = array("q")  # of all known words, concatenated
        self._starts = array("q", [0])  # offset of each word, and the end of the last

    def encode(self, lines: Sequence[str]) -> Ragged:
        if self.lowercase:
            lines = [line.lower() for line in lines]
        if self.tokenize in _WORD_BY_WORD | _EDGE_SENSITIVE and not any("\n" in line for line in lines):
            words = [line.split() for line in lines]
            if self.tokenize in _EDGE_SENSITIVE:
                for line, some in zip(lines, words, strict=True):
                    if some and not (self.tokenize == "intl" and line[0].isspace()):
                        some[0] = _EDGE + some[0]
                    if some:
                        some[-1] += _EDGE
        else:  # the tokenizer needs the whole line, which is treated as one word
            words = [[_EDGE + line.rstrip() + _EDGE] for line in lines]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        flat = list(chain.from_iterable(words))
        self._learn([word for word in dict.fromkeys(flat) if word not in self])
        numbers = np.fromiter(map(self.__getitem__, flat), np.int64, len(flat))
        return self._expanded(numbers, lengths)

    def _learn(self, words: Sequence[str]) -> None:
        """Tokenizes new words, most of them in one call, separated by fences."""
        alone = [word for word in words if _EDGE in word or _FENCE in word]
        together = [word for word in words if not (_EDGE in word or _FENCE in word)]
        fenced = str(self._cut("".join([_FENCE, *(f" {word} {_FENCE}" for word in together)])))
        cut = [*map(self._pieces, alone), *map(str.split, fenced.split(_FENCE)[1:-1])]
        known = self._token_numbers
        for word, pieces in zip(alone + together, cut, strict=True):
            self[word] = len(self._starts) - 1
            self._tokens.extend([known.setdefault(piece, len(known)) for piece in pieces])
            self._starts.append(len(self._tokens))

    def _pieces(self, word: str) -> list[str]:
        """The tokens of one word, tokenized with a neighbour "a" on each side where the line continues."""
        first, last = word.startswith(_EDGE), word.endswith(_EDGE)
        inner = word[first : len(word) - last]
        pieces = str(self._cut(("" if first else "a ") + inner + ("" if last else " a"))).split()
        return pieces[not first : len(pieces) - (not last)]

    def _expanded(self, numbers: np.ndarray[Any, Any], words_in_line: np.ndarray[Any, Any]) -> Ragged:
        """Converts word ids to token ids."""
        starts, table = np.frombuffer(self._starts, np.int64), np.frombuffer(self._tokens, np.int64)
        begin, count = starts[numbers], np.diff(starts)[numbers]  # of each word's tokens in the flat array
        after = np.concatenate([[0], np.cumsum(count)])  # number of tokens before each word of the text
        flat = table[np.repeat(begin - after[:-1], count) + np.arange(after[-1])]
        line_ends = np.cumsum(words_in_line)
        lengths = after[line_ends] - after[line_ends - words_in_line]
        return Ragged(flat, lengths)
