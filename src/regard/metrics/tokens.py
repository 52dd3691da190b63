"""Lines tokenised by sacreBLEU's tokenisers, as token numbers.

The usual tokenisers do not look beyond the next space, so a word gives the same tokens everywhere (for `intl` and `zh`:
everywhere inside a line). `TokenEncoder` therefore tokenises every distinct word once and caches the result, which
makes most of the speed. The rules of the tokenisers are not reimplemented here.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from regard.errors import InputError
from regard.metrics.lines import unknown
from regard.metrics.ngrams import Ragged

_WORD_BY_WORD = {"13a", "char", "none"}
_EDGE_SENSITIVE = {"intl", "zh"}  # punctuation at the beginning or end of a line may stay attached
_EDGE = "\n"  # marks a word at the beginning or end of a line; no word contains it
_FENCE = "\ue000"  # separates words that are tokenised together; no tokeniser has a rule for it
MOST_WORDS = 500_000  # cached from one text to the next, about 100 MB


@cache
def tokenizer(name: str) -> Any:
    """sacreBLEU's tokeniser of that name."""
    from sacrebleu.metrics.bleu import BLEU

    if name not in BLEU.TOKENIZERS:
        raise unknown("tokeniser", name, BLEU.TOKENIZERS)
    try:
        return BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f'tokeniser "{name}" needs something that is not installed: {reason}') from None


def tokens_of(line: str, tokenize: str, lowercase: bool = False) -> list[str]:
    """The tokens of one line, tokenised as a whole; `TokenEncoder` must give the same."""
    cut: str = tokenizer(tokenize)((line.lower() if lowercase else line).rstrip())
    return cut.split()


@lru_cache(maxsize=2)
def _cached_encoder(tokenize: str, lowercase: bool) -> TokenEncoder:
    return TokenEncoder(tokenize, lowercase)


def encoder_for(tokenize: str, lowercase: bool) -> TokenEncoder:
    """An encoder that keeps the words of the last text, most of which the next system's text has too."""
    encoder = _cached_encoder(tokenize, lowercase)
    if len(encoder) > MOST_WORDS:
        _cached_encoder.cache_clear()
        encoder = _cached_encoder(tokenize, lowercase)
    return encoder


class TokenEncoder(dict[str, int]):
    """Numbers for tokens, equal for equal tokens in all lines. As a dictionary: word → its number."""

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
        else:  # the tokeniser needs the whole line, which is one "word"
            words = [[_EDGE + line.rstrip() + _EDGE] for line in lines]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        flat = list(chain.from_iterable(words))
        self._learn([word for word in dict.fromkeys(flat) if word not in self])
        numbers = np.fromiter(map(self.__getitem__, flat), np.int64, len(flat))
        return self._expanded(numbers, lengths)

    def _learn(self, words: Sequence[str]) -> None:
        """Tokenise new words: most of them in one call, separated by fences."""
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
        """The tokens of one word, tokenised with a neighbour "a" on each side where the line continues."""
        first, last = word.startswith(_EDGE), word.endswith(_EDGE)
        inner = word[first : len(word) - last]
        pieces = str(self._cut(("" if first else "a ") + inner + ("" if last else " a"))).split()
        return pieces[not first : len(pieces) - (not last)]

    def _expanded(self, numbers: np.ndarray[Any, Any], words_in_line: np.ndarray[Any, Any]) -> Ragged:
        """Word numbers → token numbers."""
        starts, table = np.frombuffer(self._starts, np.int64), np.frombuffer(self._tokens, np.int64)
        begin, count = starts[numbers], np.diff(starts)[numbers]  # of each word's tokens in the table
        after = np.concatenate([[0], np.cumsum(count)])  # tokens before each word of the text
        flat = table[np.repeat(begin - after[:-1], count) + np.arange(after[-1])]
        line_ends = np.cumsum(words_in_line)
        lengths = after[line_ends] - after[line_ends - words_in_line]
        return Ragged(flat, lengths)
