"""/api/lens, evidence and lattice: what the layers predict, what the source contributes, and the search."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from regard.batch import EOS
from regard.explain.evidence import Evidence, evidence_of
from regard.explain.grid import BOS as BOS_LABEL
from regard.explain.grid import EOS as EOS_LABEL
from regard.explain.lattice import as_dict, lattice_of
from regard.explain.lens import LensReading, lens
from regard.explain.rerun import resume_branch
from regard.explain.sentence_pair import Blank, SentencePair
from regard.report.json import rounded
from regard.serve.api.own.explain_sentence import json_numbers, pair_data, sentence_data, view_data
from regard.serve.errors import FieldError
from regard.serve.explain_service import ExplainedModel, SentenceQuery, find_sentence

LENS_CAPTION = (
    "each decoder layer's state read by the model's last norm and output matrix; layer 0 is the decoder's input, the "
    "last layer is the model itself. Earlier layers were not trained to be read so"
)


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
    loaded: ExplainedModel,
    query: SentenceQuery,
    model: str,
    limit: int,
    length_penalty: float | None = None,
    guard: bool = True,
    resume: int | None = None,
) -> dict[str, Any]:
    """The lattice of the search; with the node `resume`, also the best translation that continues from it."""
    one = find_sentence(loaded.translator, query, limit, length_penalty, guard)
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
        "view": view_data(pair.source.translator),
        "caption": EVIDENCE_CAPTION[blank],
    }


def _agreement(found: Evidence, other: Any) -> dict[str, Any]:
    words, every = found.agreement(other)
    return {"words": json_numbers(words), "all": json_numbers(every), "same_best": json_numbers(found.same_best(other))}
