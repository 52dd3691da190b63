"""Documents: read, translated and written without holding up the event loop.

    bytes ─ read, in a thread ─▶ segments ─ TranslationService, with all other requests ─▶ write, in a thread ─▶ bytes

Reading and writing is the formats' own work (`formats/translate_document.py`), the same as on the command line. Few
documents are read at a time: each may take as much memory as its format allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeVar

import anyio
import anyio.to_thread

from regard.formats.document import Document, FormatOptions
from regard.formats.table import reader_of
from regard.formats.translate_document import write_translated
from regard.serve.passages import Passages, translate_passages
from regard.serve.problems import ServeError
from regard.serve.service import TranslationService
from regard.serve.settings import ServeConfig
from regard.text.glossary import Glossary
from regard.translation.options import TranslateOptions

AT_ONCE = 2  # documents that are read or written

T = TypeVar("T")


class ReadDocument(NamedTuple):
    document: Document
    characters: int  # of its segments


class DocumentService:
    def __init__(self, config: ServeConfig, translation: TranslationService) -> None:
        self.config, self.translation = config, translation

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(AT_ONCE)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    async def read(self, data: bytes, format: str, target: str) -> ReadDocument:
        """A document within the limits; `InputError` where it is damaged."""
        document = await self._in_thread(lambda: reader_of(format)(data, FormatOptions(target=target)))
        characters = sum(len(segment.text) for segment in document.segments)
        if characters > (most := self.config.document_characters):
            raise ServeError(413, f"the document has {characters:,} characters, but at most {most:,} are translated")
        return ReadDocument(document, characters)

    async def translate(
        self, read: ReadDocument, source: str | None, target: str, glossary: Glossary | None = None
    ) -> bytes:
        """The same document in another language. It is in one language, which is found in all of it."""
        options = TranslateOptions(glossary=glossary)
        asked = Passages([read.document.segments], target, source, options)
        deadline = time.monotonic() + self.config.document_timeout
        (found,) = await translate_passages(self.translation, asked, deadline)
        return await self._in_thread(lambda: write_translated(read.document, found.translations).data)
