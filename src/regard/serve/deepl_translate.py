"""DeepL's /v2/translate: texts, plain or with XML or HTML in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.errors import InputError
from regard.formats.html import read_fragment
from regard.formats.tag_rules import TagRules
from regard.formats.xml import XmlFragment
from regard.serve.deepl import (
    DEEPL,
    FORMALITY,
    GLOSSARY_ID,
    GLOSSARY_IDS,
    SOURCE_LANG,
    TARGET_LANG,
    check_formality,
    glossary_ids_of,
    languages_of,
)
from regard.serve.deepl_glossaries import glossary_of
from regard.serve.endpoint import Call, Endpoint
from regard.serve.fields import Field
from regard.serve.passages import Passages, TranslatedPassage, translate_passages
from regard.serve.problems import FieldError, ServeError
from regard.serve.request_texts import MarkupText, PlainText
from regard.serve.service import off_the_loop
from regard.translation.options import Split, TranslateOptions

MOST_TEXTS = 50
# What is translated at a time, by `split_sentences`.
SPLITS: dict[str, Split] = {"1": "sentences", "nonewlines": "wrapped", "0": "lines"}


def tags(name: str, help: str) -> Field:
    return Field(name, "strings", f"{help}: a list, or a text with commas", (), nullable=True)


TRANSLATE = (
    Field("text", "strings", f"a text, or up to {MOST_TEXTS}", least=1, most=MOST_TEXTS,
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
    Field("context", "text", "changes nothing: sentences are translated one by one", None, nullable=True),
    Field("model_type", "text", "changes nothing: there is one kind of model", None, nullable=True, most=60),
    Field("show_billed_characters", "flag", "changes nothing: they are always shown", True, nullable=True),
)  # fmt: skip


async def translate(call: Call) -> dict[str, Any]:
    texts = call["text"]
    if len(texts) > MOST_TEXTS:
        raise FieldError("text", f"Too many texts: {len(texts):,} were sent, but at most {MOST_TEXTS} are translated.")
    call.services.translation.check_size(texts)
    check_formality(call)
    source, target = languages_of(call)
    glossary = await glossary_of(call, glossary_ids_of(call, source), source, target)
    characters = sum(map(len, texts))
    read = await off_the_loop(characters, read_texts, call, texts)
    options = TranslateOptions(glossary=glossary, split=split_of(call))
    asked = Passages([one.segments for one in read], target, source, options)
    found = await translate_passages(call.services.translation, asked)
    return {"translations": await off_the_loop(characters, written, call, read, found)}


def split_of(call: Call) -> Split:
    """In marked-up text line breaks are read by the format: in HTML they are spaces."""
    split = SPLITS[call["split_sentences"] or "1"]
    return "sentences" if call["tag_handling"] and split == "wrapped" else split


def written(call: Call, read: Sequence[PlainText | MarkupText], found: Sequence[TranslatedPassage]) -> list[Any]:
    kind = call["model_type"]
    used = {} if kind is None else {"model_type_used": kind.removeprefix("prefer_")}
    return [
        {
            "detected_source_language": done.source.upper(),
            "text": one.answer(done.translations, 0).text,
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
        return [MarkupText(read_fragment(text, rules) if html else XmlFragment(text, rules)) for text in texts]
    except InputError as problem:
        raise ServeError(400, f"Tag handling parsing failed, please check input. ({problem})", field="text") from None


def rules_of(call: Call, lower: bool) -> TagRules:
    """HTML's names are in lower case."""

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


ENDPOINTS = (Endpoint("POST", "/v2/translate", DEEPL, "Translate texts", translate, TRANSLATE),)
