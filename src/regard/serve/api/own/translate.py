"""/api/models, /api/translate and /api/translate/stream: translations with sentences, candidates and confidence."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from starlette.responses import StreamingResponse

from regard.bulk.rows import json_row, sentence_row
from regard.device import has_torch
from regard.errors import InputError
from regard.explain.neighbours import pairs_file
from regard.explain.sentence_words import SentenceWords
from regard.serve.api.api_common import OPTIONS, OWN, THROUGH, WHICH_MODEL
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.own.explain_sentence import card_view, json_numbers
from regard.serve.documents import UPLOADED
from regard.serve.errors import FieldError, ServeError
from regard.serve.http.fields import Field
from regard.serve.pool import ServedModel
from regard.serve.translation_service import (
    ServedTranslation,
    TranslationRequest,
    TranslationService,
    run_in_thread_if_long,
)
from regard.text.glossary import Glossary
from regard.text.language import language_name
from regard.translation.job import TranslationJob
from regard.translation.options import TranslateOptions
from regard.translation.translation import SentenceTranslation
from regard.version import __version__

log = logging.getLogger("regard.serve")

OFFERED = (
    "beam", "nbest", "split", "protect", "guard", "thorough", "marks", "localize", "formality", "in_context",
    "glossary", "prefix",
)  # fmt: skip
TRANSLATE = (
    *WHICH_MODEL,
    THROUGH,
    Field("text", "text", "a text", None, nullable=True, example="The cat is on the mat."),
    Field("texts", "strings", "several texts", None, nullable=True),
    *(OPTIONS[name] for name in OFFERED),
    Field("words", "flag", "whether to add the words of each sentence, with links and probabilities", False),
)


async def options_of(call: Call) -> TranslateOptions:
    terms = call["glossary"]
    glossary = await call.services.parse_glossary(read_terms, terms) if terms.strip() else None
    return TranslateOptions(**{name: call[name] for name in OFFERED} | {"glossary": glossary})


def read_terms(lines: str) -> Glossary:
    """Parse a glossary in the form of the command line."""
    try:
        return Glossary.parse(lines.splitlines(), "glossary")
    except InputError as problem:
        raise FieldError("glossary", str(problem)) from None


def row(one: ServedTranslation, service: TranslationService) -> dict[str, Any]:
    return {
        **json_row(one.translation),
        "models": list(one.models),
        "source_language": one.source,
        "target_language": one.target,
        "detected": one.detected,
        "sure": one.sure,
        "text_language": None if one.detected else service.other_language(one.translation.source, one.source),
    }


async def request_of(call: Call, texts: list[str]) -> TranslationRequest:
    languages = call["target"], call["source"]
    return TranslationRequest(texts, *languages, call["model"], call["through"], await options_of(call))


async def translate(call: Call) -> dict[str, Any]:
    if (call["text"] is None) == (call["texts"] is None):
        raise FieldError("text", "give either text or texts", missing=call["text"] is None)
    texts = [call["text"]] if call["texts"] is None else call["texts"]
    request = await request_of(call, texts)
    found = await call.services.translation.translate(request)
    return {"translations": [await complete_row(call, one, request.options) for one in found]}


async def complete_row(call: Call, one: ServedTranslation, options: TranslateOptions) -> dict[str, Any]:
    service, translation = call.services.translation, one.translation
    found = await run_in_thread_if_long(len(translation.source), row, one, service)
    if call["words"]:
        for sentence, words in zip(found["sentences"], await service.words(one, options), strict=True):
            sentence["words"] = words_row(words)
    return found


def words_row(words: SentenceWords) -> dict[str, Any]:
    """The words of both sides as spans, the links between them, and what is known of each word of the target."""
    return {
        "source": words.source,
        "target": words.target,
        "links": words.links,
        "probabilities": None if words.log_probs is None else json_numbers(np.exp(words.log_probs), 4),
        "confidences": None if words.confidences is None else json_numbers(words.confidences, 4),
    }


# ── sentence by sentence ─────────────────────────────────────────────────────────────────────────────────────────────


async def stream(call: Call) -> StreamingResponse:
    if call["text"] is None:
        raise FieldError("text", "text is missing", missing=True)
    request = await request_of(call, [call["text"]])
    call.services.translation.check_size(request.texts)
    return StreamingResponse(
        events(call, request), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def events(call: Call, request: TranslationRequest) -> AsyncIterator[str]:
    """Server-sent events: `sentence` for each sentence once it is final, so not always in their order, then `done` with
    the translation, or `error`."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    jobs: list[TranslationJob] = []

    def added(job: TranslationJob) -> None:
        jobs[:] = jobs or [job]  # further jobs translate some sentences again
        loop.call_soon_threadsafe(changed.set)

    work = asyncio.create_task(call.services.translation.translate(replace(request, added=added)))
    work.add_done_callback(lambda _: changed.set())
    sent: set[int] = set()

    def unsent(sentences: Mapping[int, SentenceTranslation]) -> list[str]:
        new = {number: one for number, one in sentences.items() if number not in sent}
        sent.update(new)
        return [event("sentence", {"index": number, **sentence_row(one)}) for number, one in new.items()]

    try:
        while not work.done():
            await changed.wait()
            changed.clear()
            for one in unsent(jobs[0].final_sentences(0)) if jobs else ():
                yield one
        (done,) = work.result()
        for one in unsent(dict(enumerate(done.translation.sentences))):
            yield one
        yield event("done", await complete_row(call, done, request.options))
    except ServeError as problem:
        yield event("error", OWN.error_body(problem))
    except Exception:
        log.exception("fault in a stream")
        yield event("error", OWN.error_body(ServeError(500, "internal server error")))
    finally:
        work.cancel()


