"""/api/words, alternatives, choice, lens, evidence and lattice: a translation word by word, and its search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from regard.batch import EOS
from regard.explain.evidence import Evidence, evidence_of
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.lattice import as_dict, lattice_of
from regard.explain.lens import LensReading, lens
from regard.explain.rerun import resume_branch
from regard.explain.sentence_pair import Blank, SentencePair
from regard.explain.share import Shares, shares_of
from regard.explain.word_confidence import word_confidences
from regard.explain.words import TranslatedWord, WordAlternative, word_by_word, word_choice
from regard.report.json import rounded
from regard.serve.api.own.explain_sentence import json_numbers, pair_data, sentence_data, view_data
from regard.serve.errors import FieldError
from regard.serve.explain_service import SentenceQuery, find_sentence
from regard.translator import Translator

MAX_LETTERS = 100  # maximum length of a word of a minimal pair
SHARE_CAPTION = (
    "the change of log p when the source, or the words before, are blanked, divided fairly between the two "
    "(Shapley); one model, one sentence"
)
NO_WORD_CONFIDENCE = "probability as the model gives it; no confidence of words was calibrated for this model"
LENS_CAPTION = (
    "each decoder layer's state read by the model's last norm and output matrix; layer 0 is the decoder's input, the "
    "last layer is the model itself. Earlier layers were not trained to be read so"
)


def words_answer(pair: SentencePair, model: str, alternatives: int = 5, share: bool = True) -> dict[str, Any]:
    bundle = pair.bundle
    found = word_by_word(pair, alternatives)
    shares = _shares(pair) if share else None
    log_probs = [word.log_prob for word in found.words]
    calibration = bundle.known_card.word_calibration
    texts = [pair.answer[start:end] for start, end in pair.target_spans]
    confidences = None if calibration is None else word_confidences(texts, log_probs, calibration)
    rows = []
    for number, (word, entry) in enumerate(zip(pair_data(pair, model)["target_words"], found.words, strict=True)):
        rows.append(
            word
            | _word_data(entry)
            | {"confidence": None if confidences is None else json_numbers(confidences[number])}
            | _share_data(shares, number)
        )
    return {
        **pair_data(pair, model),
        "log_prob": json_numbers(found.token_log_probs.sum()),
        "end_probability": json_numbers(np.exp(found.token_log_probs[-1])),
        "words": rows,
        "coverage": None if found.coverage is None else json_numbers(found.coverage),
        "uncovered": list(found.uncovered),
        "loop": None if found.loop is None else {"text": found.loop.text, "times": found.loop.times},
        "view": view_data(bundle),
        "confidence": None if pair.target.confidence is None else json_numbers(pair.target.confidence),
        "reasons": [one._asdict() for one in pair.target.reasons],
        "word_calibration": calibration
        and {"on": calibration.on, "errors": calibration.errors, "right_if": calibration.right_if},
        "confidence_caption": _confidence_caption(pair),
        "share_caption": SHARE_CAPTION if share else None,
    }


def _shares(pair: SentencePair) -> Shares | None:
    if not pair.target_spans:
        return None
    tags = len(pair.bundle.tokenizer.mark_ids)
    return shares_of(pair.bundle.model, pair.source_ids, pair.target_ids, pair.target_shares, tags)


def _share_data(shares: Shares | None, number: int) -> dict[str, Any]:
    share = float("nan") if shares is None else float(shares.from_source[number])
    return {"from_source": json_numbers(share), "from_before": json_numbers(1 - share)}


def _word_data(word: TranslatedWord) -> dict[str, Any]:
    return {
        "probability": json_numbers(np.exp(word.log_prob)),
        "log_prob": json_numbers(word.log_prob),
        "tokens": [{"text": text, "probability": json_numbers(p)} for text, p in word.tokens],
        "alternatives": [_alternative_data(one) for one in word.alternatives],
        "links": list(word.links),
    }


def _alternative_data(one: WordAlternative) -> dict[str, Any]:
    return {
        "text": one.text,
        "token": one.token,
        "probability": json_numbers(one.probability),
        "chosen": one.chosen,
        "ends": not one.text,
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
    translator: Translator,
    query: SentenceQuery,
    model: str,
    limit: int,
    prefix: str = "",
    position: int | None = None,
    count: int = 5,
) -> dict[str, Any]:
    """The most probable words after `prefix`, or at a position of the model's own translation."""
    sentence = find_sentence(translator, query, limit)
    found = translator.alternatives(sentence.text, prefix, position=position, count=count)
    rows = [
        {"text": one.text, "word": one.word, "token": one.token, "probability": json_numbers(one.probability)}
        for one in found
    ]
    return {**sentence_data(sentence, model), "prefix": prefix, "alternatives": rows}


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


