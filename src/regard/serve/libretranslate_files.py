"""LibreTranslate's /translate_file and /download_file, and /suggest.

A result is kept for a while under a name that cannot be guessed: it holds 384 random bits, and who knows it may fetch
the file. Browsers open the address without a key, so none is asked for.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.responses import Response

from regard.serve.document_formats import suffix_of, uploaded_format
from regard.serve.endpoint import Call, Endpoint
from regard.serve.fields import Field
from regard.serve.file_names import attachment, plain_name
from regard.serve.libretranslate import API_KEY, LIBRETRANSLATE, SOURCE_CODE, TARGET_CODE, languages_of
from regard.serve.problems import ServeError
from regard.serve.state.store import in_thread

NAME = re.compile(r"([0-9a-f]{32})([0-9a-f]{64})\..*", re.DOTALL)
FILE = (Field("file", "file", "the document"), SOURCE_CODE, TARGET_CODE, API_KEY)
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
    format = uploaded_format(file.filename)
    source, target = languages_of(call)
    read = await services.documents.read(await file.read(), format, target)
    await services.charge(call.request, read.characters)
    result = await services.documents.translate(read, source, target)
    name = translated_name(file.filename, target)
    job, key = await in_thread(services.state.documents.keep, call.caller.owner, name, result, read.characters)
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
    await in_thread(add, call.caller.subject, source or call["source"], target, call["q"], call["s"])
    return {"success": True}


ENDPOINTS = (
    Endpoint("POST", "/translate_file", LIBRETRANSLATE, "Translate a file", translate_file, FILE),
    Endpoint(
        "GET", "/download_file/{name}", LIBRETRANSLATE, "A translated file", download_file, open=True,
        answers=("application/octet-stream",),
    ),
    Endpoint("POST", "/suggest", LIBRETRANSLATE, "Suggest a better translation", suggest, SUGGEST, charged=()),
)  # fmt: skip
