"""LibreTranslate's interface, as its clients use it (docs/http.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from regard.serve.endpoint import Call, Endpoint, Interface
from regard.serve.fields import Field
from regard.serve.problems import ServeError
from regard.serve.service import TranslationRequest
from regard.serve.state.keys import given_key
from regard.text.language import language_name


def problem(error: ServeError) -> dict[str, Any]:
    if error.missing:
        return {"error": f"Invalid request: missing {error.field} parameter"}
    return {"error": error.message}


def key_of(request: Request, values: Mapping[str, Any]) -> str | None:
    return values.get("api_key") or given_key(request.headers.get("authorization"))


LIBRETRANSLATE = Interface("LibreTranslate", problem, key_of)
API_KEY = Field("api_key", "text", "the API key", "", nullable=True)
TRANSLATE = (
    Field("q", "texts", "a text, or several", example="The cat is on the mat."),
    Field("source", "text", "the code of its language, or auto", example="en"),
    Field("target", "text", "the code of the language to translate into", example="fr"),
    Field("format", "choice", "text or html", "text", choices=("text", "html"), nullable=True),
    Field("alternatives", "integer", "how many other translations to give", 0, least=0, nullable=True),
    API_KEY,
)


async def translate(call: Call) -> dict[str, Any]:
    several = isinstance(call["q"], list)
    texts = call["q"] if several else [call["q"]]
    source = None if call["source"] == "auto" else call["source"]
    found = await call.services.translation.translate(TranslationRequest(texts, call["target"], source))
    said = [one.text for one in found]
    return {"translatedText": said if several else said[0]}


async def languages(call: Call) -> list[dict[str, Any]]:
    pool = call.services.pool
    sources = sorted({direction.source for direction in pool.directions})
    return [{"code": code, "name": language_name(code), "targets": pool.targets(code)} for code in sources]


async def health(call: Call) -> dict[str, str]:
    return {"status": "ok"}


ENDPOINTS = (
    Endpoint("POST", "/translate", LIBRETRANSLATE, "Translate a text, or several", translate, TRANSLATE),
    Endpoint("GET", "/languages", LIBRETRANSLATE, "The languages, and the targets of each", languages, open=True),
    Endpoint("GET", "/health", LIBRETRANSLATE, "Whether the server answers", health, open=True),
)
