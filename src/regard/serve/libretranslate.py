"""LibreTranslate's interface: how it writes a problem, where its clients put the key, and how they name languages.

`libretranslate_text.py`, `libretranslate_files.py` and `libretranslate_rest.py` have its endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from regard.serve.endpoint import Call, Interface
from regard.serve.fields import Field
from regard.serve.language_codes import known_code
from regard.serve.problems import FieldError, NoPairError, ServeError
from regard.serve.state.keys import given_key
from regard.text.language import language_name

NOT_JSON = "Invalid JSON format"
AUTO = "auto"


def problem(error: ServeError) -> dict[str, Any]:
    return {"error": message_of(error)}


def message_of(error: ServeError) -> str:
    if error.missing:
        return f"Invalid request: missing {error.field} parameter"
    if isinstance(error, NoPairError):
        return unavailable(error.source, error.target)
    return NOT_JSON if error.message.startswith(NOT_JSON) else error.message


def unavailable(source: str, target: str) -> str:
    return f"{named(target)} is not available as a target language from {named(source)}"


def named(code: str) -> str:
    return f"{language_name(code)} ({code})"


def key_of(request: Request, values: Mapping[str, Any]) -> str | None:
    return values.get("api_key") or given_key(request.headers.get("authorization"))


LIBRETRANSLATE = Interface("LibreTranslate", problem, key_of)
API_KEY = Field("api_key", "text", "the API key", "", nullable=True)
SOURCE_CODE = Field(
    "source", "text", "the code of its language, or auto", example="en", most=40, known="sources or auto"
)
TARGET_CODE = Field(
    "target", "text", "the code of the language to translate into", example="fr", most=40, known="targets"
)


def languages_of(call: Call) -> tuple[str | None, str]:
    """The source, None for one that is to be found, and the target."""
    given = call["source"], call["target"]
    for name, code in zip(("source", "target"), given, strict=True):
        if not code:
            raise FieldError(name, f"{name} is missing", missing=True)
    pool = call.services.pool
    source, target = (known_code(code, pool.languages) for code in given)
    if source is None and given[0] != AUTO:
        raise ServeError(400, f"{given[0]} is not supported")
    if target is None:
        raise ServeError(400, f"{given[1]} is not supported")
    if source is not None and source != target and target not in pool.targets(source):
        raise ServeError(400, unavailable(source, target))
    return source, target


def detected_language(call: Call, texts: list[str], language: str) -> dict[str, Any]:
    """What is said of a language that was found in a text: the share of its probability, in per cent."""
    shares = call.services.translation.shares("\n".join(texts), language)
    return {"confidence": per_cent(shares.get(language, 0.0)), "language": language}


def per_cent(share: float) -> float:
    return round(100 * share, 1)
