"""The sentence to explain and its translation, with the positions of their words in the texts.

Every explanation starts here, so all of them are of the text that `translate` returns for the sentence in its text, by
whatever engine, with whatever was repaired or revised after the search. It is forced on the model: its tokens are those
of the search if they give this text, else the text is encoded.

The model reads a prepared text with placeholders (`translation/prepare.py`), and its output is restored. Words here are
those of the model's own texts, as in every map; their spans point into the texts that a user sees. A word that was
removed from the model's output has no span.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.errors import InputError
from regard.search.engine import Hypothesis, SearchRequest
from regard.search.options import SearchOptions
from regard.search.required_terms import SearchRun
from regard.text.slots import SlotTexts, fill
from regard.text.words import Span, subword_shares, word_spans
from regard.translation.options import TranslateOptions
from regard.translation.pipeline import Pipeline
from regard.translation.prepared_sentence import PreparedSentence
from regard.translation.translation import Candidate, Reason, SentenceTranslation
from regard.translation.translator import TextTranslator
from regard.translation.units import Unit

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from regard.explain.trace import Trace
    from regard.models.base import Model

Blank = Literal["mean", "removed"]  # the ways to blank a source word (`evidence.py`)
BLANKS: tuple[Blank, ...] = get_args(Blank)
Ablation = Literal["zero", "uniform"]  # the ways to ablate an attention head (`ablation.py`)
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


class TooLongError(InputError):
    """Raised for a sentence that is longer than the model can read at once."""


class SentenceIndexError(InputError):
    """Raised for a text of several sentences without an index, or with an index out of range."""


@dataclass(frozen=True)
class ExplainedTarget:
    """A translation to explain."""

    ids: tuple[int, ...]  # its tokens, without EOS
    translation: str  # as `translate` returns it, or as it was given
    how: str  # "forced", "greedy" or "beam 5", and remarks such as repairs
    confidence: float | None = None  # of `translate`; None for any other translation
    reasons: tuple[Reason, ...] = ()  # to mark it


@dataclass(frozen=True)
class ExplainedSource:
    """One sentence to explain, with the translator and the search settings."""

    translator: TextTranslator  # with the tag of the text, if it begins with one
    unit: Unit
    search: DecodeConfig
    translate: Callable[..., SentenceTranslation]  # translates the whole text, with options; returns this sentence
    sentences: int = 1  # number of sentences in the whole text

    @property
    def bundle(self) -> Bundle:
        return self.translator.bundle

    @property
    def sentence(self) -> PreparedSentence:
        return self.unit.prepared

    @property
    def text(self) -> str:
        """The sentence as it was given."""
        return self.sentence.source

    @property
    def model_text(self) -> str:
        """The sentence as the model reads it, with placeholders."""
        return self.sentence.read

    @property
    def slots(self) -> SlotTexts:
        return self.sentence.slots

    @cached_property
    def pipeline(self) -> Pipeline:
        """The translation pipeline that `translate` uses for a first search."""
        search = SearchOptions(self.search.beam, self.search.length_penalty)
        return self.translator.pipeline(search, TranslateOptions(mend=self.search.mend))

    @cached_property
    def shown(self) -> SentenceTranslation:
        """The sentence as `translate` returns it."""
        return self.translate()

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The n-best list of the search, also for a sentence that the phrase table translates."""
        return self.translate(nbest=self.search.beam, phrases=False).candidates

    @property
    def search_run(self) -> SearchRun:
        """The search whose result was accepted."""
        return self.shown.search or SearchRun(self.pipeline.search)

    def search_again(self, model: Model, start: Sequence[int] = ()) -> Hypothesis:
        """Returns the best hypothesis of `model` that starts with the tokens `start`, with the accepted settings."""
        from regard.search.search import search

        options, demand = self.search_run
        constraint = self.pipeline.constraint(self.unit.ids, demand, options)
        options = replace(options, nbest=1, attention=False)
        ((best, *_),) = search(model, [SearchRequest(self.unit.ids, constraint, tuple(start))], options)
        return best

    def target(self, given: str | None = None, nbest: int = 0) -> ExplainedTarget:
        """Returns the given translation, or else entry `nbest` of the n-best list, from 0; entry 0 is what `translate`
        returns."""
        if given is not None:
            return ExplainedTarget(self._encoded(given), given, "forced")
        if nbest == 0:
            found, how = self.shown, self.search_name()
            ids = next((one.ids for one in found.candidates if self.restore_text(one.ids) == found.text), None)
            if ids is None:
                how = f"{how} · changed after the search" if found.candidates else "phrase table"
                ids = self._encoded(found.text)
            return ExplainedTarget(ids, found.text, how, found.confidence, found.reasons)
        most = min(self.search.beam, len(self.candidates))
        if not 0 <= nbest < most:
            raise InputError(
                f"nbest must be from 0 to {most - 1}, the different translations that the search found, but is "
                f"{nbest}; use a wider beam"
            )
        return ExplainedTarget(self.candidates[nbest].ids, self.candidates[nbest].text, self.search_name())

    def _encoded(self, text: str) -> tuple[int, ...]:
        (ids,) = self.bundle.tokenizer.encode_target([self.sentence.as_model_output(text).text])
        return tuple(ids)

    def restore_text(self, ids: Sequence[int]) -> str:
        """Decodes token ids and replaces placeholders, without repairs."""
        answer = self.bundle.tokenizer.decode(ids)
        answer = self.sentence.without_additions(answer) if self.search.mend else answer
        return self.sentence.restore(answer).text

    def search_name(self) -> str:
        """The name of the accepted search: "beam 5", or "second search: beam 10, length penalty 1.5"."""
        taken = self.search_run.options
        name = "greedy" if taken.beam == 1 else f"beam {taken.beam}"
        if taken == self.pipeline.search:
            return name
        if taken.length_penalty != self.search.length_penalty:
            name += f", length penalty {taken.length_penalty:g}"
        if taken.no_repeat:
            name += f", no {taken.no_repeat} tokens twice"
        return f"second search: {name}"


