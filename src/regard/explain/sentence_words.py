"""The words of every sentence of a translation: which correspond, and how probable each is.

The links are those that `translate` found by the engine's attention, so they cost nothing more. The probabilities are
those of `words.py`: all sentences are forced on the engine in one batch. A sentence that was translated in parts, by
several models or not at all has links, but no probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import Link
from regard.explain.sentence_pair import ExplainedSource, SentencePair
from regard.explain.word_confidence import word_confidences
from regard.text.words import Span, word_spans
from regard.translation.options import TranslateOptions
from regard.translation.translation import SentenceTranslation, Translation
from regard.translation.translator import TextTranslator
from regard.translation.units import Unit

Floats = NDArray[np.float64]
Places = tuple[Span | None, ...]  # in the text; None for a word that was inserted or removed after the search


@dataclass(frozen=True)
class SentenceWords:
    source: Places
    target: Places  # those of `WordByWord.words`, if there are probabilities
    links: tuple[Link, ...]
    log_probs: Floats | None = None  # of the words of the target
    confidences: Floats | None = None  # None for a model without a calibration for words


def sentence_words(
    translation: Translation, translator: TextTranslator | None = None, options: TranslateOptions | None = None
) -> list[SentenceWords]:
    """Returns the words of each sentence, with probabilities by `translator`, if it is given: the one that translated,
    with these options."""
    found = [_without_model(translation, sentence) for sentence in translation.sentences]
    pairs = {} if translator is None else _pairs(translation, translator, options or TranslateOptions())
    if translator is None or not pairs:
        return found
    scores = translator.engine().log_probs(
        [pair.source_ids for pair in pairs.values()], [pair.target_ids for pair in pairs.values()]
    )
    for (number, pair), log_probs in zip(pairs.items(), scores, strict=True):
        found[number] = _scored(pair, translation.sentences[number], log_probs)
    return found


def _without_model(translation: Translation, sentence: SentenceTranslation) -> SentenceWords:
    source = _moved(word_spans(sentence.source), sentence.source_span[0])
    target = _moved(word_spans(sentence.text), sentence.target_span[0])
    return SentenceWords(source, target, _links(sentence, source, target))


def _scored(pair: SentencePair, sentence: SentenceTranslation, log_probs: Floats) -> SentenceWords:
    source = tuple(word.span for word in pair.source_words)
    target = _moved([word.span for word in pair.target_words], sentence.target_span[0])
    of_words = pair.by_word(log_probs)
    calibration = pair.bundle.known_card.word_calibration
    texts = [pair.answer[start:end] for start, end in pair.target_spans]
    confidences = None if calibration is None else word_confidences(texts, of_words, calibration)
    return SentenceWords(source, target, _links(sentence, source, target), of_words, confidences)


def _pairs(translation: Translation, translator: TextTranslator, options: TranslateOptions) -> dict[int, SentencePair]:
    """The sentences that were translated as one unit, by their numbers, with their translations."""
    model, text = translator.for_text(translation.source)
    resolved = replace(options.resolved(model.config), phrases=False)
    units: dict[int, list[Unit]] = {}
    for unit in model.unit_maker(resolved, options.tag).units([(0, text)]):
        units.setdefault(unit.sentence, []).append(unit)
    found = {}
    for number, sentence in enumerate(translation.sentences):
        parts = units.get(number, [])
        if len(parts) != 1 or not parts[0].ids or parts[0].span != sentence.source_span:
            continue
        source = ExplainedSource(
            model, parts[0], model.config, lambda one=sentence, **_: one, len(translation.sentences)
        )
        pair = SentencePair(source, source.target(sentence.text))
        if max(len(pair.source_ids), len(pair.target_ids)) + 1 < model.max_length:
            found[number] = pair
    return found


def _moved(spans: Sequence[Span | None], by: int) -> Places:
    return tuple(None if span is None else (span[0] + by, span[1] + by) for span in spans)


def _links(sentence: SentenceTranslation, source: Places, target: Places) -> tuple[Link, ...]:
    found = {
        (i, j)
        for from_span, to_span in sentence.alignment or ()
        for i in _overlapping(source, from_span)
        for j in _overlapping(target, to_span)
    }
    return tuple(sorted(found))


def _overlapping(words: Places, span: Span) -> list[int]:
    return [i for i, word in enumerate(words) if word is not None and word[0] < span[1] and span[0] < word[1]]
