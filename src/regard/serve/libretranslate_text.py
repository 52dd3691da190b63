"""LibreTranslate's /translate and /detect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.formats.html import read_fragment
from regard.serve.endpoint import Call, Endpoint
from regard.serve.fields import Field
from regard.serve.libretranslate import (
    API_KEY,
    AUTO,
    LIBRETRANSLATE,
    SOURCE_CODE,
    TARGET_CODE,
    detected_language,
    languages_of,
    per_cent,
)
from regard.serve.passages import Passages, TranslatedPassage, checked_options, translate_passages
from regard.serve.problems import ServeError
from regard.serve.request_texts import MarkupText, PlainText
from regard.serve.service import off_the_loop

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
LEAST_SHARE = 0.01  # of a language that /detect names beside the most probable one


async def translate(call: Call) -> dict[str, Any]:
    several, texts = texts_of(call)
    source, target = languages_of(call)
    html = (call["format"] or "text") == "html"
    characters = sum(map(len, texts))
    read = await off_the_loop(characters, read_texts, texts, html)
    asked = Passages([one.segments for one in read], target, source, checked_options(nbest=call["alternatives"] + 1))
    found = await translate_passages(call.services.translation, asked)
    answers = await off_the_loop(characters, written, call, read, found)
    return answers if several else {name: values[0] for name, values in answers.items()}


def written(
    call: Call, read: Sequence[PlainText | MarkupText], found: Sequence[TranslatedPassage]
) -> dict[str, list[Any]]:
    """The answer for a list of texts."""
    alternatives = call["alternatives"]
    pairs = list(zip(read, found, strict=True))
    said = [one.answer(done.translations, alternatives) for one, done in pairs]
    answer: dict[str, list[Any]] = {"translatedText": [one.text for one in said]}
    if call["source"] == AUTO:
        answer["detectedLanguage"] = [
            detected_language(call, [segment.text for segment in one.segments], done.source) for one, done in pairs
        ]
    if alternatives:
        answer["alternatives"] = [one.alternatives for one in said]
    return answer


def texts_of(call: Call) -> tuple[bool, list[str]]:
    """Whether a list was sent, and its texts, within the limits."""
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
    first = await off_the_loop(len(call["q"]), translation.language_of, call["q"])
    shares = translation.shares(call["q"], first)
    others = [code for code, share in shares.items() if code != first and share >= LEAST_SHARE]
    return [{"confidence": per_cent(shares.get(code, 0.0)), "language": code} for code in (first, *others)]


ENDPOINTS = (
    Endpoint("POST", "/translate", LIBRETRANSLATE, "Translate a text, or several", translate, TRANSLATE),
    Endpoint("POST", "/detect", LIBRETRANSLATE, "The language of a text", detect, DETECT, charged=()),
)