def explained_source(
    model: TextTranslator | Bundle,
    text: str,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    guard: bool = True,
) -> ExplainedSource:
    """Returns the sentence of a text with index `sentence`, from 0, which may be None for a text of one sentence.
    `guard`: whether a doubtful sentence is searched a second time, as `translate` does. Raises TooLongError,
    SentenceIndexError, or InputError for a text without words."""
    if isinstance(model, Bundle):
        model = TextTranslator(model)
    given: dict[str, Any] = {"beam": beam, "length_penalty": length_penalty}
    search = replace(model.config, **{name: value for name, value in given.items() if value is not None})
    options = TranslateOptions(beam=search.beam, length_penalty=search.length_penalty, guard=guard)
    whole = partial(model.translate, text, options)  # as given, with its tag
    model, text = model.for_text(text)
    units = units_of(model, text)
    count = units[-1].sentence + 1
    if sentence is None and count > 1:
        raise SentenceIndexError(
            f"the text has {count} sentences, but one is explained at a time; choose one by sentence, from 0 to "
            f"{count - 1}, or give one sentence"
        )
    if sentence is not None and not 0 <= sentence < count:
        raise SentenceIndexError(f"sentence must be from 0 to {count - 1} in this text, but is {sentence}")
    parts = [unit for unit in units if unit.sentence == (sentence or 0)]
    if len(parts) > 1:
        tokens = sum(len(part.ids) for part in parts)
        raise TooLongError(
            f"the sentence has {tokens} tokens, but the model reads fewer than {model.max_length} at a time; "
            "give a shorter sentence"
        )
    if not parts[0].ids:
        raise InputError(
            f'there is nothing to explain: "{parts[0].prepared.source}" has no words and is copied as it is; '
            "give one sentence"
        )

    def translate(**changes: Any) -> SentenceTranslation:
        return whole(**changes).sentences[parts[0].sentence]

    return ExplainedSource(model, parts[0], search, translate, count)


def units_of(model: TextTranslator, text: str) -> list[Unit]:
    """Splits a text into sentences as `translate` does, long ones in parts; those that the phrase table has are read,
    too. Raises InputError for a text without any."""
    model, text = model.for_text(text)
    options = TranslateOptions(mend=model.config.mend, phrases=False)
    units = list(model.unit_maker(options).units([(0, text)]))
    if not units:
        raise InputError("there is nothing to explain: the text is empty; give one sentence")
    return units


# ── the pair, in words ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlacedWord:
    """A word with placeholders filled, and its span in the given text or in the translation."""

    text: str
    span: Span | None


