"""DeepL's documents: uploaded, translated in the background (`document_worker.py`), and fetched."""

from __future__ import annotations

from typing import Any

import anyio
from starlette.responses import Response

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
from regard.serve.document_formats import suffix_of, uploaded_format
from regard.serve.endpoint import Call, Endpoint
from regard.serve.fields import Field
from regard.serve.file_names import attachment
from regard.serve.problems import FieldError, ServeError
from regard.serve.state.documents import DocumentJob
from regard.serve.state.store import in_thread

HELD, LOOKED = 2.0, 0.1  # seconds that a question for the status waits for a document to be done, and between looks
DOCUMENT = (
    Field("file", "file", "the document"),
    Field("filename", "text", "its name, where the file has none", None, nullable=True, most=1000),
    SOURCE_LANG,
    TARGET_LANG,
    FORMALITY,
    GLOSSARY_ID,
    GLOSSARY_IDS,
    Field("output_format", "text", "must be the format of the document", None, nullable=True, most=20),
)
KEY = (Field("document_key", "text", "what the upload answered", most=200),)


async def upload(call: Call) -> dict[str, str]:
    """The document is read here, so that one that cannot be translated is refused at once."""
    services = call.services
    name = call["filename"] or call["file"].filename or ""
    format = uploaded_format(name)
    if call["output_format"] and f".{call['output_format'].lower()}" != suffix_of(name):
        raise FieldError("output_format", "the result has the format of the document; leave output_format away")
    check_formality(call)
    source, target = languages_of(call)
    glossaries = glossary_ids_of(call, source)
    await glossary_of(call, glossaries, source, target)
    data = await call["file"].read()
    read = await services.documents.read(data, format, target)
    await services.charge(call.request, read.characters)
    charged = {"subject": call.caller.subject, "characters": read.characters, "period": call.caller.limits.period}
    request = {"format": format, "source": source, "target": target, "glossaries": glossaries, "charged": charged}
    job, key = await in_thread(services.state.documents.submit, call.caller.owner, name, data, request)
    services.document_worker.wake()
    return {"document_id": job.id, "document_key": key}


async def status(call: Call) -> dict[str, Any]:
    """Clients ask every few seconds. One that asks just before the end is answered at the end."""
    job = await job_of(call)
    with anyio.move_on_after(HELD):
        while job.status in ("queued", "translating"):
            await anyio.sleep(LOOKED)
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
    job = await in_thread(documents.get, id, call["document_key"], call.caller.owner)
    if job is None:
        raise ServeError(404, "Document not found: the id or the key is wrong, or it has expired.")
    return job


ENDPOINTS = (
    Endpoint("POST", "/v2/document", DEEPL, "Upload a document to be translated", upload, DOCUMENT),
    Endpoint("POST", "/v2/document/{id}", DEEPL, "How far a document is", status, KEY),
    Endpoint(
        "POST", "/v2/document/{id}/result", DEEPL, "The translated document", result, KEY,
        answers=("application/octet-stream",),
    ),
)  # fmt: skip
