"""How a text is split into subwords: the merges of byte-pair encoding, and each word of the text merged step by step.

The merges are learned from lines by the loop of `text/bpe.py`, with the count of each pair, or they are those of a
model, which stores their order but not their counts. A word starts as characters; the pair that was learned earliest
is merged first, until no learned pair is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from regard.errors import InputError
from regard.report.deliver import Output
from regard.report.page import escaped, page
from regard.report.table import Markup, Table
from regard.report.text import printable
from regard.text.bpe import LearnedMerge, Pair, learn_merges
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.pieces import nfc, pretokenize, to_pieces_form
from regard.text.vocabulary import Vocabulary

LONGEST = 2_000  # maximum characters of a text
FIRST = 10  # merges that are always shown, used or not
LINES = 20_000  # maximum lines to learn from, since the loop is in Python


@dataclass(frozen=True)
class MergeStep:
    number: int  # of the merge, in the order learnt, from 1
    pair: Pair
    symbols: tuple[str, ...]  # the word after this merge


@dataclass(frozen=True)
class WordPieces:
    word: str
    symbols: tuple[str, ...]  # the symbols before the first merge
    steps: tuple[MergeStep, ...]
    ids: tuple[int, ...] | None  # ids in the model's vocabulary

    @property
    def pieces(self) -> tuple[str, ...]:
        return self.steps[-1].symbols if self.steps else self.symbols


@dataclass(frozen=True)
class TextInPieces:
    """A text split into subwords."""

    text: str
    origin: str  # description of where the merges come from
    learnt: tuple[LearnedMerge, ...]  # empty for a model's merges
    words: tuple[WordPieces, ...]

    @property
    def used(self) -> list[int]:
        """The numbers of the merges that the text used, from 1."""
        return sorted({step.number for word in self.words for step in word.steps})


def tokens_learnt(text: str, lines: Iterable[str], merges: int, origin: str) -> TextInPieces:
    """Splits a text by merges that are learned from the first `LINES` lines."""
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
    """Splits a text by a model's own merges."""
    check_text(text)
    if not isinstance(vocabulary, LearnedVocabulary) or vocabulary.merges is None:
        raise InputError("this model's pieces are not made by merges; give a model with text.unit = bpe, or no model")
    ranks = {pair: number for number, pair in enumerate(vocabulary.merges)}
    words = []
    for word in pretokenize(to_pieces_form(nfc(text))):
        found = by_steps(word, vocabulary.symbols(word), ranks)
        ids = tuple(vocabulary.ids[piece] for piece in found.pieces)
        words.append(replace(found, ids=ids))
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
    """Returns a dictionary for JSON."""
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


# ── as text and as a page ─────────────────────────────────────────────────────────────────────────────────────────────


def tokens_output(found: TextInPieces) -> Output:
    return Output(text=lambda: tokens_text(found), data=lambda: as_dict(found), page=lambda: tokens_page(found))


def tokens_text(found: TextInPieces) -> str:
    parts = [f"Merges: {printable(found.origin)}"]
    if found.learnt:
        parts += [merges_note(found), learnt_table(found).text()]
    parts += ["Each word, from characters to pieces; a number is that of the merge", steps_table(found).text()]
    pieces = [printable(piece) for word in found.words for piece in word.pieces]
    parts += [f"{len(pieces)} pieces: " + " ".join(pieces)]
    return "\n\n".join(parts) + "\n"


def tokens_page(found: TextInPieces) -> str:
    parts = [f'<p class="quiet">Merges: {escaped(found.origin)}</p>', f'<p class="text">{marked(found)}</p>']
    parts += ["<h2>Each word, from characters to pieces</h2>", steps_table(found).html()]
    if found.learnt:
        parts += ["<h2>Merges learnt</h2>", f"<p>{escaped(merges_note(found))}</p>", learnt_table(found).html()]
    return page("A text in pieces", "\n".join(parts))


def merges_note(found: TextInPieces) -> str:
    return f"The first {min(FIRST, len(found.learnt))} of {len(found.learnt):,} merges, and those that the text needs"


def learnt_table(found: TextInPieces) -> Table:
    shown = sorted({*range(1, min(FIRST, len(found.learnt)) + 1), *found.used})
    rows = []
    for number in shown:
        merge = found.learnt[number - 1]
        needed = "yes" if number in found.used else ""
        rows.append([f"{number:,}", " + ".join(merge.pair), merge.piece, f"{merge.times:,}", needed])
    return Table(["merge", "pair", "piece", "times", "needed"], rows, left=(1, 2, 4))


def steps_table(found: TextInPieces) -> Table:
    has_ids = any(word.ids is not None for word in found.words)
    rows = [
        [word.word, _steps(word), *([" ".join(map(str, word.ids or ()))] if has_ids else [])] for word in found.words
    ]
    return Table(["word", "steps", *(["ids"] if has_ids else [])], rows, left=(0, 1, 2))


def _steps(word: WordPieces) -> str:
    return " → ".join([" ".join(word.symbols), *(f"{' '.join(s.symbols)} ({s.number:,})" for s in word.steps)])


def marked(found: TextInPieces) -> Markup:
    """HTML with every piece in a box of its own."""
    return Markup(" ".join(f"<mark>{escaped(piece)}</mark>" for word in found.words for piece in word.pieces))
