"""Translates a file of any size: reads, translates and writes it in chunks.

    file ─ survey ─ chunks ─▶ ChunkTranslator, here or in other processes ─▶ PartialOutput ─ finish ─▶ file

Memory holds a few chunks at a time. A stopped run can be resumed, even after kill -9; the output is the same, byte for
byte. If the model is on a GPU, other processes have no model: this one searches for all of them (`translator_pool.py`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.bulk.chunks import (
    MAX_CHUNK_LINES,
    ChunkResult,
    ChunkTranslator,
    FileChunk,
    FileTask,
    Progress,
    TranslationCounts,
    chunk_size,
    line_chunks,
)
from regard.bulk.journal import ChunkEntry, FileName, damaged, input_identity, read_chunks, work_identity
from regard.bulk.partial_output import CHUNK_LINES, WHOLE, PartialOutput, ProcessShare
from regard.bulk.rows import PLAIN, OutputForm, check_form
from regard.bulk.translator_pool import MAX_WORKERS, MakeTranslator, default_workers, searches_for_others, worker_pool
from regard.data.compressed import COMPRESSED
from regard.data.text_files import decode_lines, read_raw_lines
from regard.errors import InputError
from regard.files import sync_folder
from regard.formats.delimited import joined_rows, table_style
from regard.formats.document import FormatOptions
from regard.formats.translate_document import STREAMED, chunk_reader
from regard.workers import WorkerKilledError

if TYPE_CHECKING:
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator

# Writes the chunks of the output, in order, to a path.
Join = Callable[[Iterable[bytes], Path], None]


def write_all(chunks: Iterable[bytes], path: Path) -> None:
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)


def finish(part: PartialOutput, lines: int, join: Join = write_all) -> TranslationCounts:
    """Moves output and report to their final paths, then removes the folder. With several processes, the first waits
    for the others and does this for all. After a kill in between, it can be called again. Raises InputError if the
    files are damaged or are not the translation of so many lines."""
    journals = [part.wait_for(rank) for rank in range(part.share.world)]
    entries = sorted((entry for entries in journals for entry in entries), key=lambda entry: entry.number)
    found = sum(entry.lines for entry in entries)
    if found != lines or [entry.number for entry in entries] != list(range(len(entries))):
        raise damaged(f"{part.folder} has {found:,} lines in {len(entries):,} chunks, not all {lines:,}", part.folder)
    tally = TranslationCounts()
    for entry in entries:
        tally.join(TranslationCounts(**entry.tally))
    if part.report is not None and part.path("report").exists():
        _place(part, journals, "report", write_all, part.report)
    if part.path("output").exists():
        _place(part, journals, "output", join, part.out)
    part.remove()
    return tally


def _place(part: PartialOutput, journals: list[list[ChunkEntry]], name: FileName, join: Join, to: Path) -> None:
    whole = part.path(name)
    if part.share.world > 1 or join is not write_all:
        streams = [read_chunks(part.path(name, rank), entries, name) for rank, entries in enumerate(journals)]
        whole = part.folder / f"joined.{name}"
        rounds = zip_longest(*streams)  # chunk k is in stream k mod n
        join((chunk for chunks in rounds for chunk in chunks if chunk is not None), whole)
    with whole.open("rb+") as file:
        os.fsync(file.fileno())
    try:
        whole.replace(to)
    except OSError as problem:
        raise InputError(f"{to} cannot be written: {problem.strerror or problem}; the result is in {whole}") from None
    sync_folder(to.parent)


@dataclass(frozen=True)
class FileJob:
    """A file to translate."""

    input: Path
    format: str = "lines"  # or one of `STREAMED`
    columns: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)  # options of `Translator.translate`
    form: OutputForm = PLAIN
    report: Path | None = None

    @property
    def wrapped(self) -> bool:
        return bool(self.options.get("split") == "wrapped")

    def chunks(self, max_lines: int | None = None) -> Iterator[FileChunk]:
        if self.format == "parquet":
            from regard.formats.parquet import row_chunks

            first = 0
            for number, rows in enumerate(row_chunks(self.input, max_lines or MAX_CHUNK_LINES)):
                yield FileChunk(number, first, first + 1, len(rows), len(rows), rows)
                first += len(rows)
        else:
            yield from line_chunks(self.rows(), self.wrapped and self.format in ("lines", "text"), max_lines)

    def rows(self) -> Iterator[bytes]:
        """Yields the lines of the file; of a CSV table its rows, which may have several lines."""
        if self.format != "csv":
            return read_raw_lines(self.input)
        return joined_rows(read_raw_lines(self.input), table_style(self.format, read_raw_lines(self.input)))

    def task(self, suffix: str) -> FileTask:
        options = FormatOptions(self.wrapped, self.columns)
        lines = partial(read_raw_lines, self.input)
        reader = None if self.format == "lines" else chunk_reader(self.format, lines, options)
        filled = {"split": "sentences", **self.options}
        return FileTask(str(self.input), filled, self.form, reader, self.report is not None, suffix)

    def first_texts(self) -> list[str]:
        """Returns the texts of the first chunk, for inspection before translation."""
        chunk = next(self.chunks(), None)
        reader = self.task("").reader
        if chunk is None:
            return []
        if reader is None:
            return list(decode_lines(io.BytesIO(chunk.data), str(self.input)))
        return [segment.text for segment in reader(chunk.data, chunk.first_line)[0].segments]

    def survey(self) -> int:
        """Counts lines or rows. Reads the whole file, so that input errors are raised before anything is translated."""
        if self.format == "parquet":
            from regard.formats.parquet import survey

            return survey(self.input, self.columns)
        lines = sum(1 for _ in decode_lines(read_raw_lines(self.input), str(self.input)))
        return sum(1 for _ in self.rows()) if self.format == "csv" else lines


@dataclass(frozen=True)
class RunOptions:
    """Settings of a file translation that do not affect its output."""

    workers: int | None = 1  # None: one, or as many as help a model on a GPU
    make_worker: MakeTranslator | None = None  # needed for more than one worker
    restart: bool = False  # discard the unfinished output of an earlier run
    share: ProcessShare = WHOLE
    resumed: Callable[[int, int], None] | None = None  # called with the numbers of lines done before, and of all lines
    progress: Callable[[int, int], None] | None = None  # called with the numbers of lines done, and of all lines
    sentences: Progress | None = None  # called with the number of sentences that were just translated


DEFAULT_RUN = RunOptions()


def translate_file(
    translator: TextTranslator | TextChain, job: FileJob, out: Path, run: RunOptions = DEFAULT_RUN
) -> TranslationCounts:
    """Translates a file into the file `out`, and returns its counts."""
    out = out.resolve()
    lines, task = _checked(job, out, run), job.task(out.suffix if out.suffix in COMPRESSED else "")
    settings: dict[str, Any] = {"format": job.format, "columns": job.columns, "form": job.form, "suffix": task.suffix}
    settings |= {"report": task.report, "processes": run.share.world, "engine": translator.engine_name}
    identity = work_identity(job.input, translator.folders, settings, job.options)
    if run.workers is None and run.share == WHOLE:
        run = replace(run, workers=default_workers(translator, job.options, lines))
    one_by_one = job.format == "parquet" or task.suffix  # each chunk is a row group, or a compressed member
    workers = 1 if one_by_one else run.workers or 1
    identity[CHUNK_LINES] = chunk_size(lines, workers, searches_for_others(translator, job.options))
    with PartialOutput(out, run.share, identity, run.restart, job.report) as part:
        done = part.lines
        if part.resumed and run.resumed:
            run.resumed(done, lines)
        try:
            if not part.ended:
                for chunk, result in _results(job, ChunkTranslator(translator, task, run.sentences), part, run):
                    part.add(chunk.number, result, chunk.lines)
                    done += chunk.lines
                    if run.progress:
                        run.progress(done, lines)
                if input_identity(job.input) != identity["input file, or one that has changed"]:
                    raise InputError(f"{job.input} has changed while it was translated; translate it again")
                part.end()
        except WorkerKilledError as problem:
            raise WorkerKilledError(
                f"{problem}; {done:,} lines are kept, and rerun the same command to resume"
            ) from None
        except BaseException:
            if not part.done and run.share.world == 1:
                part.remove()  # nothing has been done that could be resumed
            raise
        return finish(part, lines, _join(job)) if run.share.rank == 0 else part.tally


def translated_chunks(
    translator: TextTranslator | TextChain, job: FileJob, progress: Progress | None = None
) -> Iterator[ChunkResult]:
    """Yields the results of all chunks, in order, for output that cannot be resumed, such as a pipe."""
    check_form(job.form, job.options.get("split", "sentences"))
    return map(ChunkTranslator(translator, job.task(""), progress), job.chunks())


def _checked(job: FileJob, out: Path, run: RunOptions) -> int:
    """Checks input, output and options, and returns the number of lines."""
    if job.format not in ("lines", *STREAMED):
        raise InputError(f"format must be one of lines, {', '.join(STREAMED)}, but is {job.format!r}")
    check_form(job.form, job.options.get("split", "sentences"))
    if run.workers is not None and not 1 <= run.workers <= MAX_WORKERS:
        raise InputError(f"workers must be from 1 to {MAX_WORKERS}, but is {run.workers}")
    if run.share.world > 1 and (run.workers or 1) > 1:
        raise InputError("workers are for one process; where several share a file, each is one", parameter="workers")
    if run.share.world > 1 and run.restart:
        raise InputError(
            f"several processes cannot restart at once; remove {out.name}.partial first", parameter="restart"
        )
    if job.format == "parquet" and {job.input.suffix, out.suffix} & set(COMPRESSED):
        raise InputError("a Parquet file is compressed inside; name it without .gz or the like")
    if not out.parent.is_dir():
        raise InputError(f"out must be a file in a folder that exists, but there is no folder {out.parent}")
    if out.exists() and not out.is_file():
        raise InputError(f"out must be a file, but {out} is none")
    return job.survey()


def _results(
    job: FileJob, work: ChunkTranslator, part: PartialOutput, run: RunOptions
) -> Iterator[tuple[FileChunk, ChunkResult]]:
    own = (chunk for chunk in job.chunks(part.chunk_lines) if chunk.number in run.share)
    chunks = (chunk for number, chunk in enumerate(own) if number >= part.done)
    if run.workers is None or run.workers == 1 or run.make_worker is None:
        yield from ((chunk, work(chunk)) for chunk in chunks)
        return
    with worker_pool(work.translator, work.task, run.workers, run.make_worker) as pool:
        yield from pool.results(chunks, run.sentences)


def _join(job: FileJob) -> Join:
    if job.format != "parquet":
        return write_all
    from regard.formats.parquet import join_chunks

    return lambda chunks, path: join_chunks(chunks, job.input, path)
