"""Chunks of a file: cutting the input into chunks, translating a chunk, and counting.

Chunk boundaries depend on the file and on the number of lines in a chunk, which a resumed run takes from its journal.
The result of a chunk depends on the chunk and the task alone, so any process can translate it, in any order.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from regard.bulk.rows import PLAIN, OutputForm, report_row, written
from regard.data.compressed import member
from regard.data.text_files import decode_lines
from regard.translation.translation import Translation

if TYPE_CHECKING:
    from regard.formats.translate_document import ChunkReader
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator

MAX_CHUNK_LINES = 2000  # enough to sort into full batches
MIN_CHUNK_LINES = 100
CHUNKS_OF_WORKER = 4  # with several workers, so that all end at about the same time
CHUNKS_ON_GPU = 1  # of each worker: the searches of a chunk take nearly as long for fewer lines
MAX_CHUNK_BYTES = 1 << 20  # a chunk that reaches this size takes no further line
MAX_PARAGRAPH_BYTES = 16 << 20  # a paragraph of wrapped lines that reaches this size is cut at the end of a line


@dataclass(frozen=True)
class FileChunk:
    """Whole lines of a file, or whole rows of a table."""

    number: int  # from 0
    first: int  # number of texts (lines, paragraphs or rows) before this chunk
    first_line: int  # the number of its first line, from 1
    texts: int
    lines: int
    data: Any  # the bytes of its lines, or a table of rows

    def __str__(self) -> str:
        """
        >>> print(FileChunk(1, 2000, 2001, 1500, 1500, b""))
        lines 2,001 to 3,500
        """
        return f"lines {self.first_line:,} to {self.first_line + self.lines - 1:,}"


def chunk_size(lines: int, workers: int, on_gpu: bool) -> int:
    """Returns the lines of a chunk, for a file of so many lines.

    >>> chunk_size(3_003, 1, False), chunk_size(3_003, 2, False), chunk_size(30_000, 32, True)
    (2000, 376, 938)
    """
    if workers == 1:
        return MAX_CHUNK_LINES
    chunks = workers * (CHUNKS_ON_GPU if on_gpu else CHUNKS_OF_WORKER)
    return min(max(-(-lines // chunks), MIN_CHUNK_LINES), MAX_CHUNK_LINES)


def line_chunks(lines: Iterable[bytes], wrapped: bool = False, max_lines: int | None = None) -> Iterator[FileChunk]:
    """Cuts lines into chunks. With `wrapped` a text is a paragraph (the lines up to a blank one) or a blank line, and a
    chunk holds whole paragraphs."""
    number = first = texts = size = 0
    first_line = 1
    held: list[bytes] = []
    inside = False  # a paragraph has begun and not ended
    for line in lines:
        blank = wrapped and not line.decode("utf-8", "replace").strip()
        full = len(held) >= (max_lines or MAX_CHUNK_LINES) or size >= MAX_CHUNK_BYTES
        if held and full and (not wrapped or blank or not inside or size >= MAX_PARAGRAPH_BYTES):
            yield FileChunk(number, first, first_line, texts, len(held), b"".join(held))
            number, first, first_line = number + 1, first + texts, first_line + len(held)
            held, texts, size, inside = [], 0, 0, False
        texts += blank or not (wrapped and inside)
        inside = not blank
        held.append(line)
        size += len(line)
    yield FileChunk(number, first, first_line, texts, len(held), b"".join(held))


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Joins the lines up to the next blank line into one text; a blank line is a text of its own."""
    some: list[str] = []
    for line in lines:
        if line.strip():
            some.append(line)
            continue
        if some:
            yield "\n".join(some)
        some = []
        yield line
    if some:
        yield "\n".join(some)


MAX_NAMED_PLACES = 10  # maximum places of marked sentences listed
MAX_SHOWN_REMARKS = 5  # maximum remarks shown


