"""LibreTranslate's interface: its error format and language names, and all its endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from regard.formats.html import read_fragment
from regard.serve.api.api_common import THROUGH, known_code
from regard.serve.api.endpoint import Call, Endpoint, Interface
from regard.serve.documents import SUFFIXES, attachment, plain_name, suffix_of, uploaded_format
from regard.serve.errors import FieldError, ServeError, UnsupportedPairError
from regard.serve.http.fields import Field
from regard.serve.segments import (
    MarkupText,
    PlainText,
    SegmentRequest,
    TranslatedSegments,
    checked_options,
    translate_segments,
)
from regard.serve.state.store import in_thread
from regard.serve.translation_service import run_in_thread_if_long
from regard.text.language import language_name

NOT_JSON = "Invalid JSON format"
AUTO = "auto"


def error_body(error: ServeError) -> dict[str, Any]:
    message = NOT_JSON if error.message.startswith(NOT_JSON) else error.message
    if error.missing:
        message = f"Invalid request: missing {error.field} parameter"
    elif isinstance(error, UnsupportedPairError):
        message = unavailable(error.source, error.target)
    return {"error": message}


def unavailable(source: str, target: str) -> str:
    return f"{named(target)} is not available as a target language from {named(source)}"


def named(code: str) -> str:
    return f"{language_name(code)} ({code})"


LIBRETRANSLATE = Interface(
    "LibreTranslate",
    "The interface of LibreTranslate: its clients work with this server when they get its address.",
    error_body,
)
API_KEY = Field("api_key", "text", "the API key", "", nullable=True)
SOURCE_CODE = Field(
    "source", "text", "the code of its language, or auto", example="en", most=40, known="sources or auto"
)
TARGET_CODE = Field(
    "target", "text", "the code of the language to translate into", example="fr", most=40, known="targets"
)


def languages_of(call: Call, through: str | None = None) -> tuple[str | None, str]:
    """The codes of the source (None: to be detected) and the target."""
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
    if source is not None and source != target and target not in pool.targets(source, through):
        raise ServeError(400, unavailable(source, target))
    return source, target


def confidences(probabilities: Mapping[str, float], languages: Iterable[str]) -> list[dict[str, Any]]:
    """The languages with their probabilities in percent."""
    return [{"confidence": round(100 * probabilities.get(code, 0.0), 1), "language": code} for code in languages]


# ── /translate and /detect ────────────────────────────────────────────────────────────────────────────────────────────


FORMATS = ("text", "html")
TRANSLATE = (
    Field("q", "texts", "a text, or several", least=1, example="The cat is on the mat."),
    SOURCE_CODE,
    TARGET_CODE,
    Field("format", "text", "text or html", "text", nullable=True, choices=FORMATS),
    Field("alternatives", "integer", "how many other translations to give", 0, least=0, nullable=True, example=1),
    API_KEY,
)
DETECT = (Field("q", "text", "a text", least=1, example="The cat is on the mat."), API_KEY)
MIN_PROBABILITY = 0.01  # minimum for further languages that /detect lists after the most probable one


async def translate(call: Call) -> dict[str, Any]:
    several, texts = checked_texts(call)
    source, target = languages_of(call)
    html = (call["format"] or "text") == "html"
    characters = sum(map(len, texts))
    read = await run_in_thread_if_long(characters, read_texts, texts, html)
    options = checked_options(nbest=call["alternatives"] + 1)
    request = SegmentRequest([one.segments for one in read], target, source, options)
    found = await translate_segments(call.services.translation, request)
    answers = await run_in_thread_if_long(characters, response, call, read, found)
    return answers if several else {name: values[0] for name, values in answers.items()}


def response(
    call: Call, read: Sequence[PlainText | MarkupText], found: Sequence[TranslatedSegments]
) -> dict[str, list[Any]]:
    """The response to a list of texts."""
    alternatives = call["alternatives"]
    pairs = list(zip(read, found, strict=True))
    texts = [one.translated(done.translations, alternatives) for one, done in pairs]
    answer: dict[str, list[Any]] = {"translatedText": [one.text for one in texts]}
    if call["source"] == AUTO:
        for one, done in pairs:
            text = "\n".join(segment.text for segment in one.segments)
            shares = call.services.translation.language_probabilities(text, done.source)
            answer.setdefault("detectedLanguage", []).extend(confidences(shares, [done.source]))
    if alternatives:
        answer["alternatives"] = [one.alternatives for one in texts]
    return answer


def checked_texts(call: Call) -> tuple[bool, list[str]]:
    """Whether a list was sent, and its texts; raises if a limit is exceeded."""
    given, config = call["q"], call.services.config
    if (call["format"] or "text") not in FORMATS:
        raise ServeError(400, f"{call['format'][:40]} format is not supported")
    if call["alternatives"] > config.alternatives:
        raise ServeError(400, f"Invalid request: alternatives parameter must be <= {config.alternatives}")
    several = isinstance(given, list)
    texts = given if several else [given]
    for size, limit in ((len(texts), config.texts), (sum(map(len, texts)), config.characters)):
        if size > limit:
            raise ServeError(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")
    return several, texts


def read_texts(texts: Sequence[str], html: bool) -> list[PlainText | MarkupText]:
    return [MarkupText(read_fragment(text)) if html else PlainText(text) for text in texts]


async def detect(call: Call) -> list[dict[str, Any]]:
    translation = call.services.translation
    first = await run_in_thread_if_long(len(call["q"]), translation.language_of, call["q"])
    shares = translation.language_probabilities(call["q"], first)
    others = [code for code, share in shares.items() if code != first and share >= MIN_PROBABILITY]
    return confidences(shares, (first, *others))


# ── /translate_file, /download_file and /suggest ──────────────────────────────────────────────────────────────────────


NAME = re.compile(r"([0-9a-f]{32})([0-9a-f]{64})\..*", re.DOTALL)
FILE = (Field("file", "file", "the document"), SOURCE_CODE, TARGET_CODE, THROUGH, API_KEY)
SUGGEST = (
    Field("q", "text", "a text", least=1, example="The cat sleeps."),
    Field("s", "text", "the better translation of it", least=1, example="Le chat dort."),
    SOURCE_CODE,
    TARGET_CODE,
    API_KEY,
)


async def translate_file(call: Call) -> dict[str, str]:
    services, file = call.services, call["file"]
    if not file.filename:
        raise ServeError(400, "Invalid request: empty file")
    data = await file.read()
    format = uploaded_format(file.filename, data)
    source, target = languages_of(call, call["through"])
    read = await services.documents.read(data, format, target)
    await services.charge(call.request, read.characters)
    result = await services.documents.translate(read, source, target, through=call["through"])
    name = translated_name(file.filename, target)
    job, key = await in_thread(services.state.documents.keep, call.client.owner, name, result, read.characters)
    return {"translatedFileUrl": f"{call.request.base_url}download_file/{job.id}{key}.{quote(name)}"}


def translated_name(given: str, target: str) -> str:
    """
    >>> translated_name("C:\\\\My notes.TXT", "fr")
    'My notes_fr.txt'
    """
    suffix = suffix_of(given)
    return f"{plain_name(given[: len(given) - len(suffix)])}_{target}{suffix}"


async def download_file(call: Call) -> Response:
    found = NAME.fullmatch(call.request.path_params["name"])
    documents = call.services.state.documents
    job = await in_thread(documents.get, found[1], found[2], None) if found else None
    result = await in_thread(documents.result, job) if job else None
    if job is None or result is None:
        raise ServeError(404, "there is no such file; results are kept for a while only")
    headers = {"Content-Disposition": attachment(job.name), "Cache-Control": "private, no-store"}
    return Response(result, media_type="application/octet-stream", headers=headers)


async def suggest(call: Call) -> dict[str, bool]:
    source, target = languages_of(call)
    add = call.services.state.suggestions.add
    await in_thread(add, call.client.subject, source or call["source"], target, call["q"], call["s"])
    return {"success": True}


# ── /languages, /frontend/settings and /health ────────────────────────────────────────────────────────────────────────


async def languages(call: Call) -> list[dict[str, Any]]:
    """All languages, including those that are only targets: clients look for their target here."""
    pool = call.services.pool
    return [
        {"code": code, "name": language_name(code), "targets": sorted({code, *pool.targets(code)})}
        for code in pool.languages
    ]


async def frontend_settings(call: Call) -> dict[str, Any]:
    config, pool = call.services.config, call.services.pool
    target = pool.find(pool.default).bundle.languages[1] or next(iter(pool.languages), "")
    return {
        "charLimit": config.characters,
        "frontendTimeout": 500,  # milliseconds that a page waits after a key press before it sends a request
        "apiKeys": config.keys,
        "keyRequired": config.keys,
        "suggestions": True,
        "filesTranslation": True,
        "supportedFilesFormat": list(SUFFIXES),
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": target, "name": language_name(target)},
        },
    }


async def health(call: Call) -> dict[str, str]:
    return {"status": "ok"}


ENDPOINTS = (
    Endpoint("POST", "/translate", LIBRETRANSLATE, "Translate a text, or several", translate, TRANSLATE),
    Endpoint("POST", "/detect", LIBRETRANSLATE, "The language of a text", detect, DETECT, counted=()),
    Endpoint("POST", "/translate_file", LIBRETRANSLATE, "Translate a file", translate_file, FILE),
    Endpoint(
        "GET", "/download_file/{name}", LIBRETRANSLATE, "A translated file", download_file, public=True,
        media_type="application/octet-stream",
    ),
    Endpoint("POST", "/suggest", LIBRETRANSLATE, "Suggest a better translation", suggest, SUGGEST, counted=()),
    Endpoint("GET", "/languages", LIBRETRANSLATE, "The languages, and the targets of each", languages, public=True),
    Endpoint("GET", "/frontend/settings", LIBRETRANSLATE, "What a page should know", frontend_settings, public=True),
    Endpoint("GET", "/health", LIBRETRANSLATE, "Whether the server answers", health, public=True),
)  # fmt: skip
