"""DeepL's interface (v2): how it writes a problem, where the key is, how it names languages; /v2/languages, /v2/usage.

`deepl_translate.py`, `deepl_glossaries.py` and `deepl_documents.py` have the other endpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from regard.serve.callers import QuotaError
from regard.serve.endpoint import Call, Endpoint, Interface
from regard.serve.fields import Field
from regard.serve.language_codes import VARIANT_NAMES, VARIANTS, known_code
from regard.serve.problems import FieldError, NoPairError, ServeError
from regard.serve.state.keys import given_key
from regard.text.language import language_name

QUOTA = 456  # DeepL's own status: all characters of the period are used
UNLIMITED = 1_000_000_000_000  # what DeepL says of an account without a limit


def problem(error: ServeError) -> dict[str, str]:
    """What its clients show: a message in DeepL's words where it has some, and then ours as the detail."""
    if error.missing:
        return {"message": f"Parameter '{error.field}' not specified."}
    if isinstance(error, NoPairError):
        return {"message": unsupported("target_lang"), "detail": error.message}
    if isinstance(error, QuotaError):
        return {"message": "Quota Exceeded", "detail": error.message}
    return {"message": error.message}


def unsupported(name: str) -> str:
    return f"Value for '{name}' not supported."


def key_of(request: Request, values: Mapping[str, Any]) -> str | None:
    return given_key(request.headers.get("authorization"))


def status_of(error: ServeError) -> int:
    return QUOTA if isinstance(error, QuotaError) else error.status


DEEPL = Interface("DeepL", problem, key_of, status_of)
SOURCE_LANG = Field(
    "source_lang", "text", "its language; none: found in the text", None, nullable=True, most=40,
    known="DeepL's sources",
)  # fmt: skip
TARGET_LANG = Field(
    "target_lang", "text", "the language to translate into", example="FR", most=40, known="DeepL's targets"
)
FORMALITY = Field(
    "formality", "choice", "no model has it: default and prefer_… change nothing", "default", nullable=True,
    choices=("default", "more", "less", "prefer_more", "prefer_less"),
)  # fmt: skip
GLOSSARY_ID = Field("glossary_id", "text", "a glossary of /v2/glossaries", None, nullable=True, most=100)
GLOSSARY_IDS = Field("glossary_ids", "strings", "several glossaries, instead", (), nullable=True)


def languages_of(call: Call) -> tuple[str | None, str]:
    """The source, None for one that is to be found, and the target, as the package names them."""
    pool = call.services.pool
    source = one_language(call, "source_lang") if call["source_lang"] else None
    target = one_language(call, "target_lang")
    if source is not None and source != target and target not in pool.targets(source):
        said = f"there is no translator from {language_name(source)} to {language_name(target)}"
        raise NoPairError(source, target, said)
    return source, target


def one_language(call: Call, name: str) -> str:
    code = known_code(call[name] or "", call.services.pool.languages)
    if code is None:
        raise FieldError(name, unsupported(name))
    return code


def check_formality(call: Call) -> None:
    if call["formality"] in ("more", "less"):  # the others are wishes
        raise FieldError("formality", "'formality' is not supported for given 'target_lang'.")


def glossary_ids_of(call: Call, source: str | None) -> list[str]:
    """The glossaries that are asked for, of one or of the other parameter."""
    listed = [id.strip() for some in call["glossary_ids"] or () for id in some.split(",") if id.strip()]
    ids = [call["glossary_id"]] if call["glossary_id"] else listed
    if ids and source is None:
        raise FieldError("source_lang", "'source_lang' is required if using a glossary", missing=False)
    return ids


# ── languages and usage ──────────────────────────────────────────────────────────────────────────────────────────────


async def languages(call: Call) -> list[dict[str, Any]]:
    pool = call.services.pool
    if call["type"] == "source":
        sources = {direction.source for direction in pool.directions}
        return [{"language": code.upper(), "name": language_name(code)} for code in sorted(sources)]
    codes = sorted({code for source in pool.languages for code in pool.targets(source)})
    variants = [(variant, code) for code in codes for variant in VARIANTS.get(code, (code.upper(),))]
    return [
        {"language": variant, "name": VARIANT_NAMES.get(variant, language_name(code)), "supports_formality": False}
        for variant, code in variants
    ]


async def usage(call: Call) -> dict[str, int]:
    found = await call.services.callers.usage(call.caller)
    return {"character_count": found.characters, "character_limit": call.caller.limits.characters or UNLIMITED}


TYPE = Field("type", "choice", "source or target", "source", choices=("source", "target"), nullable=True)
ENDPOINTS = (
    Endpoint("GET", "/v2/languages", DEEPL, "The languages of texts, or of translations", languages, (TYPE,)),
    Endpoint("GET", "/v2/usage", DEEPL, "Characters used in this period, and how many may be", usage),
)
