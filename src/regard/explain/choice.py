"""Which of several words a translation takes at one place: the measure of minimal pairs.

Two sentences that differ in a word, and a translation in which another word depends on it:

    The animal did not cross the street because it was too tired.     … parce qu'il était trop fatigué.
    The animal did not cross the street because it was too wide.      … parce qu'elle était trop large.

The place is the first word of the translation that is one of those asked for. After all that stands before it, the
probability of each of them is compared: the product over its tokens, given the source and the same beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.errors import InputError
from regard.explain.sentence_pair import SentencePair
from regard.search.forced_decoding import forced_log_probs
from regard.text.casing import capitalize_first
from regard.text.words import word_spans

MOST_WORDS = 10


@dataclass(frozen=True)
class WordChoice:
    position: int  # the target word where the choice is made
    prefix: str  # what stands before it, as the model says it
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """Among the words asked for."""
        total = sum(self.probabilities)
        return tuple(p / total if total else 0.0 for p in self.probabilities)


def word_choice(pair: SentencePair, words: Sequence[str]) -> WordChoice:
    """Raise unless one of the words stands in the translation; capitals do not matter for that."""
    asked = [word.strip() for word in words]
    if not 2 <= len(asked) <= MOST_WORDS or any(len(word_spans(word)) != 1 for word in asked):
        raise InputError(f"words must be two to {MOST_WORDS} single words, such as il and elle, but are {list(words)}")
    small = {word.lower() for word in asked}
    said = [pair.answer[start:end].lower() for start, end in pair.target_spans]
    place = next((number for number, word in enumerate(said) if word in small), None)
    if place is None:
        raise InputError(
            f'none of the words {", ".join(asked)} is in the translation "{pair.said.translation}"; give a word of it'
        )
    start, end = pair.target_spans[place]
    before = pair.answer[:start]
    capital = pair.answer[start:end][:1].isupper()
    tokenizer, model = pair.bundle.tokenizer, pair.bundle.model
    forms = [capitalize_first(word) if capital else word for word in asked]
    ids = tokenizer.encode_target([before + word for word in forms])
    rows = forced_log_probs(model, [pair.source_ids] * len(ids), ids)
    shared = _common([list(some) for some in ids])
    totals = [float(np.exp(row[shared : len(own)].sum())) for row, own in zip(rows, ids, strict=True)]
    return WordChoice(place, before, tuple(forms), tuple(totals))


def _common(lists: Sequence[Sequence[int]]) -> int:
    """How many tokens all of them begin with.

    >>> _common([[1, 2, 3], [1, 2, 4, 5]])
    2
    """
    shortest = min(map(len, lists))
    return next((i for i in range(shortest) if len({some[i] for some in lists}) > 1), shortest)