@dataclass
class TranslationCounts:
    """Counts and samples gathered while a file is translated, of bounded size. The counts of a file are those of its
    chunks, joined in order."""

    texts: int = 0
    sentences: int = 0
    doubtful: int = 0  # sentences
    check: int = 0  # sentences
    places: int = 0  # distinct places of marked sentences
    named: list[str] = field(default_factory=list)  # the first of these places
    reason: str = ""  # why the first of them is marked
    kept: int = 0  # selected cells or values without a letter, which are copied unchanged
    remarks: int = 0
    shown: list[str] = field(default_factory=list)  # the first remarks
    parsed: bool = False  # whether the rules could parse any text
    _last = ""  # the last place that was listed; not a field

    def add(self, place: str, translation: Translation, first_line: int | None = None) -> list[str]:
        """Counts a translation and returns the place of each of its sentences. With `first_line`, the line of the file
        where the text begins, the place of a sentence is its line."""
        found, at, line = [], 0, first_line or 0
        for sentence in translation.sentences:
            if first_line is not None:
                line, at = line + translation.source.count("\n", at, sentence.source_span[0]), sentence.source_span[0]
                place = f"line {line}"
            found.append(place)
            self.sentences += 1
            if sentence.mark:
                self.doubtful += sentence.mark == "doubtful"
                self.check += sentence.mark == "check"
                self.reason = self.reason or str(sentence.reasons[0])
                self._name(place)
        return found

    def _name(self, place: str) -> None:
        if self._last != place and place not in self.named:
            self.places += 1
            self.named = [*self.named, place][:MAX_NAMED_PLACES]
        self._last = place

    def remark(self, line: str) -> None:
        self.remarks += 1
        self.shown = [*self.shown, line][:MAX_SHOWN_REMARKS]

    def join(self, later: TranslationCounts) -> None:
        """Adds the counts of the next chunk."""
        for name in ("texts", "sentences", "doubtful", "check", "places", "kept", "remarks"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.named = [*self.named, *later.named][:MAX_NAMED_PLACES]
        self.shown = [*self.shown, *later.shown][:MAX_SHOWN_REMARKS]
        self.reason = self.reason or later.reason
        self.parsed = self.parsed or later.parsed

    def to_dict(self) -> dict[str, Any]:
        """
        >>> TranslationCounts(texts=3, sentences=4).to_dict()
        {'texts': 3, 'sentences': 4}
        """
        return {name: value for name, value in asdict(self).items() if value}


Progress = Callable[[int], None]  # called with the number of finished sentences


@dataclass(frozen=True)
class FileTask:
    """The settings for translating the chunks of a file; can be pickled."""

    name: str  # name of the input, for error messages
    options: Mapping[str, Any]  # options of `Translator.translate`
    form: OutputForm = PLAIN
    reader: ChunkReader | None = None  # None: texts are lines
    report: bool = False
    suffix: str = ""  # suffix of the output, which determines its compression


@dataclass(frozen=True)
class ChunkResult:
    output: bytes
    report: bytes = b""
    tally: TranslationCounts = field(default_factory=TranslationCounts)


class ChunkTranslator:
    """Translates the chunks of a `FileTask` one by one."""

    def __init__(
        self, translator: TextTranslator | TextChain, task: FileTask, progress: Progress | None = None
    ) -> None:
        self.translator, self.task, self.progress = translator, task, progress

    def __call__(self, chunk: FileChunk) -> ChunkResult:
        tally, report = TranslationCounts(texts=chunk.texts), list[str]()
        if self.task.reader is not None:
            output = self._document(self.task.reader, chunk, tally, report)
        else:
            output = self._lines(chunk, tally, report)
        return ChunkResult(member(self.task.suffix, output), "".join(report).encode(), tally)

    def _lines(self, chunk: FileChunk, tally: TranslationCounts, report: list[str]) -> bytes:
        lines = decode_lines(io.BytesIO(chunk.data), self.task.name, first=chunk.first_line)
        texts = list(paragraphs(lines) if self.task.options["split"] == "wrapped" else lines)
        found = self._translate(texts, tally)
        for number, translation in enumerate(found, start=chunk.first + 1):
            self._count(f"line {number}", translation, tally, report)
        tag = self.task.options.get("tag")
        return "".join(written(chunk.first, found, self.task.form, self.translator, tag)).encode()

    def _document(self, reader: ChunkReader, chunk: FileChunk, tally: TranslationCounts, report: list[str]) -> bytes:
        from regard.formats.translate_document import translate_read  # here: a plain request has no document

        document, tally.kept = reader(chunk.data, chunk.first_line)
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

    def _translate(
        self, texts: Sequence[str], tally: TranslationCounts, split: str | None = None
    ) -> Sequence[Translation]:
        options: Any = {**self.task.options, "progress": self.progress}
        if split is not None:
            options["split"] = split
        if options.get("rules") and not tally.parsed and (rules := self.translator.rule_system):
            tally.parsed = any(rules(text) is not None for text in texts)
        return self.translator.translate(texts, **options)

    def _count(
        self,
        place: str,
        translation: Translation,
        tally: TranslationCounts,
        report: list[str],
        first_line: int | None = None,
    ) -> None:
        places = tally.add(place, translation, first_line)
        if self.task.report:
            report += [report_row(*row) for row in zip(places, translation.sentences, strict=True)]
