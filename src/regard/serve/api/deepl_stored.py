"""DeepL's glossaries and documents, which are stored on the server for the client that sent them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio
from starlette.responses import Response

from regard.serve.api import deepl
from regard.serve.api.deepl import DEEPL, not_found
from regard.serve.api.endpoint import Call, Endpoint
from regard.serve.documents import attachment, suffix_of, uploaded_format
from regard.serve.errors import FieldError, ServeError
from regard.serve.http.fields import Field
from regard.serve.state.documents import DocumentJob
from regard.serve.state.glossaries import MOST_CHARACTERS, StoredGlossary, read_entries
from regard.serve.state.store import in_thread

# ── glossaries ────────────────────────────────────────────────────────────────────────────────────────────────────────


TSV = "text/tab-separated-values"
GLOSSARY = (
    Field("name", "text", "what it is called", example="Terms of the house"),
    Field("source_lang", "text", "the language of its terms", example="en", most=40, known="sources"),
    Field("target_lang", "text", "the language of their translations", example="fr", most=40, known="targets"),
    Field("entries", "text", "lines of a term, a tab or comma, and its translation", most=MOST_CHARACTERS,
          example="credit card\tcarte bancaire"),
    Field("entries_format", "choice", "tsv or csv", "tsv", choices=("tsv", "csv"), nullable=True),
)  # fmt: skip


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


async def create(call: Call) -> dict[str, Any]:
    source, target = deepl.one_language(call, "source_lang"), deepl.one_language(call, "target_lang")
    pairs = await call.services.parse_glossary(read_entries, call["entries"], call["entries_format"] or "tsv")
    glossaries = call.services.state.glossaries
    return row(await in_thread(glossaries.create, call.client.owner, call["name"], source, target, pairs))


async def listed(call: Call) -> dict[str, Any]:
    found = await in_thread(call.services.state.glossaries.all, call.client.owner)
    return {"glossaries": [row(one) for one in found]}


async def one(call: Call) -> dict[str, Any]:
    found = await in_thread(call.services.state.glossaries.get, call.client.owner, id_of(call))
    if found is None:
        raise not_found()
    return row(found)


async def entries(call: Call) -> Response:
    found = await in_thread(call.services.state.glossaries.entries, call.client.owner, id_of(call))
    if found is None:
        raise not_found()
    return Response(found, media_type=TSV)


async def delete(call: Call) -> Response:
    if not await in_thread(call.services.state.glossaries.delete, call.client.owner, id_of(call)):
        raise not_found()
    return Response(status_code=204)


async def pairs(call: Call) -> dict[str, Any]:
    pool = call.services.pool
    found = [(source, target) for source in pool.languages for target in pool.targets(source)]
    return {"supported_languages": [{"source_lang": source, "target_lang": target} for source, target in found]}


def id_of(call: Call) -> str:
    return str(call.request.path_params["id"])


# ── documents ─────────────────────────────────────────────────────────────────────────────────────────────────────────


STATUS_SECONDS, POLL_SECONDS = 2.0, 0.1  # how long a status request waits for the end of a job, and between checks
DOCUMENT = (
    Field("file", "file", "the document"),
    Field("filename", "text", "its name, where the file has none", None, nullable=True, most=1000),
    deepl.SOURCE_LANG,
    deepl.TARGET_LANG,
    deepl.FORMALITY,
    deepl.GLOSSARY_ID,
    deepl.GLOSSARY_IDS,
    Field("output_format", "text", "must be the format of the document", None, nullable=True, most=20),
)
KEY = (Field("document_key", "text", "what the upload answered", most=200),)


async def upload(call: Call) -> dict[str, str]:
    """Store a document. It is parsed here, so that a document that cannot be translated is refused at once."""
    services = call.services
    name = call["filename"] or call["file"].filename or ""
    data = await call["file"].read()
    format = uploaded_format(name, data)
    if call["output_format"] and f".{call['output_format'].lower()}" != suffix_of(name):
        raise FieldError("output_format", "the result has the format of the document; leave output_format away")
    source, target = deepl.languages_of(call)
    formality = deepl.formality_of(call, target)
    glossaries = [one.id for one in await deepl.find_glossaries(call, source, target)]
    read = await services.documents.read(data, format, target)
    await services.charge(call.request, read.characters)
    charged = {"subject": call.client.subject, "characters": read.characters, "period": call.client.limits.period}
    request = {"format": format, "source": source, "target": target, "glossaries": glossaries, "charged": charged}
    request["formality"] = formality
    job, key = await in_thread(services.state.documents.submit, call.client.owner, name, data, request)
    services.document_worker.wake()
    return {"document_id": job.id, "document_key": key}


async def status(call: Call) -> dict[str, Any]:
    """The status of a document. The response waits up to `STATUS_SECONDS` for the end of the translation."""
    job = await job_of(call)
    with anyio.move_on_after(STATUS_SECONDS):
        while job.status in ("queued", "translating"):
            await anyio.sleep(POLL_SECONDS)
            job = await job_of(call)
    answer: dict[str, Any] = {"document_id": job.id, "status": job.status}
    if job.status == "done":
        answer["billed_characters"] = job.characters
    if job.status == "error":
        answer["error_message"] = job.message
    return answer


async def result(call: Call) -> Response:
    job = await job_of(call)
    if job.status in ("queued", "translating"):
        raise ServeError(503, "The document is not translated yet.", retry_after=1)
    found = await in_thread(call.services.state.documents.result, job)
    if found is None:
        raise ServeError(404, f"There is no result. {job.message}".strip())
    return Response(found, media_type="application/octet-stream", headers={"Content-Disposition": attachment(job.name)})


async def job_of(call: Call) -> DocumentJob:
    id, documents = str(call.request.path_params["id"]), call.services.state.documents
    job = await in_thread(documents.get, id, call["document_key"], call.client.owner)
    if job is None:
        raise ServeError(404, "Document not found: the id or the key is wrong, or it has expired.")
    return job


ENDPOINTS = (
    Endpoint("POST", "/v2/glossaries", DEEPL, "Make a glossary", create, GLOSSARY, status=201),
    Endpoint("GET", "/v2/glossaries", DEEPL, "Your glossaries", listed),
    Endpoint("GET", "/v2/glossaries/{id}", DEEPL, "A glossary, without its entries", one),
    Endpoint("GET", "/v2/glossaries/{id}/entries", DEEPL, "The entries of a glossary", entries, media_type=TSV),
    Endpoint("DELETE", "/v2/glossaries/{id}", DEEPL, "Delete a glossary", delete, status=204),
    Endpoint("GET", "/v2/glossary-language-pairs", DEEPL, "The languages that glossaries are for", pairs),
    Endpoint("POST", "/v2/document", DEEPL, "Upload a document to be translated", upload, DOCUMENT),
    Endpoint("POST", "/v2/document/{id}", DEEPL, "How far a document is", status, KEY),
    Endpoint(
        "POST", "/v2/document/{id}/result", DEEPL, "The translated document", result, KEY,
        media_type="application/octet-stream",
    ),
)  # fmt: skip
