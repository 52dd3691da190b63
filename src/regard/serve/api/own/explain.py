"""The endpoints that explain a translation: words, alternatives, attention, cut and edited heads, the lattice and more.

Each is a list of fields and a function of `explain_*.py`, which runs in a thread of explanations. Most of those modules
import torch, so they are imported on first use: a server that only translates, and shows its translations word by word,
does not need it. docs/http-api.md describes the responses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import Any, get_args

import anyio.to_thread

from regard.explain.grid import KINDS
from regard.explain.neighbours import MEASURE, PAIRS_FILE
from regard.explain.sentence_pair import ABLATIONS, BLANKS
from regard.serve.api.api_common import MODEL, OPTIONS, OWN, WHICH_MODEL
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.own.explain_sentence import MAX_HEADS, MAX_ROWS, READINGS, Units, json_numbers
from regard.serve.errors import ServeError
from regard.serve.explain_service import ExplainedModel, SentenceQuery
from regard.serve.http.fields import Field
from regard.serve.translation_service import TranslationRequest

MAX_CHARACTERS = 20_000  # maximum length of a text of which one sentence is explained
TEXT = Field(
    "text", "text", "the text of which one sentence is explained", least=1, most=MAX_CHARACTERS,
    example="The cat sleeps.",
)  # fmt: skip
SENTENCE = Field("sentence", "integer", "which one, from 0, where there are several", None, least=0, nullable=True)
TRANSLATION = Field(
    "translation", "text", "a translation to explain; none: the model's own", None, most=MAX_CHARACTERS, nullable=True
)
HYPOTHESIS = Field("hypothesis", "integer", "place in the n-best list, from 0", 0, least=0, most=15)
PAIR = (*WHICH_MODEL, TEXT, SENTENCE, TRANSLATION, OPTIONS["beam"], HYPOTHESIS)
OF_QUERY = ("translation", "beam", "formality", "glossary")  # fields that are entries of a SentenceQuery
UNITS = Field("units", "choice", "words, or pieces as the model reads them", "words", choices=get_args(Units))
READING = Field(
    "reading", "choice", "what a row means: the word that is predicted, or the one that was just read; none: as the "
    "model's card says", None, choices=tuple(READINGS), nullable=True,
)  # fmt: skip
KIND = Field("kind", "choice", "which attention", "cross", choices=tuple(KINDS))
COUNT = Field("count", "integer", "how many", 5, least=1, most=20)
LAYER = Field("layer", "integer", "a layer, from 1", None, least=1, most=1000, nullable=True)
NUMBER = {"type": "integer", "minimum": 1, "maximum": 1000}
HEAD = {"type": "array", "prefixItems": [{"enum": list(KINDS)}, NUMBER, NUMBER], "minItems": 3, "maxItems": 3}
WEIGHT = {"type": "number", "minimum": 0, "exclusiveMaximum": 1e9}
ROW = {
    "type": "object",
    "properties": {
        "position": {"type": "integer", "minimum": 0},
        "weights": {"type": "array", "items": WEIGHT},
        "hidden": WEIGHT,
    },
    "required": ["position", "weights"],
}


async def model_of(call: Call) -> str:
    """The name of the model of a request, chosen by name or by languages; by default the server's default model."""
    if call["model"] is None and call["target"] is None:
        return call.services.pool.default
    request = TranslationRequest([call["text"]], call["target"], call["source"], call["model"])
    (choice,) = await anyio.to_thread.run_sync(call.services.translation.choices, request)
    models = choice.models
    if len(models) != 1:
        found = " and ".join(models) or "none"
        raise ServeError(400, f"what is looked into is one model, but this text needs {found}; name one", field="model")
    return models[0]


def load_function(name: str) -> Callable[..., dict[str, Any]]:
    """Import a function from a module of this folder, such as "explain_words.words_answer"."""
    module, function = name.split(".")
    found: Callable[..., dict[str, Any]] = getattr(import_module(f"regard.serve.api.own.{module}"), function)
    return found


def needs_torch(call: Call) -> bool:
    return True


def needs_no_torch(call: Call) -> bool:
    return False


