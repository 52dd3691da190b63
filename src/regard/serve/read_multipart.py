"""Forms with files (`multipart/form-data`), read strictly: a text that is not in its character set is refused.

Starlette's reader takes such bytes for Latin-1, so that a client's mistake would be translated as `cafÃ©`.
"""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from regard.serve.problems import ServeError

MOST_FILES, MOST_FIELDS, LARGEST_FIELD = 10, 2000, 20_000_000  # bytes


class StrictFormParser(MultiPartParser):
    def on_part_end(self) -> None:
        part = self._current_part
        if part.file is None:
            try:
                part.data.decode(self._charset)
            except UnicodeDecodeError as problem:
                name = self._charset.upper()
                raise MultiPartException(f"{part.field_name} is not {name} (byte {problem.start:,})") from None
        super().on_part_end()


async def read_multipart(request: Request) -> FormData:
    """The fields and files of a form. `close_files` ends the files."""
    limits = {"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": LARGEST_FIELD}
    try:
        request.state.form = await StrictFormParser(request.headers, request.stream(), **limits).parse()
    except MultiPartException as problem:
        raise ServeError(400, f"the form cannot be read: {problem.message}") from None
    except (ValueError, KeyError):
        raise ServeError(400, "the form cannot be read: it is damaged") from None
    form: FormData = request.state.form
    return form


async def close_files(request: Request) -> None:
    """Remove the files that were uploaded."""
    form: FormData | None = getattr(request.state, "form", None)
    if form is not None:
        await form.close()
