"""`regard translate --input FILE`: translates files of any size in chunks, and documents as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.doubts import DoubtReport
from regard.cli.lines import STDIN, write_output
from regard.cli.process import warn
from regard.cli.progress import FileProgress, SentenceCounter
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.translate_file import FileJob
    from regard.bulk.translator_pool import MakeTranslator
    from regard.translation.chain import TextChain
    from regard.translation.translation import Translation
    from regard.translation.translator import TextTranslator

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_DOCUMENT_BYTES = 200_000_000  # maximum size, because a document is read as a whole
MAX_REMARKS = 5  # maximum remarks that are shown
NOT_PARSED = "the rules could parse no line, so --rules changed nothing; they know the English of regard corpus"


def streamed_format(input: Path | None, out: Path | None, format: str | None) -> str | None:
    """The format of a file to read in chunks; None for a pipe, and for documents that are read as a whole."""
    if input is None or input == STDIN or not input.is_file():
        return None
    from regard.formats.translate_document import STREAMED

    if format not in (None, *STREAMED) or (out is not None and out.exists() and not out.is_file()):
        return None  # a pipe or a device cannot be replaced by a finished file
    if format in (None, "parquet"):
        return (format or "lines") if out is not None else None
    with input.open("rb") as file:
        head = file.read(2)
    return format if head and head not in UTF_16 else None


def process_rank() -> tuple[int, int]:
    """The rank of this process and the number of processes, as set by torchrun; (0, 1) without it."""
    rank, world = (os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE"))
    return (int(rank), int(world)) if rank.isdecimal() and world.isdecimal() else (0, 1)


def translate_in_chunks(
    translator: TextTranslator | TextChain,
    job: FileJob,
    out: Path | None,
    load: MakeTranslator,
    workers: int | None,
    restart: bool,
    doubts: DoubtReport,
) -> None:
    """Translate a file in chunks, with progress on standard error. `load` makes the translators of other processes."""
    from regard.bulk.partial_output import ProcessShare, partial_folder
    from regard.bulk.translate_file import RunOptions, translate_file, translated_chunks

    share = ProcessShare(*process_rank())
    terminal = sys.stderr.isatty()
    progress = FileProgress(share.rank == 0 and (out is not None or not terminal or not sys.stdout.isatty()), terminal)
    try:
        if out is None:
            stdout: Any = getattr(sys.stdout, "buffer")  # noqa: B009 - a terminal's stream is wrapped
            for result in translated_chunks(translator, job, progress.sentences):
                sys.stdout.flush()
                stdout.write(result.output)
                stdout.flush()
                doubts.add_part(result.tally, result.report)
        else:
            run = RunOptions(workers, load, restart, share, progress.resumed, progress.lines, progress.sentences)
            doubts.counts = translate_file(translator, job, out, run)
    except KeyboardInterrupt:
        if out is not None and partial_folder(out.resolve()).is_dir() and share.rank == 0:
            progress.end()
            warn(f"stopped after line {progress.done:,}; rerun to resume")
        raise
    finally:
        progress.end()
    if share.rank == 0:
        from regard.formats.text import kept_warning

        counts = doubts.counts
        remarks = [*kept_warning(counts.kept, "cell" if job.format in ("csv", "tsv") else "value"), *counts.shown]
        warn_of_remarks(remarks, counts.remarks - len(counts.shown))
        if job.options["rules"] and not counts.parsed:
            warn(NOT_PARSED)
        doubts.finish(report_written=out is not None)


def warn_of_remarks(shown: Sequence[str], more: int) -> None:
    """Print remarks on standard error, one per line, and the number of remaining ones."""
    for line in shown:
        warn(line)
    if more > 0:
        warn(f"{more:,} more remarks of this kind")


def translate_document_file(
    translator: TextTranslator | TextChain,
    options: dict[str, Any],
    input: Path,
    out: Path | None,
    format: str,
    columns: Sequence[str],
    doubts: DoubtReport,
) -> None:
    """Translate a document into another of the same format, which is written when all is translated. `options` are
    those of `Translator.translate`. Raises InputError for a document that cannot be read or shown."""
    from regard.formats.document import FormatOptions
    from regard.formats.table import checked_format
    from regard.formats.translate_document import translate_document

    if out is None and checked_format(format).binary and sys.stdout.isatty():
        raise InputError(f"a {format} document cannot be shown in a terminal; name a file with --output")
    counter = SentenceCounter(out)

    def translate(texts: Sequence[str], wrapped: bool) -> Sequence[Translation]:
        split = "wrapped" if wrapped and options["split"] == "sentences" else options["split"]
        changed = {"split": split, "documents": (0,) * len(texts)}
        return translator.translate(texts, **(options | changed), progress=counter.add)

    target = translator.languages(options["tag"])[1] or ""
    chosen = FormatOptions(options["split"] == "wrapped", tuple(columns), target)
    found = translate_document(read_document(input), format, translate, chosen)
    counter.end()
    for number, (segment, translation) in enumerate(zip(found.segments, found.translations, strict=True), start=1):
        doubts.add(segment.place or f"segment {number}", translation, lines=format == "text")
    write_output(out, lambda file: file.write(found.data), binary=True)
    warn_of_remarks(found.warnings[:MAX_REMARKS], len(found.warnings) - MAX_REMARKS)
    doubts.finish()


def document_texts(input: Path, format: str) -> list[str]:
    """The texts of a document, from which its language is identified."""
    from regard.formats.document import DEFAULTS
    from regard.formats.table import reader_of

    return [segment.text for segment in reader_of(format)(read_document(input), DEFAULTS).segments]


def read_document(path: Path) -> bytes:
    """The bytes of a file, decompressed by suffix. Raises InputError if it cannot be read or is too large."""
    from regard.data.compressed import COMPRESSED, DAMAGED

    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        with COMPRESSED.get(path.suffix, open)(path, "rb") as file:
            data = bytes(file.read(MAX_DOCUMENT_BYTES + 1))
    except (OSError, *DAMAGED) as problem:
        raise InputError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(data) > MAX_DOCUMENT_BYTES:
        limit = f"documents of at most {MAX_DOCUMENT_BYTES:,} bytes can be translated as a whole"
        raise InputError(f"{path} is too large: {limit}")
    return data
