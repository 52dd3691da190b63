"""Other words for a place in a translation, and other wordings of a sentence, to offer to a reader.

    P(w | y<t, x) = Π P(piece | x, y<t, pieces before it)     over the pieces of the word w, after the words y<t

The most probable next pieces after the words before the place are completed to words, and those that begin several
words are continued in several ways. Offered are words of the language, in the case of the place, each with the
translation that continues with it. `alternatives.py` has the next pieces themselves, whatever they are.

Other wordings are the hypotheses of a wide beam, of which most are nearly the same: only those are offered that differ
from each other in several words.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

from regard.errors import InputError
from regard.search.constraints import EOS, satisfies
from regard.search.engine import Ids, StopSignal
from regard.search.required_terms import NO_SEARCH_DEMAND
from regard.text.known_words import KnownWords
from regard.text.slots import SLOT, fill
from regard.text.words import split_words, word_spans
from regard.translation.alternatives import before_word
from regard.translation.confidence import invented_words
from regard.translation.pipeline import Pipeline
from regard.translation.placeholder_check import checked, repaired
from regard.translation.translation import Candidate
from regard.translation.units import Unit

LEAST = 0.01  # probability of a word that is offered
MAX_PIECES = 6  # of a word that is offered
MAX_SPLITS, ROUNDS = 3, 2  # beginnings of words that are continued in several ways: in each round, and rounds
WIDE_BEAM = 12  # of the search for other wordings
DIFFERENT, SHORT = 2, 5  # words in which wordings differ; one in sentences of up to SHORT words
MAX_SECONDS = 2.0  # of the search for other wordings, which usually takes a tenth
KEPT, NUMBER = "it is kept as in the source", "it is a number"
LOST = "with another word here, what must be kept would be lost"


@dataclass(frozen=True)
class WordAlternative:
    """A word for the place, and the translation that continues with it."""

    word: str
    probability: float  # P(word | source, words before)
    text: str


@dataclass(frozen=True)
class WordAlternatives:
    """The word at the place and other words for it, most probable first."""

    word: str
    probability: float
    others: tuple[WordAlternative, ...] = ()
    reason: str = ""  # why there are no others


class FoundWord(NamedTuple):
    """A word after the forced start."""

    word: str
    pieces: Ids
    end: Ids  # the piece after it, which shows that the word is complete; none at the end of the translation


def word_alternatives(
    pipeline: Pipeline, unit: Unit, translation: str, position: int, known: KnownWords | None, count: int = 6
) -> WordAlternatives:
    """Returns the words that the model would put instead of a word of a translation (`position`, from 0), at most
    `count`, and the probability of that word. `known` are the words of the target language; without them any word is
    one. Raises InputError for a place beyond the end."""
    tokenizer = pipeline.bundle.tokenizer
    start = before_word(tokenizer, unit, translation, position).ids
    (ids,) = tokenizer.encode_target([unit.prepared.as_model_output(translation).text])
    place = WordPlace(pipeline, unit, start, known)
    shown = place.word(tuple(ids[len(start) :]), ended=True)
    if shown is None or shown.word != split_words(tokenizer.decode(ids))[position]:
        raise InputError("position is a word that the model reads in one piece with another; choose another word")
    reason = place.fixed(shown.word)
    found = {} if reason else place.words()
    (row,) = pipeline.engine.log_probs([unit.ids], [tuple(ids)])
    probability = math.exp(row[len(start) : len(start) + len(shown.pieces)].sum())
    fitting: dict[str, FoundWord] = {}  # the most probable one of words that differ only in case or apostrophe
    for one in sorted(found, key=lambda one: -found[one]):
        if found[one] >= LEAST and place.fits(one.word, shown.word):
            fitting.setdefault(_simplified(one.word), one)
    fitting.pop(_simplified(shown.word), None)
    offered = list(fitting.values())[:count]
    others = [
        WordAlternative(place.written(one.word), found[one], text)
        for one, text in zip(offered, place.continued(offered), strict=True)
        if text
    ]
    reason = LOST if offered and not others else reason
    return WordAlternatives(place.written(shown.word), probability, tuple(others), reason)


def _simplified(word: str) -> str:
    return word.casefold().replace("’", "'")


def other_wordings(pipeline: Pipeline, unit: Unit, translation: str, count: int = 4) -> list[Candidate]:
    """Returns other translations of a unit than the given one, best first, at most `count`."""
    options = replace(pipeline.search, beam=WIDE_BEAM, nbest=WIDE_BEAM)
    stop = StopSignal(time.monotonic() + MAX_SECONDS, fallback=False)
    (draft,) = pipeline.drafts([replace(unit, stop=stop)], [NO_SEARCH_DEMAND], options)
    kept, found = [_words_of(translation)], []
    for one, answer in zip(draft.hypotheses, draft.checked_answers, strict=False):
        final = repaired(answer)
        words = _words_of(final.text)
        complete = all(span.status != "missing" for span in final.protected)
        if complete and all(_are_different(words, other) for other in kept):
            kept.append(words)
            found.append(Candidate(final.text, one.score, one.log_prob, one.ids))
    return found[:count]


def _words_of(text: str) -> list[str]:
    return [_simplified(word) for word in split_words(text) if any(map(str.isalnum, word))]


def _are_different(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two sentences differ in enough words.

    >>> _are_different("le chat noir dort là".split(), "le chat noir dort ici".split())
    True
    >>> _are_different("le chat noir dort ici encore".split(), "le chat noir dort là encore".split())
    False
    """
    same = sum(block.size for block in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks())
    longest = max(len(words), len(others))
    return longest - same >= (DIFFERENT if longest > SHORT else 1)