def pair_endpoint(
    path: str, summary: str, function: str, *fields: Field, torch: Callable[[Call], bool] = needs_torch
) -> Endpoint:
    """An endpoint about a sentence and its translation. `function` is called with the pair, the model's name, and the
    values of `fields` as keyword arguments; `torch` tells whether it needs more than the engine."""

    async def handler(call: Call) -> Any:
        model, limit = await model_of(call), call.services.config.explained
        query = SentenceQuery(call["text"], call["translation"], call["sentence"], call["beam"], call["hypothesis"])

        def work(loaded: ExplainedModel) -> dict[str, Any]:
            options = {field.name: call[field.name] for field in fields}
            return load_function(function)(loaded.find_pair(query, limit), model, **options)

        explain = call.services.explain
        return await (explain.run if torch(call) else explain.run_by_engine)(model, work)

    return Endpoint("POST", path, OWN, summary, handler, (*PAIR, *fields))


def sentence_endpoint(
    path: str, summary: str, function: str, *fields: Field, torch: Callable[[Call], bool] = needs_torch
) -> Endpoint:
    """An endpoint about a sentence alone. `function` is called with the loaded model, the sentence, the model's name,
    the maximum number of tokens, and the values of `fields` as keyword arguments; `torch` as in `pair_endpoint`."""

    async def handler(call: Call) -> Any:
        model, limit = await model_of(call), call.services.config.explained
        options = {field.name: call[field.name] for field in fields}
        asked = {name: options.pop(name) for name in OF_QUERY if name in options}
        query = SentenceQuery(call["text"], sentence=call["sentence"], **asked)
        explain = call.services.explain
        return await (explain.run if torch(call) else explain.run_by_engine)(
            model, lambda loaded: load_function(function)(loaded, query, model, limit, **options)
        )

    return Endpoint("POST", path, OWN, summary, handler, (*WHICH_MODEL, TEXT, SENTENCE, *fields))


async def neighbours(call: Call) -> Any:
    model, explain = await model_of(call), call.services.explain

    def work() -> dict[str, Any]:
        index = explain.pair_index(model)
        if index is None:
            raise ServeError(
                404, f"the model {model} has no file {PAIRS_FILE} in its folder with the pairs that it was trained on"
            )
        found = index.nearest(call["text"], call["count"])
        rows = [asdict(one) | {"similarity": json_numbers(one.similarity)} for one in found]
        return {"model": model, "pairs": rows, "searched": len(index), "measure": MEASURE}

    return await explain.run_in_thread(work)


async def parts(call: Call) -> Any:
    model = call["model"] or call.services.pool.default
    return await call.services.explain.run(
        model, lambda loaded: load_function("explain_break.parts_answer")(loaded, model)
    )


