"""Lines cut by sacreBLEU's own tokenisers, and turned into numbers.

The usual tokenisers look no further than the next space, so a word is cut the same way wherever it stands (for `intl`
and `zh`: wherever it stands inside a line). `Encoder` therefore cuts every distinct word once and remembers the result;
text repeats its words, and that makes most of the speed. What the tokeniser does to a word is never rewritten here.
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
_KNOW_THE_EDGE = {"intl", "zh"}  # a mark at the very beginning or end of a line may stay on its word
_EDGE = "\n"  # marks a word at the edge; no word of a split line holds it
_FENCE = "\ue000"  # stands between words that are cut together: for private use, so no tokeniser has a rule for it
MOST_WORDS = 500_000  # remembered from one text to the next: some 100 MB


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
    """One line, cut as a whole: what `Encoder` must agree with."""
    cut: str = tokenizer(tokenize)((line.lower() if lowercase else line).rstrip())
    return cut.split()


@lru_cache(maxsize=2)
def _remembered(tokenize: str, lowercase: bool) -> Encoder:
    return Encoder(tokenize, lowercase)


def encoder_for(tokenize: str, lowercase: bool) -> Encoder:
    """An encoder that still knows the words of the last text: the next one, of another system, has most of them too."""
    encoder = _remembered(tokenize, lowercase)
    if len(encoder) > MOST_WORDS:
        _remembered.cache_clear()
        encoder = _remembered(tokenize, lowercase)
    return encoder


class Encoder(dict[str, int]):
    """Numbers for tokens, the same for equal tokens in every line it has seen. As a dictionary: word → its number."""

    def __init__(self, tokenize: str, lowercase: bool = False) -> None:
        self.tokenize, self.lowercase = tokenize, lowercase
        self._cut = tokenizer(tokenize)
        self._token_numbers: dict[str, int] = {}
        self._tokens = array("q")  # of all words known, one word after the other
        self._starts = array("q", [0])  # where each begins, and where the last one ends

    def encode(self, lines: Sequence[str]) -> Ragged:
        if self.lowercase:
            lines = [line.lower() for line in lines]
        if self.tokenize in _WORD_BY_WORD | _KNOW_THE_EDGE and not any("\n" in line for line in lines):
            words = [line.split() for line in lines]
            if self.tokenize in _KNOW_THE_EDGE:
                for line, some in zip(lines, words, strict=True):
                    if some and not (self.tokenize == "intl" and line[0].isspace()):
                        some[0] = _EDGE + some[0]
                    if some:
                        some[-1] += _EDGE
        else:  # the tokeniser wants the whole line: it is one "word"
            words = [[_EDGE + line.rstrip() + _EDGE] for line in lines]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        flat = list(chain.from_iterable(words))
        self._learn([word for word in dict.fromkeys(flat) if word not in self])
        numbers = np.fromiter(map(self.__getitem__, flat), np.int64, len(flat))
        return self._expanded(numbers, lengths)

    def _learn(self, words: Sequence[str]) -> None:
        """Cuts new words: those that need no care in one go, each between two fences."""
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
        """One word, with a neighbour "a" on each side where the line goes on."""
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