@dataclass(frozen=True)
class WordPlace:
    """A place in the translation of a unit: the words after the forced pieces `start`."""

    pipeline: Pipeline
    unit: Unit
    start: Ids
    known: KnownWords | None

    def word(self, tail: Ids, ended: bool) -> FoundWord | None:
        """Returns the first word of the pieces after the start; None if it may be incomplete or belongs to the word
        before. `ended`: the translation ends after them."""
        tokenizer, ids = self.pipeline.bundle.tokenizer, (*self.start, *tail)
        text, before = tokenizer.decode(ids), len(tokenizer.decode(self.start))
        first, last = next((span for span in word_spans(text) if span[1] > before), (0, 0))
        if first < before or first == last:
            return None
        ends = [end for _, end in tokenizer.target_pieces(ids)][len(self.start) :]
        length = next(number for number, end in enumerate(ends, start=1) if end >= last)
        complete = ended or length < len(tail)
        return FoundWord(text[first:last], tail[:length], tail[length : length + 1]) if complete else None

    def words(self) -> dict[FoundWord, float]:
        """Returns the words that the model may put here, with their probabilities."""
        found: dict[FoundWord, float] = {}
        waiting: list[tuple[Ids, float]] = [((), 1.0)]  # beginnings of words, and their probabilities
        tried: set[Ids] = {()}
        for _ in range(ROUNDS):
            splits: dict[Ids, tuple[float, float]] = {}  # of beginnings: how much is left for other words, and all
            for begun, probability in waiting:
                for pieces, steps, word in self._completed(begun, LEAST / probability):
                    along = list(accumulate(steps, mul, initial=probability))  # after each further piece
                    if word is not None and self._is_as_encoded(word):
                        found.setdefault(word, along[-1])
                    for i, step in enumerate(steps[1:], start=1):
                        splits[(*begun, *pieces[:i])] = along[i] * (1 - step), along[i]
            best = sorted((one for one in splits if one not in tried), key=lambda one: -splits[one][0])[:MAX_SPLITS]
            waiting = [(one, splits[one][1]) for one in best if splits[one][0] >= LEAST]
            tried.update(best)
            if not waiting:
                break
        return found

    def _completed(self, begun: Ids, least: float) -> list[tuple[Ids, list[float], FoundWord | None]]:
        """Returns the continuations of the beginning of a word: their pieces, the probability of each, and the word.
        It is None where the continuation has less than the given probability before the word is complete."""
        found: dict[int, tuple[Ids, list[float], FoundWord | None]] = {}  # by the first piece, like the sums
        sums: dict[int, list[float]] = defaultdict(lambda: [0.0])  # of log-probabilities, by number of pieces
        for length in range(1, MAX_PIECES + 2):
            branches = self.pipeline.engine.branches(self.unit.ids, (*self.start, *begun), length, least)
            for ids, log_prob in branches:
                along = sums[ids[0]]
                along.append(log_prob)
                ended = ids[-1] == EOS
                pieces = ids[: len(ids) - ended]
                word = None if ids[0] in found else self.word((*begun, *pieces), ended)
                if word is not None and (further := len(word.pieces) - len(begun)) > 0:
                    found[ids[0]] = pieces, [math.exp(b - a) for a, b in pairwise(along[: further + 1])], word
                elif math.exp(log_prob) < least:
                    found.setdefault(ids[0], (pieces, [math.exp(b - a) for a, b in pairwise(along)], None))
            if len(found) == len(branches):
                break
        return list(found.values())

    def _is_as_encoded(self, word: FoundWord) -> bool:
        """Whether the pieces are those of the text: other pieces of it would be read with another probability."""
        tokenizer, ids = self.pipeline.bundle.tokenizer, [*self.start, *word.pieces]
        (encoded,) = tokenizer.encode_target([tokenizer.decode([*ids, *word.end])])
        return encoded[: len(ids)] == ids

    def continued(self, words: Sequence[FoundWord]) -> list[str]:
        """Returns the translation with each word, continued by greedy search; empty if it lacks a protected span."""
        prepared, tokenizer = self.unit.prepared, self.pipeline.bundle.tokenizer
        if not words:
            return []
        starts = [(*self.start, *word.pieces, *word.end) for word in words]
        constraint = self.pipeline.constraint(self.unit.ids)
        texts = []
        for word, ids in zip(words, self.pipeline.engine.continued(self.unit.ids, starts), strict=True):
            again = self.word(ids[len(self.start) :], ended=True)
            answer = tokenizer.decode(ids).replace("\r", " ").replace("\n", " ")
            answer = prepared.without_additions(answer) if self.pipeline.text.mend else answer
            final = repaired(checked(prepared, answer, ()))
            complete = satisfies(ids, constraint) and all(one.status != "missing" for one in final.protected)
            texts.append(final.text if complete and again and again.word == word.word else "")
        return texts

    def fixed(self, word: str) -> str:
        """Returns why a word has no alternatives; empty if it may have some."""
        kept = (form for one in self.unit.prepared.inner for form in one.wanted)
        if SLOT.search(word) or any(word in split_words(form) for form in kept if word[:1].isalpha()):
            return KEPT
        return NUMBER if any(map(str.isdigit, word)) else ""

    def fits(self, word: str, shown: str) -> bool:
        """Whether a word can be offered instead of the shown one: a word of the language in the case of the place, or
        instead of punctuation other punctuation too."""
        if word == shown or SLOT.search(word) or any(map(str.isdigit, word)):
            return word == shown
        if not any(map(str.isalpha, word)):
            return not any(map(str.isalpha, shown))
        at_start = not any(map(str.isalpha, self.pipeline.bundle.tokenizer.decode(self.start)))
        if at_start and shown[:1].isupper():
            return word[:1].isupper() and self._is_known(word)
        is_name = word in split_words(self.unit.prepared.source)
        own_case = not word[:1].isupper() or self.known is None or word in self.known.words or word in self.known.copied
        return is_name if word[:1].isupper() and is_name else own_case and self._is_known(word)

    def _is_known(self, word: str) -> bool:
        bare = word.strip("'’-")
        if self.known is None or bare != word:  # an elision: l'
            return True
        language = self.pipeline.languages[1] or ""
        if len(bare) < 4:  # of which `invented_words` says nothing
            return self.known.word_class(bare) != "unknown"
        return not invented_words("", bare, self.known, language)

    def written(self, word: str) -> str:
        """Returns the word as the reader sees it."""
        return fill(word.upper() if self.unit.prepared.all_caps else word, self.unit.prepared.slots.target)
