"""DeepL's interface (v2): its error format and language names; /v2/languages, /v2/usage and /v2/translate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.errors import InputError
from regard.formats.html import read_fragment
from regard.formats.markup import TagRules
from regard.formats.xml import read_fragment as read_xml_fragment
from regard.serve.api.api_common import VARIANT_NAMES, VARIANTS, known_code
from regard.serve.api.endpoint import Call, Endpoint, Interface
from regard.serve.errors import FieldError, QuotaExceededError, ServeError, UnsupportedPairError
from regard.serve.http.fields import Field
from regard.serve.segments import MarkupText, PlainText, SegmentRequest, TranslatedSegments, translate_segments
from regard.serve.state.glossaries import MOST_ENTRIES, StoredGlossary
from regard.serve.state.store import in_thread
from regard.serve.translation_service import run_in_thread_if_long
from regard.text.language import Register, language_name
from regard.text.sentences import sentence_spans
from regard.translation.options import Split, TranslateOptions

QUOTA = 456  # DeepL's own status: the quota of the period is used up
UNLIMITED = 1_000_000_000_000  # the limit that DeepL reports for an account without one


def error_body(error: ServeError) -> dict[str, str]:
    """The body of an error: DeepL's own message if it has one, with ours as the detail."""
    if error.missing:
        return {"message": f"Parameter '{error.field}' not specified."}
    if isinstance(error, UnsupportedPairError):
        return {"message": unsupported("target_lang"), "detail": error.message}
    if isinstance(error, QuotaExceededError):
        return {"message": "Quota Exceeded", "detail": error.message}
    return {"message": error.message}


def unsupported(name: str) -> str:
    return f"Value for '{name}' not supported."


def error_status(error: ServeError) -> int:
    return QUOTA if isinstance(error, QuotaExceededError) else error.status


DEEPL = Interface(
    "DeepL",
    "Version 2 of DeepL's interface: DeepL's clients work with this server when they get its address as server URL.",
    error_body,
    error_status,
)
SOURCE_LANG = Field(
    "source_lang", "text", "its language; none: found in the text", None, nullable=True, most=40,
    known="DeepL's sources",
)  # fmt: skip
TARGET_LANG = Field(
    "target_lang", "text", "the language to translate into", example="FR", most=40, known="DeepL's targets"
)
FORMALITY = Field(
    "formality", "choice", "more or less, for the targets that support it; prefer_…: where they do", "default",
    nullable=True,
    choices=("default", "more", "less", "prefer_more", "prefer_less"),
)  # fmt: skip
GLOSSARY_ID = Field("glossary_id", "text", "a glossary of /v2/glossaries", None, nullable=True, most=100)
MAX_GLOSSARIES = 10
GLOSSARY_IDS = Field(
    "glossary_ids", "strings", f"up to {MAX_GLOSSARIES} glossaries, instead", (), nullable=True, most=MAX_GLOSSARIES
)


def languages_of(call: Call) -> tuple[str | None, str]:
    """The codes of the source (None: to be detected) and the target."""
    pool = call.services.pool
    source = one_language(call, "source_lang") if call["source_lang"] else None
    target = one_language(call, "target_lang")
    if source is not None and source != target and target not in pool.targets(source):
        message = f"there is no translator from {language_name(source)} to {language_name(target)}"
        raise UnsupportedPairError(source, target, message)
    return source, target


def one_language(call: Call, name: str) -> str:
    code = known_code(call[name] or "", call.services.pool.languages)
    if code is None:
        raise FieldError(name, unsupported(name))
    return code


REGISTERS: dict[str, Register] = {"more": "formal", "less": "informal"}


def formality_of(call: Call, target: str) -> Register | None:
    """The option `formality`; raises if a language without it is asked for more than a preference."""
    asked = call["formality"] or "default"
    if call.services.pool.has_formality(target):
        return REGISTERS.get(asked.removeprefix("prefer_"))
    if asked in REGISTERS:
        raise FieldError("formality", "'formality' is not supported for given 'target_lang'.")
    return None


