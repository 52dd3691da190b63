"""Every word of a translation: its probability, its tokens, and the source words it is linked to.

    T target tokens, EOS last   W target words

The translation is forced on the engine that translates, which need not be torch:

    probability    of a word: the product of the probabilities of its tokens, each given the source and the prefix
    links          the source word with the largest attention weight, in the view of the model's card
    coverage       the attention that a source word gets from all target words together; words with hardly any are
                   listed, as the guard would count them
    loop           text that the translation repeats and the source does not

`share.py` computes how much of a word is due to the source and to the preceding words, `translation/alternatives.py`
what else could stand at its place.

`word_choice` measures minimal pairs: two sources that differ in a word, and a target word that depends on it.

    The animal did not cross the street because it was too tired.     … parce qu'il était trop fatigué.
    The animal did not cross the street because it was too wide.      … parce qu'elle était trop large.

The position is the first word of the translation that is one of the given words. After the same prefix, the
probabilities of all given words are compared: the product over the tokens of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import beyond_tag
from regard.errors import InputError
from regard.explain.sentence_pair import SentencePair
from regard.text.casing import capitalize_first
from regard.text.words import word_spans
from regard.translation.guard import uncovered_words
from regard.translation.repetition import Loop, loop
from regard.translation.word_links import word_links

MOST_WORDS = 10  # maximum words of a choice


@dataclass(frozen=True)
class TranslatedWord:
    log_prob: float
    tokens: tuple[tuple[str, float], ...]  # tokens that start in the word, with their probabilities
    links: tuple[int, ...]  # indices of source words


@dataclass(frozen=True)
class WordByWord:
    """The words of one sentence pair; they are those of `SentencePair.target_words`."""

    words: tuple[TranslatedWord, ...]
    token_log_probs: NDArray[np.float64]  # (T,) EOS last
    coverage: NDArray[np.float64] | None  # of each source word; None for a model without attention
    uncovered: tuple[int, ...]  # indices of source words
    loop: Loop | None


def word_by_word(pair: SentencePair) -> WordByWord:
    """Computes the probabilities and links of each word."""
    (own,) = pair.source.translator.engine().log_probs([pair.source_ids], [pair.target_ids])  # (T,)
    labels = pair.bundle.tokenizer.target.labels(pair.target_ids, pair.source.slots.target)
    links, covered, uncovered = _attention(pair)
    of_words = pair.by_word(own)
    word_of = pair.target_shares.argmax(axis=1) if pair.target_spans else np.zeros(0, dtype=int)  # for each token
    words = [
        TranslatedWord(
            float(of_words[word]),
            tuple((labels[t], float(np.exp(own[t]))) for t in np.flatnonzero(word_of == word)),
            tuple(sorted(links.get(word, ()))),
        )
        for word in range(len(pair.target_spans))
    ]
    repeated = loop(pair.source.text, pair.target.translation)
    return WordByWord(tuple(words), own, covered, uncovered, repeated)


def _attention(pair: SentencePair) -> tuple[dict[int, set[int]], NDArray[np.float64] | None, tuple[int, ...]]:
    """The source words that each target word is linked to, the coverage of source words, and the uncovered words."""
    translator = pair.source.translator
    maps = translator.engine().attention([pair.source_ids], [pair.target_ids]) if pair.target_ids else None
    if maps is None:
        return {}, None, ()
    weights = beyond_tag(maps[0], pair.bundle.tag)
    in_words, spans = word_links(
        pair.bundle.tokenizer, translator.alignment_view, weights, pair.source.model_text, pair.target_ids
    )
    sources = {span: number for number, span in enumerate(word_spans(pair.source.model_text))}
    targets = {span: number for number, span in enumerate(pair.target_spans)}
    links: dict[int, set[int]] = {}
    for source, target in spans:
        links.setdefault(targets[target], set()).add(sources[source])
    return links, np.array(in_words.coverage), tuple(uncovered_words(in_words))


# ── a choice between words ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class WordChoice:
    position: int  # index of the target word where the choice is made
    prefix: str  # the translation before it, as the model writes it
    words: tuple[str, ...]
    probabilities: tuple[float, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """The probability of each word relative to all given words."""
        total = sum(self.probabilities)
        return tuple(p / total if total else 0.0 for p in self.probabilities)


def word_choice(pair: SentencePair, words: Sequence[str]) -> WordChoice:
    """The probabilities of the given words at the position of the first of them. Raises InputError if none of them is
    in the translation, ignoring case."""
    given = [word.strip() for word in words]
    if not 2 <= len(given) <= MOST_WORDS or any(len(word_spans(word)) != 1 for word in given):
        raise InputError(f"words must be two to {MOST_WORDS} single words, such as il and elle, but are {list(words)}")
    small = {word.lower() for word in given}
    output = [pair.answer[start:end].lower() for start, end in pair.target_spans]
    place = next((number for number, word in enumerate(output) if word in small), None)
    if place is None:
        raise InputError(
            f'none of the words {", ".join(given)} is in the translation "{pair.target.translation}"; give a word of it'
        )
    start, end = pair.target_spans[place]
    before = pair.answer[:start]
    capital = pair.answer[start:end][:1].isupper()
    tokenizer, engine = pair.bundle.tokenizer, pair.source.translator.engine()
    forms = [capitalize_first(word) if capital else word for word in given]
    ids = tokenizer.encode_target([before + word for word in forms])
    rows = engine.log_probs([pair.source_ids] * len(ids), [tuple(some) for some in ids])
    shared = sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, zip(*ids, strict=False)))
    totals = [float(np.exp(row[shared : len(own)].sum())) for row, own in zip(rows, ids, strict=True)]
    return WordChoice(place, before, tuple(forms), tuple(totals))
