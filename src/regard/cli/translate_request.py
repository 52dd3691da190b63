"""What `regard translate` was asked for, and the ways to do it.

a file of lines or rows, in chunks   translate_bulk.py
a document, as a whole               translate_file.py
alternatives at a place of a text    alternatives.py
lines of text                        translate_lines.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from regard.cli.alternatives import write_alternatives
from regard.cli.doubts import Doubts
from regard.cli.languages import (
    LanguageFlags,
    Models,
    TextPart,
    check_one_model,
    document_texts,
    loader,
    part_of_file,
    parts_of_lines,
    say,
)
from regard.cli.lines import STDIN, read_lines, write_output
from regard.cli.translate_bulk import RunFlags, check_run, share_of_this_process, streamed_format, translate_bulk
from regard.cli.translate_lines import Work, chunks_of, progress_wanted
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.rows import OutputForm
    from regard.bulk.translate_file import FileJob
    from regard.translation.chain import TextChain
    from regard.translation.translator import TextTranslator

    Translators = Mapping[Models, TextTranslator | TextChain]


@dataclass(frozen=True)
class LineExtras:
    """What there is for lines of text alone, not for files in chunks or documents."""

    attention: bool = False
    alternatives: int | None = None
    position: int | None = None  # of the alternatives: a word, counted from 1
    prefix_file: Path | None = None

    def wanted(self) -> bool:
        return self.attention or self.alternatives is not None or self.prefix_file is not None


@dataclass(frozen=True)
class TranslateRequest:
    """All flags of the command."""

    texts: list[str] | None
    input: Path | None
    out: Path | None
    format: str | None  # as it was named
    columns: tuple[str, ...]
    options: dict[str, Any]  # of `Translator.translate`
    form: OutputForm
    extras: LineExtras
    languages: LanguageFlags | None
    models: Sequence[Path]  # as they were named
    device: str
    engine: str
    run: RunFlags
    doubts: Doubts

    def answer(self) -> None:
        """Check, load and translate in the way that the request needs."""
        from regard.bulk.rows import check_form

        document = self.document()
        job = self.file_job(document)
        check_run(self.run, job is not None and self.out is not None)
        check_form(self.form, self.options["split"])
        parts = self.parts(document, job)
        check_one_model(parts, self.flags_of_one_model())
        say(parts, self.languages)
        rules = bool(self.options["rules"])
        loads = {part.models: loader(part.models, self.models, self.device, self.engine, rules) for part in parts}
        rank = share_of_this_process().rank
        translators = {models: load(rank) for models, load in loads.items()}
        first = parts[0].models
        if job is not None:
            translate_bulk(translators[first], job, self.out, loads[first], self.run, self.doubts)
        elif document is not None and self.input is not None:
            from regard.cli.translate_file import translate_file

            translate_file(translators[first], self.options, self.input, self.out, document, self.columns, self.doubts)
            self.doubts.finish()
        elif self.extras.alternatives is not None:
            self.write_alternatives(translators, parts)
        else:
            self.write_lines(translators, parts)

    def document(self) -> str | None:
        """The format of a document; None for lines of text, as which a plain text is read where lines are asked for."""
        name = document_format(self.format, self.input)
        lines = {
            "--nbest": self.form.nbest > 1, "--json": self.form.as_json, "--alignments": self.form.alignments,
            "--attention": self.extras.attention,
        }  # fmt: skip
        if name is None or (name == "text" and any(lines.values())):
            return None
        if self.texts:
            raise InputError("both texts and --input were given; give one or the other")
        for flag in (flag for flag, given in lines.items() if given):
            raise InputError(f"{flag} is for lines of text, not for a document; leave it out, or add --format lines")
        if self.extras.wanted():
            raise InputError(
                "--alternatives and --prefix-file are for lines of text, not for a document; add --format lines"
            )
        return name

    def file_job(self, document: str | None) -> FileJob | None:
        """A file that is read in chunks; None for what is not."""
        streamed = None if self.extras.wanted() or self.texts else streamed_format(self.input, self.out, document)
        if streamed is None or self.input is None:
            return None
        from regard.bulk.translate_file import FileJob

        return FileJob(self.input, streamed, self.columns, self.options, self.form, self.doubts.report)

    def parts(self, document: str | None, job: FileJob | None) -> list[TextPart]:
        if job is not None:
            return [part_of_file(self.languages, job.first_texts)]
        if document is not None:
            return [part_of_file(self.languages, partial(document_texts, self.input, document))]
        chunks = chunks_of(self.texts, self.input, self.options["split"])
        return parts_of_lines(self.languages, self.texts, chunks)

    def flags_of_one_model(self) -> dict[str, bool]:
        """Flags that a chain of models has not, and whether they are given."""
        return {
            "--attention": self.extras.attention, "--alternatives": self.extras.alternatives is not None,
            "--alignments": self.form.alignments, "--token-scores": self.form.token_scores,
            "--nbest": self.form.nbest > 1, "--prefix": bool(self.options["prefix"]),
            "--prefix-file": self.extras.prefix_file is not None, "--steer": bool(self.options["steer"]),
            "--rules": bool(self.options["rules"]),
        }  # fmt: skip

    def write_alternatives(self, translators: Translators, parts: Sequence[TextPart]) -> None:
        position = None if self.extras.position is None else self.extras.position - 1
        asked = {name: self.options[name] for name in ("prefix", "tag")}
        asked |= {"position": position, "count": self.extras.alternatives}
        texts = ((translators[part.models], line) for part in parts for line in chain.from_iterable(part.chunks))
        write_output(self.out, lambda file: write_alternatives(file, texts, asked, self.form.as_json))

    def write_lines(self, translators: Translators, parts: Sequence[TextPart]) -> None:
        prefixes = None if self.extras.prefix_file is None else read_lines(self.extras.prefix_file)
        work = Work(self.options, self.form, self.extras.attention, self.doubts, progress_wanted(self.out), prefixes)

        def write(file: TextIO) -> None:
            for part in parts:
                work.write(file, translators[part.models], part.chunks)

        write_output(self.out, write)
        work.finish()
        self.doubts.finish()


def document_format(format: str | None, input: Path | None) -> str | None:
    """The format of a document; None for lines of text."""
    if input is None or input == STDIN:
        if format not in (None, "lines"):
            raise InputError(f"--format {format} is of a file; name it with --input")
        return None
    if format == "lines":
        return None
    from regard.formats.table import checked_format, format_of

    if format is not None:
        checked_format(format)
        return format
    return format_of(input)