def glossary_ids_of(call: Call, source: str | None) -> list[str]:
    """The different glossary ids of a request, from either of the two parameters."""
    listed = (id.strip() for some in call["glossary_ids"] or () for id in some.split(",") if id.strip())
    ids = [call["glossary_id"]] if call["glossary_id"] else list(dict.fromkeys(listed))
    if len(ids) > MAX_GLOSSARIES:
        raise FieldError("glossary_ids", f"'glossary_ids' has at most {MAX_GLOSSARIES} ids, but {len(ids):,} were sent")
    if ids and source is None:
        raise FieldError("source_lang", "'source_lang' is required if using a glossary", missing=False)
    return ids


def not_found() -> ServeError:
    return ServeError(404, "Glossary not found.")


async def find_glossaries(call: Call, source: str | None, target: str) -> list[StoredGlossary]:
    """The glossaries of a translation; raises if one is not for its languages, or if they are too large together."""
    ids = glossary_ids_of(call, source)
    found = await in_thread(call.services.state.glossaries.find, call.client.owner, ids) if ids else []
    if len(found) < len(ids):
        raise not_found()
    for one in found:
        if (one.source, one.target) != (source, target):
            languages = f"from {one.source} to {one.target}"
            raise FieldError("glossary_id", f'The glossary "{one.name}" is {languages}, not for these languages.')
    if (entries := sum(one.entries for one in found)) > MOST_ENTRIES:
        message = f"the glossaries have {entries:,} entries together, but at most {MOST_ENTRIES:,} are used"
        raise FieldError("glossary_ids", message)
    return found


# ── languages and usage ──────────────────────────────────────────────────────────────────────────────────────────────


async def languages(call: Call) -> list[dict[str, Any]]:
    pool = call.services.pool
    if call["type"] == "source":
        sources = {direction.source for direction in pool.directions}
        return [{"language": code.upper(), "name": language_name(code)} for code in sorted(sources)]
    codes = sorted({code for source in pool.languages for code in pool.targets(source)})
    variants = [(variant, code) for code in codes for variant in VARIANTS.get(code, (code.upper(),))]
    return [
        {
            "language": variant,
            "name": VARIANT_NAMES.get(variant, language_name(code)),
            "supports_formality": pool.has_formality(code),
        }
        for variant, code in variants
    ]


async def usage(call: Call) -> dict[str, int]:
    client, limiter = call.client, call.services.state.limiter
    used = await in_thread(limiter.usage, client.subject, client.limits.period)
    return {"character_count": used, "character_limit": client.limits.characters or UNLIMITED}


TYPE = Field("type", "choice", "source or target", "source", choices=("source", "target"), nullable=True)

# ── /v2/translate ─────────────────────────────────────────────────────────────────────────────────────────────────────


MAX_TEXTS = 50
MAX_CONTEXT = 1000  # last characters of `context` that are read
# `split_sentences` → the option `split`.
SPLITS: dict[str, Split] = {"1": "sentences", "nonewlines": "wrapped", "0": "lines"}


def tags(name: str, help: str) -> Field:
    return Field(name, "strings", f"{help}: a list, or a text with commas", (), nullable=True)


TRANSLATE = (
    Field("text", "strings", f"a text, or up to {MAX_TEXTS}", least=1, most=MAX_TEXTS,
          example=["The cat is on the mat."]),
    SOURCE_LANG,
    TARGET_LANG,
    Field("tag_handling", "choice", "xml or html; none: plain text", None, choices=("xml", "html"), nullable=True),
    tags("ignore_tags", "elements whose content stays as it is"),
    tags("splitting_tags", "elements that end a text"),
    tags("non_splitting_tags", "elements that stand inside a sentence"),
    Field("outline_detection", "flag", "whether other elements are judged by where they stand", True, nullable=True),
    Field("split_sentences", "choice", "0: a line at a time; nonewlines: breaks are spaces", None,
          choices=tuple(SPLITS), nullable=True),
    Field("preserve_formatting", "flag", "changes nothing: spaces and case are kept", False, nullable=True),
    FORMALITY,
    GLOSSARY_ID,
    GLOSSARY_IDS,
    Field("context", "text", "text before, not translated; its last sentence is the context of the first", None,
          nullable=True),
    Field("model_type", "text", "changes nothing: there is one kind of model", None, nullable=True, most=60),
    Field("show_billed_characters", "flag", "changes nothing: they are always shown", True, nullable=True),
)  # fmt: skip


