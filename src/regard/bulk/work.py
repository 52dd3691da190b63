"""What is done with one chunk of a file: read it, translate its texts, write the chunk of the output and of the report.

The result depends on the chunk and the task alone, so that any process may do it, in any order.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.bulk.chunks import FileChunk, paragraphs
from regard.bulk.rows import PLAIN, OutputForm, report_row, written
from regard.bulk.tally import Tally
from regard.data.compressed import member
from regard.data.text_files import decode_lines
from regard.formats.stretches import StretchReader
from regard.formats.translate_document import translate_read
from regard.translation.translation import Translation

if TYPE_CHECKING:
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator

Progress = Callable[[int], None]  # called with the number of sentences that were finished


@dataclass(frozen=True)
class FileTask:
    """What to do with the chunks of a file. It can be sent to another process."""

    name: str  # of the input, for errors
    options: Mapping[str, Any]  # of `Translator.translate`
    form: OutputForm = PLAIN
    reader: StretchReader | None = None  # None: texts are lines
    report: bool = False
    suffix: str = ""  # of the output; says how it is compressed


@dataclass(frozen=True)
class ChunkResult:
    output: bytes
    report: bytes = b""
    tally: Tally = field(default_factory=Tally)


class ChunkTranslator:
    """A translator that does a task, chunk by chunk."""

    def __init__(
        self, translator: TextTranslator | TextChain, task: FileTask, progress: Progress | None = None
    ) -> None:
        self.translator, self.task, self.progress = translator, task, progress

    def __call__(self, chunk: FileChunk) -> ChunkResult:
        tally, report = Tally(texts=chunk.texts), list[str]()
        if self.task.reader is not None:
            output = self._stretch(self.task.reader, chunk, tally, report)
        else:
            output = self._lines(chunk, tally, report)
        return ChunkResult(member(self.task.suffix, output), "".join(report).encode(), tally)

    def _lines(self, chunk: FileChunk, tally: Tally, report: list[str]) -> bytes:
        lines = decode_lines(io.BytesIO(chunk.data), self.task.name, first=chunk.first_line)
        texts = list(paragraphs(lines) if self.task.options["split"] == "wrapped" else lines)
        found = self._translate(texts, tally)
        for number, translation in enumerate(found, start=chunk.first + 1):
            self._count(f"line {number}", translation, tally, report)
        tag = self.task.options.get("tag")
        return "".join(written(chunk.first, found, self.task.form, self.translator, tag)).encode()

    def _stretch(self, reader: StretchReader, chunk: FileChunk, tally: Tally, report: list[str]) -> bytes:
        document, tally.kept = reader.read(chunk.data, chunk.first_line)
        split = self.task.options["split"]

        def translate(texts: Sequence[str], wrapped: bool) -> Sequence[Translation]:
            return self._translate(texts, tally, "wrapped" if wrapped and split == "sentences" else split)

        found = translate_read(document, translate)
        for segment, translation in zip(found.segments, found.translations, strict=True):
            whole = segment.place == "the text"
            self._count(segment.place, translation, tally, report, chunk.first_line if whole else None)
        for line in found.warnings:
            tally.remark(line)
        return found.data

    def _translate(self, texts: Sequence[str], tally: Tally, split: str | None = None) -> Sequence[Translation]:
        options: Any = {**self.task.options, "progress": self.progress}
        if split is not None:
            options["split"] = split
        if options.get("rules") and not tally.parsed and (rules := self.translator.rule_system):
            tally.parsed = any(rules(text) is not None for text in texts)
        return self.translator.translate(texts, **options)

    def _count(
        self, place: str, translation: Translation, tally: Tally, report: list[str], first_line: int | None = None
    ) -> None:
        places = tally.add(place, translation, first_line)
        if self.task.report:
            report += [report_row(*row) for row in zip(places, translation.sentences, strict=True)]