@dataclass(frozen=True)
class SentencePair:
    """A sentence and its translation, in words and tokens."""

    source: ExplainedSource
    target: ExplainedTarget

    @property
    def bundle(self) -> Bundle:
        return self.source.bundle

    @property
    def source_ids(self) -> tuple[int, ...]:
        """The ids of the source, with the tag, without EOS."""
        return self.source.unit.ids

    @property
    def target_ids(self) -> tuple[int, ...]:
        return self.target.ids

    @cached_property
    def answer(self) -> str:
        """The model's output, with placeholders."""
        return self.bundle.tokenizer.decode(self.target.ids)

    @cached_property
    def source_words(self) -> tuple[PlacedWord, ...]:
        spans, slots = word_spans(self.source.model_text), self.source.slots.source
        texts = [fill(self.source.model_text[start:end], slots) for start, end in spans]
        return _placed(texts, self._source_places(spans))

    @cached_property
    def target_words(self) -> tuple[PlacedWord, ...]:
        texts = [fill(self.answer[start:end], self.source.slots.target) for start, end in self.target_spans]
        return _placed(texts, self._target_places(self.target_spans))

    @cached_property
    def source_pieces(self) -> tuple[PlacedWord, ...]:
        """The tokens of the text, without tag and EOS."""
        tokenizer = self.bundle.tokenizer
        spans = [(token.start, token.end) for token in tokenizer.plain.source_tokens(self.source.model_text)]
        labels = tokenizer.source.labels(self.source_ids, self.source.slots.source)
        return _placed(labels[len(labels) - len(spans) :], self._source_places(spans))

    @cached_property
    def target_pieces(self) -> tuple[PlacedWord, ...]:
        """The tokens of the target, without EOS."""
        tokenizer = self.bundle.tokenizer
        labels = tokenizer.target.labels(self.target_ids, self.source.slots.target)
        return _placed(labels, self._target_places(tokenizer.target_pieces(self.target_ids)))

    @cached_property
    def target_spans(self) -> list[Span]:
        """The spans of the target words in `answer`."""
        return word_spans(self.answer)

    @cached_property
    def target_shares(self) -> NDArray[np.float64]:
        """(tokens, words): the part of each target token that belongs to each word."""
        return subword_shares(self.bundle.tokenizer.target_pieces(self.target.ids), self.target_spans)

    def by_word(self, tokens: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums values of tokens (T,) or (T + 1,), EOS last, to values of words (W,): a token in two words is divided
        between them."""
        numbers = np.asarray(tokens, dtype=np.float64)[: len(self.target.ids)]
        summed: NDArray[np.float64] = numbers @ self.target_shares
        return summed

    @cached_property
    def trace(self) -> Trace:
        """All attention of the model, unchanged. Raises InputError for a model without attention."""
        from regard.explain.trace import trace_sentence

        source, target = self.source, self.target
        return trace_sentence(self.bundle, source.model_text, target.ids, slots=source.slots, how=target.how)

    @cached_property
    def own_search(self) -> tuple[Hypothesis, NDArray[np.float64]]:
        """What the unchanged model finds, and the log-probabilities (T,) of the pair's translation by it."""
        from regard.search.forced_decoding import forced_log_probs

        model = self.bundle.model
        return self.source.search_again(model), forced_log_probs(model, [self.source_ids], [self.target_ids])[0]

    def _source_places(self, spans: Sequence[Span]) -> list[Span | None]:
        def place(span: Span) -> Span:
            first, last = self.source.sentence.origin(span)
            return self.source.unit.span[0] + first, self.source.unit.span[0] + last

        return [place((start, end)) if end > start else None for start, end in spans]

    def _target_places(self, spans: Sequence[Span]) -> list[Span | None]:
        sentence, answer = self.source.sentence, self.answer
        kept = sentence.without_additions(answer) if self.source.search.mend else answer
        restored = sentence.restore(kept)
        if restored.text == self.target.translation:
            return [restored.span((start, end)) if start < end <= len(kept) else None for start, end in spans]
        given = sentence.as_model_output(self.target.translation)
        if given.text != answer:  # the tokenizer cannot reproduce it
            return [None] * len(spans)
        origins = given.origins
        return [(origins[start][0], origins[end - 1][1]) if end > start else None for start, end in spans]


def _placed(texts: Sequence[str], spans: Sequence[Span | None]) -> tuple[PlacedWord, ...]:
    return tuple(PlacedWord(text, span) for text, span in zip(texts, spans, strict=True))


def sentence_pair(
    model: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    nbest: int = 0,
) -> SentencePair:
    """Returns a sentence with the given target, or with the translation that `translate` returns. `sentence` is the
    index of a sentence of the text, `nbest` of an entry of the n-best list; both count from 0."""
    if target is not None and (beam is not None or nbest):
        raise InputError(
            "a translation that is given is not searched for; give a target or a beam, not both",
            parameter=("target", "beam"),
        )
    source = explained_source(model, text, sentence=sentence, beam=beam)
    return SentencePair(source, source.target(target, nbest))
