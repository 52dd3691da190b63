"""A file of any size, translated into another: `regard translate --input FILE --out FILE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.cli.doubts import Doubts
from regard.cli.lines import STDIN
from regard.cli.process import warn
from regard.cli.progress import FileProgress
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.chunks import TranslationCounts
    from regard.bulk.journal import ProcessShare
    from regard.bulk.translate_file import FileJob, MakeTranslator
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator
    from regard.translator import Translator, TranslatorChain

UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class RunFlags(NamedTuple):
    """How a file is translated; the result does not depend on it."""

    workers: int | None
    restart: bool


def streamed_format(input: Path | None, out: Path | None, format: str | None) -> str | None:
    """The format to read in chunks; None for a pipe, and for documents that are read as a whole."""
    if input is None or input == STDIN or not input.is_file():
        return None
    from regard.formats.streaming import STREAMED

    if format not in (None, *STREAMED):
        return None
    if out is not None and out.exists() and not out.is_file():
        return None  # a pipe or a device: nothing may take its place
    if format is None:
        return "lines" if out is not None else None
    if format == "parquet":
        return format if out is not None else None
    with input.open("rb") as file:
        head = file.read(2)
    return format if head and head not in UTF_16 else None


def check_run(flags: RunFlags, streamed: bool) -> None:
    given = "--workers" if flags.workers is not None else "--restart" if flags.restart else None
    if given and not streamed:
        raise InputError(f"{given} is for a file that is translated into another, by lines or rows: --input and --out")


def load_translator(paths: Sequence[Path] | None, device: str, engine: str, rules: bool, number: int = 0) -> Translator:
    """The translator of process `number`; with several GPUs each process has its own."""
    from regard.translator import Translator

    translator = Translator.load(paths, _device(device, number), engine)
    if rules:
        from regard.cli.translate_lines import rule_system

        translator.rule_system = rule_system()
    return translator


def load_chain(folders: Sequence[Path], device: str, engine: str, number: int = 0) -> TranslatorChain:
    """The same for translators one after another."""
    from regard.translator import TranslatorChain

    return TranslatorChain.load(folders, _device(device, number), engine)


def _device(device: str, number: int) -> str:
    if number and device in ("auto", "cuda"):
        from regard.device import nth_device

        return nth_device(device, number)
    return device


def translate_bulk(
    translator: TextTranslator | TextChain,
    job: FileJob,
    out: Path | None,
    load: MakeTranslator,
    flags: RunFlags,
    doubts: Doubts,
) -> None:
    """Translate, show how far it is, and say what is to be said."""
    from regard.bulk.journal import partial_folder
    from regard.bulk.translate_file import RunOptions, translate_file

    share = share_of_this_process()
    terminal = sys.stderr.isatty()
    shown = share.rank == 0 and (out is not None or not terminal or not sys.stdout.isatty())
    progress = FileProgress(shown, terminal)
    try:
        if out is None:
            _to_standard_output(translator, job, progress, doubts)
        else:
            run = RunOptions(
                flags.workers or 1, load, flags.restart, share, progress.resumed, progress.lines, progress.sentences
            )
            doubts.tally = translate_file(translator, job, out, run)
    except KeyboardInterrupt:
        if out is not None and partial_folder(out.resolve()).is_dir() and share.rank == 0:
            progress.end()
            warn(f"stopped after line {progress.done:,}; the same command goes on from there")
        raise
    finally:
        progress.end()
    if share.rank == 0:
        _say(job, doubts.tally)
        doubts.finish(report_written=out is not None)


def share_of_this_process() -> ProcessShare:
    """Under torchrun, which of the processes this is."""
    from regard.bulk.journal import ProcessShare

    world, rank = (os.environ.get(name, "") for name in ("WORLD_SIZE", "RANK"))
    return ProcessShare(int(rank), int(world)) if world.isdecimal() and rank.isdecimal() else ProcessShare()


def _to_standard_output(
    translator: TextTranslator | TextChain, job: FileJob, progress: FileProgress, doubts: Doubts
) -> None:
    from regard.bulk.translate_file import translated_chunks

    out: Any = getattr(sys.stdout, "buffer")  # noqa: B009 - a terminal's stream is wrapped
    for result in translated_chunks(translator, job, progress.sentences):
        sys.stdout.flush()
        out.write(result.output)
        out.flush()
        doubts.add_part(result.tally, result.report)


def _say(job: FileJob, tally: TranslationCounts) -> None:
    """What stayed as it was, and what is known only at the end."""
    from regard.formats.text import kept_warning

    for line in (*kept_warning(tally.kept, "cell" if job.format == "tsv" else "value"), *tally.shown):
        warn(line)
    if tally.remarks > len(tally.shown):
        warn(f"{tally.remarks - len(tally.shown):,} more remarks of this kind")
    if job.options.get("rules") and not tally.parsed:
        warn("the rules could parse no line, so --rules changed nothing; they know the English of regard corpus")
