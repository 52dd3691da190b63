"""DeepL's glossaries: made once, listed, read, used and deleted by the one who made them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from regard.serve.deepl import DEEPL, one_language
from regard.serve.endpoint import Call, Endpoint
from regard.serve.fields import Field
from regard.serve.problems import FieldError, ServeError
from regard.serve.state.glossaries import StoredGlossary, find_glossary, read_entries
from regard.serve.state.store import in_thread
from regard.text.glossary import Glossary

TSV = "text/tab-separated-values"
GLOSSARY = (
    Field("name", "text", "what it is called", example="Terms of the house"),
    Field("source_lang", "text", "the language of its terms", example="en", most=40, known="sources"),
    Field("target_lang", "text", "the language of their translations", example="fr", most=40, known="targets"),
    Field(
        "entries", "text", "lines of a term, a tab or comma, and its translation", example="credit card\tcarte bancaire"
    ),
    Field("entries_format", "choice", "tsv or csv", "tsv", choices=("tsv", "csv"), nullable=True),
)


def row(found: StoredGlossary) -> dict[str, Any]:
    created = datetime.fromtimestamp(found.created, UTC)
    return {
        "glossary_id": found.id,
        "name": found.name,
        "ready": True,
        "source_lang": found.source,
        "target_lang": found.target,
        "creation_time": f"{created:%Y-%m-%dT%H:%M:%S.%f}Z",
        "entry_count": found.entries,
    }


def not_found() -> ServeError:
    return ServeError(404, "Glossary not found.")


async def create(call: Call) -> dict[str, Any]:
    source, target = one_language(call, "source_lang"), one_language(call, "target_lang")
    pairs = read_entries(call["entries"], call["entries_format"] or "tsv")
    glossaries = call.services.state.glossaries
    return row(await in_thread(glossaries.create, call.caller.owner, call["name"], source, target, pairs))


async def listed(call: Call) -> dict[str, Any]:
    found = await in_thread(call.services.state.glossaries.all, call.caller.owner)
    return {"glossaries": [row(one) for one in found]}


async def one(call: Call) -> dict[str, Any]:
    found = await in_thread(call.services.state.glossaries.get, call.caller.owner, id_of(call))
    if found is None:
        raise not_found()
    return row(found)


async def entries(call: Call) -> Response:
    found = await in_thread(call.services.state.glossaries.entries, call.caller.owner, id_of(call))
    if found is None:
        raise not_found()
    return Response(found, media_type=TSV)


async def delete(call: Call) -> Response:
    if not await in_thread(call.services.state.glossaries.delete, call.caller.owner, id_of(call)):
        raise not_found()
    return Response(status_code=204)


async def pairs(call: Call) -> dict[str, Any]:
    pool = call.services.pool
    found = [(source, target) for source in pool.languages for target in pool.targets(source)]
    return {"supported_languages": [{"source_lang": source, "target_lang": target} for source, target in found]}


def id_of(call: Call) -> str:
    return str(call.request.path_params["id"])


async def glossary_of(call: Call, ids: list[str], source: str | None, target: str) -> Glossary | None:
    """The glossaries of a translation, as one; they must be for its languages."""
    stored = call.services.state.glossaries
    for id in ids:
        found = await in_thread(stored.get, call.caller.owner, id)
        if found is None:
            raise not_found()
        if (found.source, found.target) != (source, target):
            languages = f"from {found.source} to {found.target}"
            raise FieldError("glossary_id", f'The glossary "{found.name}" is {languages}, not for these languages.')
    return await in_thread(find_glossary, stored, call.caller.owner, ids) if ids else None


ENDPOINTS = (
    Endpoint("POST", "/v2/glossaries", DEEPL, "Make a glossary", create, GLOSSARY, status=201),
    Endpoint("GET", "/v2/glossaries", DEEPL, "Your glossaries", listed),
    Endpoint("GET", "/v2/glossaries/{id}", DEEPL, "A glossary, without its entries", one),
    Endpoint("GET", "/v2/glossaries/{id}/entries", DEEPL, "The entries of a glossary", entries, answers=(TSV,)),
    Endpoint("DELETE", "/v2/glossaries/{id}", DEEPL, "Delete a glossary", delete, status=204),
    Endpoint("GET", "/v2/glossary-language-pairs", DEEPL, "The languages that glossaries are for", pairs),
)
