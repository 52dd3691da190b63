"""`regard translate`: its flags, the combinations that are not allowed, and the choice of the input mode.

a file of lines or rows, in chunks     translate_files.py
a document, as a whole                 translate_files.py
lines of text, or alternatives         translate_lines.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.bundle import bundled_models
from regard.cli.doubts import DoubtReport
from regard.cli.lines import STDIN, STDOUT, check_output
from regard.cli.options import Device, Engine, FlagTable, Json, takes_translate_options, translate_options
from regard.cli.process import warn
from regard.cli.translate_files import (
    document_texts,
    process_rank,
    streamed_format,
    translate_document_file,
    translate_in_chunks,
)
from regard.cli.translate_lines import LineTranslation, read_chunks, write_alternatives
from regard.cli.translate_models import (
    TextPart,
    check_one_model,
    language_choice,
    load_models,
    parts_by_language,
    warn_of_languages,
    whole_input,
)
from regard.device import require_torch
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.text.glossary import Glossary

FLAGS = FlagTable(f"""
--to LANGUAGE              The language to translate into, as a code or a name: fr, fra, French. The translator is a
                           bundled model; regard info --all lists them.
--from LANGUAGE            With --to: the language of the text.  [default: found in each TEXT; of a file or standard
                           input, in its first lines, for all of it]
--through LANGUAGE         With --to: translate by way of this language where there is no direct translator. It loses
                           more.
--model FOLDER             A model, or a run (its best model), or the name of a bundled model. Given several times: an
                           ensemble.  [default: {bundled_models.DEFAULT}, bundled]
--input FILE               A file to translate: lines of text (.gz .xz .bz2 .zst too), or a document (--format).
--out --output FILE        Where to write (.gz .xz .bz2 .zst too); it appears when all is done.
                           [default: -, standard output]
--format NAME              What --input is: lines, or a document that keeps its shape: text, markdown, html, xml, docx,
                           odt, srt, vtt, po, json, yaml, csv, tsv, jsonl, parquet.  [default: by its suffix; without
                           one, or with that of a language (news.en), lines]
--column NAME              For csv, tsv, jsonl and parquet: the columns to translate, by name or number from 1.
                           [default: for csv and tsv, every cell that is prose]
--glossary FILE            Terms and their translations, separated by a tab or =, one per line.
--keep FILE                Words that are copied unchanged, one per line.
--strict                   Mark more sentences, and exit with code 3 if any is marked.
--lenient                  Mark fewer sentences.
--report FILE              A .jsonl with every sentence: confidence, mark, reasons, the protected spans.
--sample                   Draw translations by their probability instead of searching for the best.
--prefix-file FILE         A prefix for each line, one per line.
--alternatives N 1..1000   For a sentence: the N most probable words after --prefix or at --at-word, each with its
                           continuation.
--at-word N 1..100000      With --alternatives: a word of the translation, counted from 1.
--workers N 1..256         With --input FILE --out FILE: processes that translate in parallel. If the model is on a GPU,
                           they prepare and check text for it. Under torchrun the processes divide the file among them.
                           [default: 1; 2 for each core with a GPU and more than 2,000 lines]
