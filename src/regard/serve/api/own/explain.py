"""/api/lessons: the lessons that the page shows.

Our own endpoints that look into a model: words, alternatives, attention, cut and edited heads, the lattice and more.

Each is a few fields and a function of `inside_*.py`, which runs in the thread of explanations. These modules import
torch, so they are imported when they are first asked for: a server that only translates does without it.
docs/http-api.md describes what they answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, get_args

import anyio.to_thread

from regard.align.attention import RowMeaning
from regard.course.lessons import lessons
from regard.explain.grid import KINDS
from regard.explain.neighbours import MEASURE, PAIRS_FILE
from regard.explain.sentence_pair import ABLATIONS, BLANKS, SentencePair
from regard.serve.api.api_common import OWN, WHICH_MODEL
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.api.own.explain_sentence import MOST_HEADS, MOST_ROWS, Units, numbers, sentence_data
from regard.serve.errors import FieldError, ServeError
from regard.serve.explain_service import ExplainedModel, SentenceQuery, find_sentence
from regard.serve.http.fields import Field
from regard.serve.translation_service import TranslationRequest


async def all_lessons(call: Call) -> dict[str, Any]:
    return lessons()


MOST_CHARACTERS = 20_000  # of a text of which one sentence is explained
MOST_LETTERS = 100  # of a word of a minimal pair
READINGS: dict[str, RowMeaning] = {"predicting": "predicting", "having_read": "having-read"}

TEXT = Field(
    "text",
    "text",
    "the text of which one sentence is explained",
    least=1,
    most=MOST_CHARACTERS,
    example="The cat sleeps.",
)
SENTENCE = Field("sentence", "integer", "which one, from 0, where there are several", None, least=0, nullable=True)
TRANSLATION = Field(
    "translation", "text", "a translation to explain; none: the model's own", None, most=MOST_CHARACTERS, nullable=True
)
BEAM = Field("beam", "integer", "hypotheses kept; none: the model's own", None, least=1, most=16, nullable=True)
HYPOTHESIS = Field("hypothesis", "integer", "place in the n-best list, from 0", 0, least=0, most=15)
PAIR = (*WHICH_MODEL, TEXT, SENTENCE, TRANSLATION, BEAM, HYPOTHESIS)
UNITS = Field("units", "choice", "words, or pieces as the model reads them", "words", choices=get_args(Units))
READING = Field(
    "reading", "choice", "what a row means: the word that is predicted, or the one that was just read; none: as the "
    "model's card says", None, choices=tuple(READINGS), nullable=True,
)  # fmt: skip
KIND = Field("kind", "choice", "which attention", "cross", choices=tuple(KINDS))


async def model_of(call: Call) -> str:
    """The one model that is asked for, by its name or by its languages; where neither is given, the server's first."""
    if call["model"] is None and call["target"] is None:
        return call.services.pool.default
    asked = TranslationRequest([call["text"]], call["target"], call["source"], call["model"])
    (choice,) = await anyio.to_thread.run_sync(call.services.translation.choices, asked)
    models = choice.models
    if len(models) != 1:
        said = " and ".join(models) or "none"
        raise ServeError(400, f"what is looked into is one model, but this text needs {said}; name one", field="model")
    return models[0]


def sentence_query(call: Call) -> SentenceQuery:
    return SentenceQuery(call["text"], call["translation"], call["sentence"], call["beam"], call["hypothesis"])


def about_a_pair(answer: Callable[[Call, SentencePair, str], dict[str, Any]]) -> Callable[[Call], Any]:
    """A handler that finds the sentence and its translation, and answers with what is made of them."""

    async def handler(call: Call) -> Any:
        model, explain = await model_of(call), call.services.explain

        def work(loaded: ExplainedModel) -> dict[str, Any]:
            return answer(call, loaded.find_pair(sentence_query(call), call.services.config.explained), model)

        return await explain.run(model, work)

    return handler