def event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False, allow_nan=False)}\n\n"


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def layers_of(table: Mapping[str, Any]) -> dict[str, int] | None:
    """The numbers of encoder and decoder layers; None if an architecture does not have both."""
    found = {side: table.get(f"{side}_layers") for side in ("encoder", "decoder")}
    return {side: int(count) for side, count in found.items() if count is not None} if all(found.values()) else None


def model_row(model: ServedModel, cards: bool) -> dict[str, Any]:
    source, target = model.bundle.languages
    card = model.card
    row = {
        "name": model.name,
        "source": source,
        "target": target,
        "source_name": language_name(source) if source else None,
        "target_name": language_name(target) if target else None,
        "architecture": model.bundle.architecture,
        "parameters": card.get("parameters"),
        "layers": layers_of(model.bundle.table),
        "heads": model.bundle.table.get("heads"),
        "formality": model.formality,
        "neighbours": pairs_file(model.folder) is not None,
        "loaded": model.loaded is not None,
        "view": card_view(model.bundle),
    }
    return row | ({"card": {name: card[name] for name in ("about", "tests") if name in card}} if cards else {})


async def models(call: Call) -> dict[str, Any]:
    pool, config = call.services.pool, call.services.config
    return {
        "models": [model_row(model, call["cards"]) for model in pool.models.values()],
        "default": pool.default,
        "pairs": [{"source": one.source, "target": one.target, "models": list(names)} for one, names in pool.pairs()],
        "through": pool.pivot,
        "documents": {
            "suffixes": [format.suffixes[0] for format in UPLOADED.values()],
            "characters": config.document_characters,
            "bytes": config.body,
            "kept_minutes": config.kept_minutes,
        },
        "languages": {code: language_name(code) for code in pool.languages},
        "version": __version__,
        "explains": has_torch(),  # without it, /api/attention and its like answer 501
        "corrections": call.services.config.state is not None,  # without it, suggestions are lost at the end
    }


MODELS = (Field("cards", "flag", "whether to add the cards: data, licences and scores", True),)
ENDPOINTS = (
    Endpoint("GET", "/api/models", OWN, "The models, their languages and cards", models, MODELS, public=True),
    Endpoint("POST", "/api/translate", OWN, "Translate with all that is known of it", translate, TRANSLATE),
    Endpoint(
        "POST", "/api/translate/stream", OWN, "Translate a text; sentences come as they are done", stream, TRANSLATE,
        media_type="text/event-stream",
    ),
)  # fmt: skip
