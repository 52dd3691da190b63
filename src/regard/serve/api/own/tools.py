"""Endpoints that do not explain a translation: language detection, tokens, scores, steps of BLEU, positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.to_thread
import numpy as np

from regard.metrics.bleu import SMOOTHING, Bleu
from regard.metrics.bleu_steps import BleuSteps, explain_bleu
from regard.report.json import rounded
from regard.serve.api.api_common import OWN, WHICH_MODEL
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.own.explain import MAX_CHARACTERS, model_of
from regard.serve.api.own.explain_sentence import json_numbers
from regard.serve.errors import FieldError
from regard.serve.explain_service import ExplainedModel, check_length, check_torch
from regard.serve.http.fields import Field
from regard.text.language import LANGUAGE_NAMES, language_name
from regard.text.language_identification import language_probabilities
from regard.text.words import subword_shares, word_spans
from regard.translator import Translator

if TYPE_CHECKING:  # imports torch
    from regard.search.likelihood import Likelihood

MOST_LANGUAGES = 5
MOST_WIDTH, MOST_LENGTH = 256, 128
MOST_REFERENCES, MOST_IN_BLEU = 10, 2000  # characters of one sentence
TOKENIZERS = ("13a", "intl", "zh", "char", "none")  # tokenizers that need no further files

# ── languages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def detected(text: str) -> list[dict[str, Any]]:
    """The possible languages of a text, most probable first, with their probabilities among all known languages."""
    shares = list(language_probabilities(text, LANGUAGE_NAMES).items())
    return [
        {"language": code, "name": language_name(code), "confidence": json_numbers(share)}
        for code, share in shares[:MOST_LANGUAGES]
    ]


async def detect(call: Call) -> dict[str, Any]:
    return {"languages": await anyio.to_thread.run_sync(detected, call["text"])}


# ── tokens and scores ─────────────────────────────────────────────────────────────────────────────────────────────────


async def tokens(call: Call) -> Any:
    model, text, side = await model_of(call), call["text"], call["side"]
    tokenizer = call.services.pool.find(model).bundle.tokenizer
    if side == "source":
        found, (ids,) = tokenizer.plain.source_tokens(text), tokenizer.plain.encode_source([text])
    else:
        found, (ids,) = tokenizer.target_tokens(text), tokenizer.encode_target([text])
    rows = zip(found, ids, strict=True)
    pieces = [{"text": piece.text, "id": number, "span": [piece.start, piece.end]} for piece, number in rows]
    return {"model": model, "side": side, "pieces": pieces, "count": len(pieces)}


async def score(call: Call) -> Any:
    model = await model_of(call)
    text, translation, limit = call["text"], call["translation"], call.services.config.explained

    def work(loaded: ExplainedModel) -> dict[str, Any]:
        translator = loaded.translator
        pair = translator.forced_pair(text, translation)
        check_length(len(pair.source_ids), limit, "text")
        check_length(len(pair.target_ids), limit, "translation")
        found = translator.score(text, translation)
        return {"model": model, **score_data(translator, found)}

    return await call.services.explain.run(model, work)


def score_data(translator: Translator, found: Likelihood) -> dict[str, Any]:
    pair = translator.forced_pair(found.source, found.target)
    spans = word_spans(pair.answer)
    pieces = [(piece.start, piece.end) for piece in translator.tokenizer.target_tokens(pair.answer)]
    shares = subword_shares(pieces, spans)
    of_words = np.array(found.token_log_probs[: len(pieces)]) @ shares
    words = []
    for (start, end), log_prob in zip(spans, of_words, strict=True):
        first, last = pair.target_origins[start][0], pair.target_origins[end - 1][1]
        words.append(
            {"text": found.target[first:last], "span": [first, last], "log_prob": json_numbers(log_prob),
             "probability": json_numbers(np.exp(log_prob))}
        )  # fmt: skip
    rows = zip(found.tokens, found.token_log_probs, strict=True)
    return {
        "tokens": [{"text": t, "log_prob": json_numbers(p), "probability": json_numbers(np.exp(p))} for t, p in rows],
        "log_prob": json_numbers(found.log_prob),
        "perplexity": json_numbers(found.perplexity),
        "score": json_numbers(found.score(translator.config.length_penalty)),
        "words": words,
    }


# ── BLEU ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def bleu(call: Call) -> Any:
    references = call["references"]
    if not 1 <= len(references) <= MOST_REFERENCES:
        raise FieldError("references", f"references must be one to {MOST_REFERENCES} texts, but are {len(references)}")
    if any(len(one) > MOST_IN_BLEU for one in references):
        raise FieldError("references", f"a reference has more than {MOST_IN_BLEU:,} characters", status=413)
    options = {name: call[name] for name in ("tokenize", "smooth", "lowercase", "max_order", "effective_order")}

    def work() -> dict[str, Any]:
        return bleu_data(explain_bleu(Bleu(**options), [call["hypothesis"]], [[one] for one in references], line=1))

    return await anyio.to_thread.run_sync(work)


def bleu_data(found: BleuSteps) -> dict[str, Any]:
    score, bp = found.score, found.score.bp
    data: dict[str, Any] = rounded(
        {
            "score": score.score,
            "signature": score.signature,
            "precisions": score.precisions,
            "brevity_penalty": bp,
            "hypothesis_length": score.hyp_len,
            "reference_length": score.ref_len,
            "mean": found.mean,
            "equation": f"{bp:.4f} · {found.mean:.2f} = {score.score:.2f}",
            "orders": [
                {
                    "n": order.n,
                    "correct": order.correct,
                    "total": order.total,
                    "precision": order.precision,
                    "left_out": order.left_out,
                    "ngrams": [
                        {"ngram": row.ngram, "count": row.count, "most": row.most, "credit": row.clipped}
                        for table in order.tables
                        for row in table.rows
                    ],
                }
                for order in found.orders
            ],
            "texts": [
                {"name": text.name, "tokens": text.tokens, "longest": text.longest} for text in found.shown[0].texts
            ],
            "reasons": found.reasons,
        }
    )
    return data


# ── positions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def position_encodings(call: Call) -> Any:
    check_torch()
    from regard.course.positions.requirements import as_dict, positions  # imports torch

    width, length = call["width"], call["length"]
    head = min(32, width)
    return await anyio.to_thread.run_sync(lambda: rounded(as_dict(positions(width, length, head)), 4))


TEXT = Field("text", "text", "a text", most=MAX_CHARACTERS, example="The cat sleeps.")
ENDPOINTS = (
    Endpoint("POST", "/api/detect", OWN, "The language of a text", detect, (TEXT,)),
    Endpoint(
        "POST", "/api/tokens", OWN, "A text as the pieces that a model reads", tokens,
        (*WHICH_MODEL, TEXT, Field("side", "choice", "whose pieces", "source", choices=("source", "target"))),
    ),
    Endpoint(
        "POST", "/api/score", OWN, "How probable a model finds a translation, token by token", score,
        (
            *WHICH_MODEL, TEXT,
            Field("translation", "text", "its translation", most=MAX_CHARACTERS, example="Le chat dort."),
        ),
    ),
    Endpoint(
        "POST", "/api/bleu", OWN, "BLEU of one sentence, with its working", bleu,
        (
            Field("hypothesis", "text", "a translation", most=MOST_IN_BLEU, example="Le chat dort."),
            Field(
                "references", "strings", "what it is compared with", least=1, most=MOST_REFERENCES,
                example=["Le chat dort."],
            ),
            Field("tokenize", "choice", "how texts are cut into tokens", "13a", choices=TOKENIZERS),
            Field("smooth", "choice", "what a precision of zero counts as", "exp", choices=tuple(SMOOTHING)),
            Field("lowercase", "flag", "whether capitals do not matter", False),
            Field("max_order", "integer", "the longest n-grams", 4, least=1, most=8),
            Field("effective_order", "flag", "leave out orders longer than the hypothesis", False),
        ),
    ),
    Endpoint(
        "POST", "/api/positions", OWN, "Position encodings and their dot products", position_encodings,
        (
            Field("width", "integer", "numbers of a vector", 64, least=2, most=MOST_WIDTH, example=64),
            Field("length", "integer", "positions", 64, least=4, most=MOST_LENGTH),
        ),
    ),
)  # fmt: skip