def words(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_words import words_answer

    return words_answer(pair, model, call["alternatives"], call["share"])


def word_choice(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_words import choice_answer

    if any(len(word) > MOST_LETTERS for word in call["words"]):
        raise FieldError("words", f"a word has more than {MOST_LETTERS} letters", status=413)
    return choice_answer(pair, model, call["words"])


def lens(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_words import lens_answer

    return lens_answer(pair, model, call["count"])


def attention(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_attention import attention_answer

    row = READINGS.get(call["reading"] or "")
    return attention_answer(pair, model, call["kind"], call["units"], row, call["layer"])


def cut(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_attention import cut_answer, read_heads

    return cut_answer(pair, model, read_heads(call["heads"]), call["how"])


def steer(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_attention import read_rows, steer_answer

    heads = call["heads"]
    if len(heads) > MOST_HEADS or not all(type(head) is int and 1 <= head <= 1000 for head in heads):
        raise FieldError("heads", f"heads must be at most {MOST_HEADS:,} whole numbers from 1 on")
    row = READINGS.get(call["reading"] or "")
    return steer_answer(pair, model, read_rows(call["rows"]), call["layer"], sorted(set(heads)), call["units"], row)


def step(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.explain.mechanisms import Query
    from regard.serve.api.own.explain_attention import step_answer

    query = Query(call["kind"], call["layer"] - 1, call["head"] - 1, call["position"])
    return step_answer(pair, model, query, call["numbers"])


def evidence(call: Call, pair: SentencePair, model: str) -> dict[str, Any]:
    from regard.serve.api.own.explain_search import evidence_answer

    return evidence_answer(pair, model, call["blank"], call["gradients"])


async def alternatives(call: Call) -> Any:
    model, explain = await model_of(call), call.services.explain
    query = SentenceQuery(call["text"], sentence=call["sentence"])

    def work(loaded: ExplainedModel) -> dict[str, Any]:
        from regard.serve.api.own.explain_words import alternatives_answer

        one = find_sentence(loaded.translator, query, call.services.config.explained)
        found = alternatives_answer(loaded.translator, one.text, call["prefix"], call["position"], call["count"])
        return {**sentence_data(one, model), **found}

    return await explain.run(model, work)


async def lattice(call: Call) -> Any:
    model = await model_of(call)
    query, limit = SentenceQuery(call["text"], None, call["sentence"], call["beam"]), call.services.config.explained

    def work(loaded: ExplainedModel) -> dict[str, Any]:
        from regard.serve.api.own.explain_search import lattice_answer

        options = call["length_penalty"], call["guard"], call["resume"]
        return lattice_answer(loaded.translator, query, model, limit, *options)

    return await call.services.explain.run(model, work)


async def neighbours(call: Call) -> Any:
    model, explain = await model_of(call), call.services.explain

    def work() -> dict[str, Any]:
        index = explain.pair_index(model)
        if index is None:
            raise ServeError(
                404, f"the model {model} has no file {PAIRS_FILE} in its folder with the pairs that it was trained on"
            )
        found = index.nearest(call["text"], call["count"])
        rows = [asdict(one) | {"similarity": numbers(one.similarity)} for one in found]
        return {"model": model, "pairs": rows, "searched": len(index), "measure": MEASURE}

    return await explain.run_in_thread(work)


COUNT = Field("count", "integer", "how many", 5, least=1, most=20)
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
LAYER = Field("layer", "integer", "a layer, from 1", None, least=1, most=1000, nullable=True)


ENDPOINTS = (
    Endpoint("GET", "/api/lessons", OWN, "The lessons of the page", all_lessons, open=True),
    Endpoint(
        "POST", "/api/words", OWN, "A translation word by word: probability, confidence, alternatives, links, shares",
        about_a_pair(words),
        (
            *PAIR,
            Field("alternatives", "integer", "how many at each word", 5, least=0, most=10),
            Field("share", "flag", "whether to find what came from the source and from the words before", True),
        ),
    ),
    Endpoint(
        "POST", "/api/alternatives", OWN, "What else a translation could say at a place", alternatives,
        (
            *WHICH_MODEL, TEXT, SENTENCE,
            Field("prefix", "text", "the translation up to the place", "", most=MOST_CHARACTERS),
            Field("position", "integer", "a word of the model's own translation, from 0", None, least=0, nullable=True),
            COUNT,
        ),
    ),
    Endpoint(
        "POST", "/api/attention", OWN, "Attention maps of every layer and head", about_a_pair(attention),
        (*PAIR, KIND, UNITS, READING, LAYER),
    ),
    Endpoint(
        "POST", "/api/cut", OWN, "The translation without some attention heads", about_a_pair(cut),
        (
            *PAIR,
            Field("heads", "list", "heads as [KIND, LAYER, HEAD], from 1", example=[["cross", 1, 1]], least=1,
                  most=MOST_HEADS, items=HEAD),
            Field("how", "choice", "their output is 0, or they attend to all alike", None, choices=ABLATIONS,
                  nullable=True),
        ),
    ),
    Endpoint(
        "POST", "/api/steer", OWN, "The translation with attention weights by hand", about_a_pair(steer),
        (
            *PAIR, UNITS, READING, LAYER,
            Field("heads", "list", "heads of the layer, from 1; none: all", [], items=NUMBER),
            Field("rows", "list", "weights of target positions", example=[{"position": 0, "weights": [0, 1, 0, 0]}],
                  least=1, most=MOST_ROWS, items=ROW),
        ),
    ),
    Endpoint(
        "POST", "/api/step", OWN, "One query of one head in numbers", about_a_pair(step),
        (
            *PAIR, KIND,
            Field("layer", "integer", "a layer, from 1", 1, least=1, most=1000),
            Field("head", "integer", "a head, from 1", 1, least=1, most=1000),
            Field("position", "integer", "the piece that asks, from 0", 0, least=0, most=10_000),
            Field("numbers", "integer", "entries of each vector that are given", 8, least=1, most=64),
        ),
    ),
    Endpoint(
        "POST", "/api/lens", OWN, "What each decoder layer would say", about_a_pair(lens), (*PAIR, COUNT),
    ),
    Endpoint(
        "POST", "/api/evidence", OWN, "What the translation loses when a source word is blanked",
        about_a_pair(evidence),
        (
            *PAIR,
            Field("blank", "choice", "how a word is blanked", "mean", choices=BLANKS),
            Field("gradients", "flag", "whether to add gradient × input, which takes longer", False),
        ),
    ),
    Endpoint(
        "POST", "/api/choice", OWN, "Which of several words the translation takes, for minimal pairs",
        about_a_pair(word_choice),
        (*PAIR, Field("words", "strings", "two words or more", least=2, most=10, example=["chat", "chien"])),
    ),
    Endpoint(
        "POST", "/api/lattice", OWN, "The beam search as a lattice, and a branch of it resumed", lattice,
        (
            *WHICH_MODEL, TEXT, SENTENCE, BEAM,
            Field(
                "length_penalty", "number", "of the search; none: the model's own", None, least=0, most=5, nullable=True
            ),
            Field("guard", "flag", "whether a doubtful sentence is searched for again", True),
            Field("resume", "integer", "a node from which to go on", None, least=0, nullable=True),
        ),
    ),
    Endpoint(
        "POST", "/api/neighbours", OWN, "The training pairs that are nearest to a text", neighbours,
        (*WHICH_MODEL, TEXT, COUNT),
    ),
)  # fmt: skip