ENDPOINTS = (
    pair_endpoint(
        "/api/words", "A translation word by word: probability, confidence, links, coverage, shares",
        "explain_words.words_answer",
        Field("share", "flag", "whether to find what came from the source and from the words before", False),
        torch=lambda call: bool(call["share"]),
    ),
    sentence_endpoint(
        "/api/alternatives", "Other words for a word of a translation", "explain_words.alternatives_answer",
        TRANSLATION,
        Field("position", "integer", "a word of the translation, from 0", least=0, most=10_000, example=1),
        Field("count", "integer", "how many, at most", 6, least=1, most=20),
        OPTIONS["formality"], OPTIONS["glossary"],
        torch=needs_no_torch,
    ),
    sentence_endpoint(
        "/api/wordings", "Other translations of a sentence", "explain_words.wordings_answer",
        TRANSLATION, Field("count", "integer", "how many, at most", 4, least=1, most=10),
        OPTIONS["formality"], OPTIONS["glossary"],
        torch=needs_no_torch,
    ),
    pair_endpoint(
        "/api/attention", "Attention maps of every layer and head", "explain_attention.attention_answer",
        KIND, UNITS, READING, LAYER,
    ),
    pair_endpoint(
        "/api/cut", "The translation without some attention heads", "explain_attention.cut_answer",
        Field("heads", "list", "heads as [KIND, LAYER, HEAD], from 1", example=[["cross", 1, 1]], least=1,
              most=MAX_HEADS, items=HEAD),
        Field("how", "choice", "their output is 0, or they attend to all alike", None, choices=ABLATIONS,
        nullable=True),
    ),
    Endpoint("GET", "/api/break", OWN, "The parts of a model that can be removed", parts, (MODEL,)),
    pair_endpoint(
        "/api/break", "What a model loses without some of its parts", "explain_break.break_answer",
        Field("scores", "number", "factor of all attention scores; √d_k undoes the scaling", 1.0, least=0, most=64),
        Field("mask", "flag", "whether the decoder is kept from attending to later words", True),
        Field("positions", "number", "factor of the positions that are added to the embeddings", 1.0, least=0, most=1),
        Field("residual", "number", "factor of x in the residual sums x + f(x)", 1.0, least=0, most=1),
        Field("residual_at", "text", "of which side or layer, such as encoder.2; empty: all", "", most=20),
        Field("heads", "list", "heads that are removed, as [KIND, LAYER, HEAD] from 1", [], most=MAX_HEADS, items=HEAD),
    ),
    pair_endpoint(
        "/api/steer", "The translation with attention weights by hand", "explain_attention.steer_answer",
        UNITS, READING, LAYER,
        Field("heads", "list", "heads of the layer, from 1; none: all", [], items=NUMBER),
        Field("rows", "list", "weights of target positions", example=[{"position": 0, "weights": [0, 1, 0, 0]}],
              least=1, most=MAX_ROWS, items=ROW),
    ),
    pair_endpoint(
        "/api/step", "One query of one head in numbers", "explain_attention.step_answer",
        KIND,
        Field("layer", "integer", "a layer, from 1", 1, least=1, most=1000),
        Field("head", "integer", "a head, from 1", 1, least=1, most=1000),
        Field("position", "integer", "the piece that asks, from 0", 0, least=0, most=10_000),
        Field("numbers", "integer", "entries of each vector that are given", 8, least=1, most=64),
    ),
    pair_endpoint(
        "/api/anatomy", "The parts of the model for a sentence, and the distribution of each step",
        "explain_anatomy.anatomy_answer",
    ),
    pair_endpoint(
        "/api/anatomy/part", "The values of one part, or one dot product of a head", "explain_anatomy.part_answer",
        Field("part", "text", "its id in /api/anatomy", least=1, most=100, example="decoder.1.cross.2"),
        Field("first", "integer", "the first number of each vector that is given, from 0", 0, least=0, most=1_000_000),
        Field("numbers", "integer", "how many numbers of each vector are given", 64, least=1, most=512),
        Field("query", "integer", "a row of the head, from 0", None, least=0, most=10_000, nullable=True),
        Field("key", "integer", "a column of the head, from 0", None, least=0, most=10_000, nullable=True),
    ),
    pair_endpoint(
        "/api/diagram", "The model as pictures drawn from its modules, or an architecture by its sizes",
        "explain_diagram.diagram_answer",
        Field("drawn", "text", "an architecture and a preset, such as rnn-attention:notes; none: the model", "",
              least=0, most=60),
    ),
    pair_endpoint("/api/lens", "What each decoder layer would say", "explain_evidence.lens_answer", COUNT),
    pair_endpoint(
        "/api/evidence", "What the translation loses when a source word is blanked", "explain_evidence.evidence_answer",
        Field("blank", "choice", "how a word is blanked", "mean", choices=BLANKS),
        Field("gradients", "flag", "whether to add gradient × input, which takes longer", False),
    ),
    pair_endpoint(
        "/api/choice", "Which of several words the translation takes, for minimal pairs", "explain_words.choice_answer",
        Field("words", "strings", "two words or more", least=2, most=10, example=["chat", "chien"]),
        torch=needs_no_torch,
    ),
    sentence_endpoint(
        "/api/lattice", "The beam search as a lattice, and a branch of it resumed", "explain_evidence.lattice_answer",
        OPTIONS["beam"], OPTIONS["length_penalty"], OPTIONS["guard"],
        Field("resume", "integer", "a node from which to go on", None, least=0, nullable=True),
    ),
    Endpoint(
        "POST", "/api/neighbours", OWN, "The training pairs that are nearest to a text", neighbours,
        (*WHICH_MODEL, TEXT, COUNT),
    ),
)  # fmt: skip