--restart                  With --input FILE --out FILE: discard the result of an interrupted run, and start over.
--alignments               Add the alignment of words to each line: 'TEXT ||| 0-0 1-2', source and target words from 0.
--token-scores             With --json: add every token with its log-probability.
--attention                Show which source word each target word attends to.
""")
Texts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help='Texts to translate; without any, standard input. Write -- before one that starts with "-".',
    ),
]
LANGUAGE_NEEDED = "{flag} {value} goes with the language to translate into; add it, as in --to fr"
# A flag, the flag that it requires, and the message if that is missing.
NEEDED = (
    ("--at-word", "--alternatives", "--at-word is of alternatives; add --alternatives 5"),
    ("--from", "--to", LANGUAGE_NEEDED),
    ("--through", "--to", LANGUAGE_NEEDED),
)
# A flag, flags that cannot be given with it, and the message.
EXCLUDED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("--attention", ("--json",), "--attention draws pictures, which are no JSON; give it or --json, not both"),
    ("--attention", ("--tag", "--formality"), "--attention shows sources without {flag}; give one of them"),
    ("--strict", ("--lenient",), "--strict marks more sentences and --lenient fewer; give one of them"),
    ("--at-word", ("--prefix",), "--alternatives come after --prefix or at --at-word; give one of them"),
    (
        "--alternatives",
        ("--nbest", "--sample", "--mbr", "--attention", "--prefix-file", "--alignments", "--formality"),
        "--alternatives are those of the model's own search, without {flag}; leave it out",
    ),
    ("--prefix", ("--prefix-file",), "--prefix is for all lines and --prefix-file for each; give one of them"),
    ("--to", ("--model", "--tag"), "--to chooses a model by its languages and {flag} names one; give one of them"),
    ("TEXT", ("--input",), "both texts and --input were given; give one or the other"),
)
# Flags for lines of text: with the first ones a plain text is read as lines, and documents refuse all of them.
LINE_FLAGS = ("--nbest", "--json", "--alignments", "--attention")
TORCH_FLAGS = ("--sample", "--mbr", "--steer", "--rules", "--alternatives", "--alignments", "--attention")
UNSTREAMED_FLAGS = ("--attention", "--alternatives", "--prefix-file")


@takes_translate_options
def translate(
    text: Texts = None,
    to: Annotated[str | None, FLAGS("--to")] = None,
    source: Annotated[str | None, FLAGS("--from")] = None,
    through: Annotated[str | None, FLAGS("--through")] = None,
    model: Annotated[list[Path] | None, FLAGS("--model")] = None,
    input: Annotated[Path | None, FLAGS("--input")] = None,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    format: Annotated[str | None, FLAGS("--format")] = None,
    column: Annotated[list[str] | None, FLAGS("--column")] = None,
    glossary: Annotated[Path | None, FLAGS("--glossary")] = None,
    keep: Annotated[Path | None, FLAGS("--keep")] = None,
    strict: Annotated[bool, FLAGS("--strict")] = False,
    lenient: Annotated[bool, FLAGS("--lenient")] = False,
    report: Annotated[Path | None, FLAGS("--report")] = None,
    options: Any = None,
    sample: Annotated[bool, FLAGS("--sample")] = False,
    prefix_file: Annotated[Path | None, FLAGS("--prefix-file")] = None,
    alternatives: Annotated[int | None, FLAGS("--alternatives")] = None,
    position: Annotated[int | None, FLAGS("--at-word")] = None,
    workers: Annotated[int | None, FLAGS("--workers")] = None,
    restart: Annotated[bool, FLAGS("--restart")] = False,
    alignments: Annotated[bool, FLAGS("--alignments")] = False,
    token_scores: Annotated[bool, FLAGS("--token-scores")] = False,
    attention: Annotated[bool, FLAGS("--attention")] = False,
    as_json: Json = False,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Translate texts, a file, or standard input.

    Sentences are translated one by one; line breaks, spaces and list marks stay as they are. Numbers, addresses,
    placeholders and unknown names are copied unchanged. Marked sentences are counted on standard error. A file is
    translated in chunks; after an interruption, also by kill -9, rerun to resume (docs/files.md). With --to the
    translator is chosen by languages (docs/bundled-models.md).

    \b
      regard translate --to French "The cat is on the mat. Call 555-0199 at 3:45 pm!"
      regard translate --input corpus/dev.en --out dev.out --split lines --beam 1
    """
    from regard.bulk.rows import OutputForm, check_form

    marks = {"marks": "strict" if strict else "lenient"} if strict or lenient else {}
    chosen = translate_options(options | marks, sample)
    form = OutputForm(chosen["nbest"], as_json, alignments, token_scores)
    given = given_flags({
        "TEXT": text, "--to": to, "--from": source, "--through": through, "--model": model, "--input": input,
        "--nbest": form.nbest > 1, "--sample": sample, "--mbr": chosen["mbr"], "--tag": chosen["tag"],
        "--formality": chosen["formality"], "--prefix": chosen["prefix"] or None, "--prefix-file": prefix_file,
        "--steer": chosen["steer"],
        "--rules": chosen["rules"], "--alternatives": alternatives, "--at-word": position, "--workers": workers,
        "--restart": restart, "--alignments": alignments, "--token-scores": token_scores, "--attention": attention,
        "--json": as_json, "--strict": strict, "--lenient": lenient,
    })  # fmt: skip
    check_combinations(given)
    out = None if out == STDOUT else out
    check_output(out, input)
    chosen["glossary"] = read_terms(glossary, keep)
    languages = language_choice(to, source, through)
    doubts = DoubtReport(report, strict)
    document = document_format(format, input, given)
    streamed = None if text or given.keys() & UNSTREAMED_FLAGS else streamed_format(input, out, document)
    if (streamed is None or out is None) and (flag := next((f for f in ("--workers", "--restart") if f in given), "")):
        raise InputError(f"{flag} is for a file that is translated into another, by lines or rows: --input and --out")
    check_form(form, chosen["split"])
    columns, load = tuple(column or ()), partial(load_models, model, device, engine, bool(chosen["rules"]))
    rank = process_rank()[0]

    def checked(parts: Sequence[TextPart]) -> Sequence[TextPart]:
        check_one_model(parts, given)
        warn_of_languages(parts, languages)
        return parts

    if streamed is not None and input is not None:
        from regard.bulk.translate_file import FileJob

        job = FileJob(input, streamed, columns, chosen, form, report)
        (part,) = checked([whole_input(languages, job.first_texts)])
        load_part = partial(load, part.models)
        translate_in_chunks(load_part(rank), job, out, load_part, workers, restart, doubts)
    elif document is not None and input is not None:
        (part,) = checked([whole_input(languages, partial(document_texts, input, document))])
        translate_document_file(load(part.models, rank), chosen, input, out, document, columns, doubts)
    else:
        parts = checked(parts_by_language(languages, text, read_chunks(text, input, chosen["split"])))
        translators = {part.models: load(part.models, rank) for part in parts}
        work = [(translators[part.models], part.chunks) for part in parts]
        if alternatives is not None:
            own = {"prefix": chosen["prefix"], "tag": chosen["tag"], "count": alternatives}
            write_alternatives(out, work, own | {"position": position and position - 1}, as_json)
        else:
            LineTranslation(chosen, form, doubts, attention, prefix_file).write(out, work)