# ── layer by layer ────────────────────────────────────────────────────────────────────────────────────────────────────


def lens_answer(pair: SentencePair, model: str, count: int = 5) -> dict[str, Any]:
    found = lens(pair.bundle.model, pair.source_ids, pair.target_ids, count)
    pieces = [piece.text for piece in pair.target_pieces]
    of_word: list[int | None] = [int(word) for word in pair.target_shares.argmax(axis=1)] if pair.target_spans else []
    positions = zip([BOS_LABEL, *pieces], [*pieces, EOS_LABEL], [*of_word, None], strict=True)
    return {
        **pair_data(pair, model),
        "positions": [{"read": read, "said": said, "word": word} for read, said, word in positions],
        "layers": [
            {"layer": number, "positions": [_reading_data(pair, one) for one in readings]}
            for number, readings in enumerate(found.layers)
        ],
        "caption": LENS_CAPTION,
    }


def _reading_data(pair: SentencePair, one: LensReading) -> dict[str, Any]:
    labels = pair.bundle.tokenizer.target.labels(one.tokens, pair.source.slots.target)
    labels = [EOS_LABEL if token == EOS else label for token, label in zip(one.tokens, labels, strict=True)]
    best = zip(labels, one.probabilities, strict=True)
    return {
        "top": [{"token": token, "probability": json_numbers(p)} for token, p in best],
        "probability": json_numbers(one.probability),
        "rank": one.rank,
    }


# ── the search, and its evidence ──────────────────────────────────────────────────────────────────────────────────────

MAX_EVIDENCE = 15_000  # maximum of source words times tokens, which determines the amount of computation
EVIDENCE_CAPTION = {
    "mean": "Δ log p when the embeddings of a source word are replaced by the mean embedding; positions stay",
    "removed": "Δ log p when a source word is taken out; the words after it move",
}


def lattice_answer(
    translator: Translator,
    query: SentenceQuery,
    model: str,
    limit: int,
    length_penalty: float | None = None,
    guard: bool = True,
    resume: int | None = None,
) -> dict[str, Any]:
    """The lattice of the search; with the node `resume`, also the best translation that continues from it."""
    one = find_sentence(translator, query, limit, length_penalty, guard)
    found = lattice_of(one)
    resumed = None
    if resume is not None:
        first = found.nbest[0].score if found.nbest else None
        resumed = rounded(asdict(resume_branch(one, found, resume))) | {"first_score": json_numbers(first)}
    shown = {"translation": one.shown.text}
    return {**sentence_data(one, model), **shown, **rounded(as_dict(found)), "resumed": resumed}


def evidence_answer(pair: SentencePair, model: str, blank: Blank = "mean", gradients: bool = False) -> dict[str, Any]:
    if len(pair.source_words) * (len(pair.source_ids) + len(pair.target_ids)) > MAX_EVIDENCE:
        message = "the sentence is too long to blank its words one by one; at most about 80 words can be"
        raise FieldError("text", message, status=413)
    found = evidence_of(pair, blank, gradients)
    return {
        **pair_data(pair, model),
        "blank": blank,
        "log_probs": json_numbers(found.log_probs),
        "drops": json_numbers(found.drops),
        "end_drops": json_numbers(found.end_drops),
        "total": json_numbers(found.total),
        "gradients": json_numbers(found.gradients) if gradients else None,
        "attention": None if found.attention is None else json_numbers(found.attention),
        "agreement": {
            "attention": None if found.attention is None else _agreement(found, found.attention),
            "gradients": _agreement(found, found.gradients) if gradients else None,
        },
        "view": view_data(pair.bundle),
        "caption": EVIDENCE_CAPTION[blank],
    }


def _agreement(found: Evidence, other: Any) -> dict[str, Any]:
    words, every = found.agreement(other)
    return {"words": json_numbers(words), "all": json_numbers(every), "same_best": json_numbers(found.same_best(other))}
