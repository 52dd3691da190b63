"""/api/words, alternatives and choice: a translation word by word, by the engine that translates.

Only the shares of source and preceding words need torch, which is imported for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.explain.sentence_pair import SentencePair
from regard.explain.word_confidence import word_confidences
from regard.explain.words import TranslatedWord, word_by_word, word_choice
from regard.serve.api.own.explain_sentence import json_numbers, pair_data, sentence_data, view_data
from regard.serve.errors import FieldError
from regard.serve.explain_service import ExplainedModel, SentenceQuery, find_wordings

MAX_LETTERS = 100  # maximum length of a word of a minimal pair
SHARE_CAPTION = (
    "the change of log p when the source, or the words before, are blanked, divided fairly between the two "
    "(Shapley); one model, one sentence"
)
PROBABILITY_CAPTION = "how probable the model finds the word here, given the source and the words before it"
NO_WORD_CONFIDENCE = "probability as the model gives it; no confidence of words was calibrated for this model"


def words_answer(pair: SentencePair, model: str, share: bool = False) -> dict[str, Any]:
    found = word_by_word(pair)
    log_probs = [word.log_prob for word in found.words]
    calibration = pair.bundle.known_card.word_calibration
    texts = [pair.answer[start:end] for start, end in pair.target_spans]
    confidences = [None] * len(texts)
    if calibration is not None:
        confidences = json_numbers(word_confidences(texts, log_probs, calibration))
    begin = pair_data(pair, model)
    rows = zip(begin["target_words"], found.words, confidences, strict=True)
    words = [word | _word_data(entry) | {"confidence": confidence} for word, entry, confidence in rows]
    if share:
        words = [word | shares for word, shares in zip(words, _shares(pair), strict=True)]
    return {
        **begin,
        "log_prob": json_numbers(found.token_log_probs.sum()),
        "end_probability": json_numbers(np.exp(found.token_log_probs[-1])),
        "words": words,
        "coverage": None if found.coverage is None else json_numbers(found.coverage),
        "uncovered": list(found.uncovered),
        "loop": None if found.loop is None else {"text": found.loop.text, "times": found.loop.times},
        "view": view_data(pair.source.translator),
        "confidence": None if pair.target.confidence is None else json_numbers(pair.target.confidence),
        "reasons": [one._asdict() for one in pair.target.reasons],
        "word_calibration": calibration
        and {"on": calibration.on, "errors": calibration.errors, "right_if": calibration.right_if},
        "confidence_caption": _confidence_caption(pair),
        "share_caption": SHARE_CAPTION if share else None,
    }


def _shares(pair: SentencePair) -> list[dict[str, Any]]:
    """The contributions of the source and of the preceding words to each word."""
    from regard.explain.share import shares_of  # imports torch

    if not pair.target_spans:
        return []
    tags = len(pair.bundle.tokenizer.mark_ids)
    found = shares_of(pair.bundle.model, pair.source_ids, pair.target_ids, pair.target_shares, tags)
    return [{"from_source": json_numbers(one), "from_before": json_numbers(1 - one)} for one in found.from_source]


def _word_data(word: TranslatedWord) -> dict[str, Any]:
    return {
        "probability": json_numbers(np.exp(word.log_prob)),
        "log_prob": json_numbers(word.log_prob),
        "tokens": [{"text": text, "probability": json_numbers(p)} for text, p in word.tokens],
        "links": list(word.links),
    }


def _confidence_caption(pair: SentencePair) -> str:
    calibration = pair.bundle.known_card.word_calibration
    if calibration is None:
        return NO_WORD_CONFIDENCE
    errors = ", ".join(f"{error:.3f} on {name}" for name, error in calibration.errors.items())
    return (
        f"the share of words like this one that {calibration.right_if}; "
        f"fitted on {calibration.on}; calibration error {errors or 'not measured'}"
    )


# ── other words ───────────────────────────────────────────────────────────────────────────────────────────────────────


def alternatives_answer(
    loaded: ExplainedModel, query: SentenceQuery, model: str, limit: int, position: int = 0, count: int = 6
) -> dict[str, Any]:
    """The word at a position of a translation, and the words that the model would put there instead."""
    sentence, found = loaded.find_alternatives(query, limit, position, count)
    rows = [{"word": one.word, "probability": json_numbers(one.probability), "text": one.text} for one in found.others]
    return {
        **sentence_data(sentence, model),
        "position": position,
        "word": found.word,
        "probability": json_numbers(found.probability),
        "alternatives": rows,
        "reason": found.reason or None,
        "caption": PROBABILITY_CAPTION,
    }


def wordings_answer(
    loaded: ExplainedModel, query: SentenceQuery, model: str, limit: int, count: int = 4
) -> dict[str, Any]:
    """Other translations of a sentence, best first."""
    sentence, found = find_wordings(loaded.translator, query, limit, count)
    rows = [{"text": one.text, "log_prob": json_numbers(one.log_prob)} for one in found]
    return {**sentence_data(sentence, model), "wordings": rows}


def choice_answer(pair: SentencePair, model: str, words: Sequence[str]) -> dict[str, Any]:
    """The probabilities of several words at the position of one of them, for minimal pairs."""
    if any(len(word) > MAX_LETTERS for word in words):
        raise FieldError("words", f"a word has more than {MAX_LETTERS} letters", status=413)
    found = word_choice(pair, words)
    rows = zip(found.words, found.probabilities, found.shares, strict=True)
    return {
        **pair_data(pair, model),
        "position": found.position,
        "prefix": found.prefix,
        "choices": [{"word": w, "probability": json_numbers(p, 9), "share": json_numbers(s)} for w, p, s in rows],
    }
