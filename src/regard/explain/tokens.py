"""How a text becomes pieces: the merges of byte-pair encoding, and each word of the text merged step by step.

The merges are learnt from lines by the loop of `text/bpe.py`, with how often each pair occurred, or they are
those of a model, which keeps their order but not their counts. A word starts as characters; of its pairs the one that
was learnt earliest is merged, until none of them was learnt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from regard.errors import InputError
from regard.text.bpe import LearnedMerge, Pair, learn_merges
from regard.text.learned_vocabulary import LearnedVocabulary, pretokenize
from regard.text.pieces import nfc, to_pieces_form
from regard.text.vocabulary import Vocabulary

LONGEST = 2_000  # characters of a text that is shown
LINES = 20_000  # that are learnt from; the loop is in Python


@dataclass(frozen=True)
class MergeStep:
    number: int  # of the merge, in the order learnt, from 1
    pair: Pair
    symbols: tuple[str, ...]  # the word after it


@dataclass(frozen=True)
class WordPieces:
    word: str
    symbols: tuple[str, ...]  # what merging starts from
    steps: tuple[MergeStep, ...]
    ids: tuple[int, ...] | None  # in the model's vocabulary

    @property
    def pieces(self) -> tuple[str, ...]:
        return self.steps[-1].symbols if self.steps else self.symbols


@dataclass(frozen=True)
class TextInPieces:
    """A text in pieces."""

    text: str
    origin: str  # of the merges, in words
    learnt: tuple[LearnedMerge, ...]  # empty with a model's merges
    words: tuple[WordPieces, ...]

    @property
    def used(self) -> list[int]:
        """Numbers of the merges that the text needed, from 1."""
        return sorted({step.number for word in self.words for step in word.steps})


def tokens_learnt(text: str, lines: Iterable[str], merges: int, origin: str) -> TextInPieces:
    """The text cut by merges that are learnt from the first `LINES` lines."""
    check_text(text)
    counts: Counter[str] = Counter()
    for line in islice(lines, LINES):
        counts.update(pretokenize(to_pieces_form(nfc(line.strip()))))
    if not counts:
        raise InputError("no words to learn merges from: all lines are empty")
    learnt = tuple(learn_merges(counts, merges))
    ranks = {merge.pair: number for number, merge in enumerate(learnt)}
    words = (by_steps(word, list(word), ranks) for word in pretokenize(to_pieces_form(nfc(text))))
    return TextInPieces(text, origin, learnt, tuple(words))


def tokens_of_vocabulary(text: str, vocabulary: Vocabulary, origin: str) -> TextInPieces:
    """The text cut by a model's own merges."""
    check_text(text)
    if not isinstance(vocabulary, LearnedVocabulary) or vocabulary.merges is None:
        raise InputError("this model's pieces are not made by merges; give a model with text.unit = bpe, or no model")
    ranks = {pair: number for number, pair in enumerate(vocabulary.merges)}
    words = []
    for word in pretokenize(to_pieces_form(nfc(text))):
        found = by_steps(word, vocabulary.symbols(word), ranks)
        ids = tuple(vocabulary.ids[piece] for piece in found.pieces)
        words.append(WordPieces(found.word, found.symbols, found.steps, ids))
    return TextInPieces(text, origin, (), tuple(words))


def by_steps(word: str, symbols: list[str], ranks: Mapping[Pair, int]) -> WordPieces:
    """
    >>> found = by_steps("chat", list("chat"), {("c", "h"): 0, ("a", "t"): 1, ("ch", "at"): 2})
    >>> [" ".join(step.symbols) for step in found.steps]
    ['ch a t', 'ch at', 'chat']
    """
    first, steps = tuple(symbols), []
    while candidates := [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]:
        rank, i = min(candidates)
        pair = symbols[i], symbols[i + 1]
        symbols = [*symbols[:i], pair[0] + pair[1], *symbols[i + 2 :]]
        steps.append(MergeStep(rank + 1, pair, tuple(symbols)))
    return WordPieces(word, first, tuple(steps), None)


def check_text(text: str) -> None:
    if not text.strip():
        raise InputError("the text is empty; give a sentence")
    if len(text) > LONGEST:
        raise InputError(f"the text has {len(text):,} characters, but at most {LONGEST:,} are shown; give a sentence")


def as_dict(found: TextInPieces) -> dict[str, Any]:
    """For JSON."""
    return {
        "text": found.text,
        "merges_from": found.origin,
        "learnt": [{"pair": list(m.pair), "times": m.times, "piece": m.piece} for m in found.learnt],
        "words": [
            {
                "word": word.word,
                "symbols": list(word.symbols),
                "steps": [{"merge": s.number, "pair": list(s.pair), "symbols": list(s.symbols)} for s in word.steps],
                "pieces": list(word.pieces),
                **({} if word.ids is None else {"ids": list(word.ids)}),
            }
            for word in found.words
        ],
    }