def given_flags(values: Mapping[str, Any]) -> dict[str, Any]:
    """The flags that were given, with their values; an empty text counts as given."""
    return {flag: value for flag, value in values.items() if value or value == ""}


def check_combinations(given: Mapping[str, Any]) -> None:
    """Raise InputError for flags that exclude each other, or that require another one or PyTorch."""
    for flag, needed, message in NEEDED:
        if flag in given and needed not in given:
            raise InputError(message.format(flag=flag, value=given[flag]))
    for flag, others, message in EXCLUDED:
        for other in others:
            if flag in given and other in given:
                raise InputError(message.format(flag=other))
    for flag in given.keys() & TORCH_FLAGS:
        require_torch(flag)


def document_format(format: str | None, input: Path | None, given: Mapping[str, Any]) -> str | None:
    """The format of a document; None for lines of text, including a plain text if a flag for lines is given. Raises
    InputError for an unknown format, and for flags that documents do not support."""
    if input is None or input == STDIN:
        if format not in (None, "lines"):
            raise InputError(f"--format {format} is of a file; name it with --input")
        return None
    from regard.formats.table import LINES, checked_format, format_of_file

    if format not in (None, LINES):
        checked_format(format)
    name = format or format_of_file(input)
    of_lines = next((flag for flag in LINE_FLAGS if flag in given), None)
    if name == LINES or (name == "text" and of_lines):
        return None
    if of_lines:
        raise InputError(f"{of_lines} is for lines of text, not for a document; leave it out, or add --format lines")
    if given.keys() & UNSTREAMED_FLAGS:
        raise InputError(
            "--alternatives and --prefix-file are for lines of text, not for a document; add --format lines"
        )
    return name


def read_terms(glossary: Path | None, keep: Path | None) -> Glossary | None:
    """The terms of a glossary and the words to keep, from their files; None without files."""
    if glossary is None and keep is None:
        return None
    from regard.data.text_files import read_glossary, read_keep

    terms = None if glossary is None else read_glossary(glossary)
    kept = None if keep is None else read_keep(keep)
    both = kept if terms is None else terms.merged_with(kept)
    for line in both.warnings if both else ():
        warn(line)
    return both
