"""/api/lattice and /api/evidence as data: the search, and what it relied on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from regard.explain.evidence import Evidence, evidence_of
from regard.explain.lattice import as_dict, lattice_of
from regard.explain.rerun import resume_branch
from regard.explain.sentence_pair import Blank, SentencePair
from regard.report.json import rounded
from regard.serve.api.own.explain_sentence import json_numbers, pair_data, sentence_data, view_data
from regard.serve.errors import FieldError
from regard.serve.explain_service import SentenceQuery, find_sentence
from regard.translator import Translator

MOST_EVIDENCE = 15_000  # source words times tokens: what is computed grows with it
CAPTION = {
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
    """The lattice of the search; with the node `resume`, also the best translation that continues from there."""
    one = find_sentence(translator, query, limit, length_penalty, guard)
    found = lattice_of(one)
    resumed = None
    if resume is not None:
        first = found.nbest[0].score if found.nbest else None
        resumed = rounded(asdict(resume_branch(one, found, resume))) | {"first_score": json_numbers(first)}
    return {
        **sentence_data(one, model),
        **rounded(as_dict(found)),
        "resumed": resumed,
    }


def evidence_answer(pair: SentencePair, model: str, blank: Blank = "mean", gradients: bool = False) -> dict[str, Any]:
    if len(pair.source_words) * (len(pair.source_ids) + len(pair.target_ids)) > MOST_EVIDENCE:
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
        "caption": CAPTION[blank],
    }


def _agreement(found: Evidence, other: Any) -> dict[str, Any]:
    words, every = found.agreement(other)
    return {"words": json_numbers(words), "all": json_numbers(every), "same_best": json_numbers(found.same_best(other))}