async def translate(call: Call) -> dict[str, Any]:
    texts = call["text"]
    if len(texts) > MAX_TEXTS:
        raise FieldError("text", f"Too many texts: {len(texts):,} were sent, but at most {MAX_TEXTS} are translated.")
    call.services.translation.check_size(texts)
    source, target = languages_of(call)
    formality = formality_of(call, target)
    glossaries, services = await find_glossaries(call, source, target), call.services
    glossary = await services.parse_glossary(services.state.glossaries.merge, glossaries) if glossaries else None
    characters = sum(map(len, texts))
    read = await run_in_thread_if_long(characters, read_texts, call, texts)
    options = TranslateOptions(glossary=glossary, split=split_of(call), formality=formality)
    request = SegmentRequest([one.segments for one in read], target, source, options, sentence_before(call, source))
    found = await translate_segments(call.services.translation, request)
    return {"translations": await run_in_thread_if_long(characters, responses, call, read, found)}


def sentence_before(call: Call, source: str | None) -> str:
    """The last sentence of the parameter `context`; empty without one."""
    context = (call["context"] or "")[-MAX_CONTEXT:]
    spans = sentence_spans(context, source or "en")
    return context[slice(*spans[-1])] if spans else ""


def split_of(call: Call) -> Split:
    """The option `split`. In markup, the format itself handles line breaks: in HTML they are spaces."""
    split = SPLITS[call["split_sentences"] or "1"]
    return "sentences" if call["tag_handling"] and split == "wrapped" else split


def responses(call: Call, read: Sequence[PlainText | MarkupText], found: Sequence[TranslatedSegments]) -> list[Any]:
    kind = call["model_type"]
    used = {} if kind is None else {"model_type_used": kind.removeprefix("prefer_")}
    return [
        {
            "detected_source_language": done.source.upper(),
            "text": one.translated(done.translations, 0).text,
            "billed_characters": len(text),
            **used,
        }
        for text, one, done in zip(call["text"], read, found, strict=True)
    ]


def read_texts(call: Call, texts: Sequence[str]) -> list[PlainText | MarkupText]:
    if call["tag_handling"] is None:
        return [PlainText(text) for text in texts]
    html = call["tag_handling"] == "html"
    rules = rules_of(call, lower=html)
    try:
        return [MarkupText(read_fragment(text, rules) if html else read_xml_fragment(text, rules)) for text in texts]
    except InputError as problem:
        raise ServeError(400, f"Tag handling parsing failed, please check input. ({problem})", field="text") from None


def rules_of(call: Call, lower: bool) -> TagRules:
    """The rules of the tag parameters; HTML's names are in lower case."""

    def names(field: str) -> frozenset[str]:
        given = [name.strip() for some in call[field] or () for name in some.split(",") if name.strip()]
        return frozenset(name.lower() if lower else name for name in given)

    return TagRules(
        names("ignore_tags"),
        names("splitting_tags"),
        names("non_splitting_tags"),
        outline=call["outline_detection"] is not False,
        preserve=call["split_sentences"] != "nonewlines",
        identifiers=False,
    )


ENDPOINTS = (
    Endpoint("GET", "/v2/languages", DEEPL, "The languages of texts, or of translations", languages, (TYPE,)),
    Endpoint("GET", "/v2/usage", DEEPL, "Characters used in this period, and how many may be", usage),
    Endpoint("POST", "/v2/translate", DEEPL, "Translate texts", translate, TRANSLATE),
)  # fmt: skip
