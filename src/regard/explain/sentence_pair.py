"""A sentence and its translation as an explanation counts them: in words, and where each word stands in the texts.

The model reads another text than the one that was given, and says another one than the one that is given back
(`translation/prepare.py`): words are mended, and what must survive is a slot. Words here are those that the model reads
and says, as in every map; their spans lead back to the texts that a person sees. A word that was put in or taken away
after the search has no span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.request import Request, Said, request
from regard.text.slots import fill
from regard.text.words import Span, subword_shares, word_spans
from regard.translation.translator import TextTranslator


@dataclass(frozen=True)
class PlacedWord:
    """A word, with slots filled, and where it stands: in the text that was given, or in the translation."""

    text: str
    span: Span | None


@dataclass(frozen=True)
class SentencePair:
    """What is explained."""

    asked: Request
    said: Said
    forced: bool  # the translation was given, not searched for

    @property
    def bundle(self) -> Bundle:
        return self.asked.bundle

    @property
    def source_ids(self) -> tuple[int, ...]:
        """With the tag's, without EOS."""
        return self.asked.unit.ids

    @property
    def target_ids(self) -> tuple[int, ...]:
        return self.said.ids

    @cached_property
    def answer(self) -> str:
        """The translation as the model says it, with slots."""
        return self.bundle.tokenizer.decode(self.said.ids)

    @cached_property
    def source_words(self) -> tuple[PlacedWord, ...]:
        spans, slots = word_spans(self.asked.source), self.asked.slots.source
        texts = [fill(self.asked.source[start:end], slots) for start, end in spans]
        return _placed(texts, self._source_places(spans))

    @cached_property
    def target_words(self) -> tuple[PlacedWord, ...]:
        texts = [fill(self.answer[start:end], self.asked.slots.target) for start, end in self.target_spans]
        return _placed(texts, self._target_places(self.target_spans))

    @cached_property
    def source_pieces(self) -> tuple[PlacedWord, ...]:
        """The tokens of the text, without tag and EOS."""
        tokenizer = self.bundle.tokenizer
        spans = [(token.start, token.end) for token in tokenizer.plain.source_tokens(self.asked.source)]
        labels = tokenizer.source.labels(self.source_ids, self.asked.slots.source)
        return _placed(labels[len(labels) - len(spans) :], self._source_places(spans))

    @cached_property
    def target_pieces(self) -> tuple[PlacedWord, ...]:
        """The tokens, without EOS."""
        tokenizer = self.bundle.tokenizer
        labels = tokenizer.target.labels(self.target_ids, self.asked.slots.target)
        return _placed(labels, self._target_places(tokenizer.target_pieces(self.target_ids)))

    @cached_property
    def target_spans(self) -> list[Span]:
        """Of the words, in `answer`."""
        return word_spans(self.answer)

    @cached_property
    def target_shares(self) -> NDArray[np.float64]:
        """(tokens, words): which part of each target token belongs to which word."""
        return subword_shares(self.bundle.tokenizer.target_pieces(self.said.ids), self.target_spans)

    def first_tokens(self) -> list[int]:
        """For each target word the place of the first token that belongs to it."""
        return [int(np.flatnonzero(column)[0]) for column in self.target_shares.T]

    def by_word(self, tokens: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of tokens (T,) or (T + 1,), EOS last → of words (W,): a token that belongs to two words is divided
        among them."""
        numbers = np.asarray(tokens, dtype=np.float64)[: len(self.said.ids)]
        summed: NDArray[np.float64] = numbers @ self.target_shares
        return summed

    def _source_places(self, spans: Sequence[Span]) -> list[Span | None]:
        at, sentence = self.asked.unit.span[0], self.asked.sentence
        found: list[Span | None] = []
        for start, end in spans:
            first, last = sentence.origin((start, end)) if end > start else (0, 0)
            found.append((at + first, at + last) if end > start else None)
        return found

    def _target_places(self, spans: Sequence[Span]) -> list[Span | None]:
        sentence, answer = self.asked.sentence, self.answer
        if self.forced:
            given = sentence.as_model_output(self.said.translation)
            if given.text != answer:  # the tokenizer does not give it back as it was
                return [None] * len(spans)
            origins = given.origins
            return [(origins[start][0], origins[end - 1][1]) if end > start else None for start, end in spans]
        kept = sentence.without_additions(answer) if self.asked.search.mend else answer
        restored = sentence.restore(kept)
        if restored.text != self.said.translation:  # repaired after the search
            return [None] * len(spans)
        return [restored.span((start, end)) if start < end <= len(kept) else None for start, end in spans]


def _placed(texts: Sequence[str], spans: Sequence[Span | None]) -> tuple[PlacedWord, ...]:
    return tuple(PlacedWord(text, span) for text, span in zip(texts, spans, strict=True))


def sentence_pair(
    model: TextTranslator | Bundle,
    text: str,
    translation: str | None = None,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    nbest: int = 0,
) -> SentencePair:
    """A sentence with the given translation, or with the one that `translate` gives. Of a text of several sentences,
    `sentence` chooses one; `nbest` is a place in the n-best list. Both count from 0."""
    if translation is not None and (beam is not None or nbest):
        raise InputError(
            "a translation that is given is not searched for; give a translation or a beam, not both",
            parameter=("translation", "beam"),
        )
    asked = request(model, text, sentence=sentence, beam=beam)
    return SentencePair(asked, asked.said(translation, nbest), translation is not None)
