"""`regard translate`: texts, lines or a document, from words, a file or standard input."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from regard.bundle import box
from regard.cli.alternatives import check_alternatives, write_alternatives
from regard.cli.doubts import Doubts
from regard.cli.languages import (
    check_one_model,
    document_texts,
    languages_of,
    loader,
    part_of_file,
    parts_of_lines,
    say,
)
from regard.cli.lines import STDIN, check_output, read_lines, write_output
from regard.cli.options import WIDEST_BEAM, Beam, Device, Engine, Guard, Json, LengthPenalty, number
from regard.cli.process import warn
from regard.cli.strategy_flags import (
    Alternatives,
    CoveragePenalty,
    Diversity,
    Exact,
    Groups,
    MaxLength,
    MbrSamples,
    MinLength,
    MinP,
    Position,
    Prefix,
    PrefixFile,
    RepetitionPenalty,
    Sample,
    Seed,
    Temperature,
    TopK,
    TopP,
    UtilityName,
    diversity_of,
    mbr_of,
    sampling_of,
)
from regard.cli.translate_bulk import (
    RunFlags,
    check_run,
    share_of_this_process,
    streamed_format,
    translate_bulk,
)
from regard.cli.translate_lines import Work, check_attention, chunks_of, progress_wanted
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.text.glossary import Glossary


def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            help='Texts to translate; without any, standard input. Write -- before one that starts with "-".',
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="LANGUAGE",
            help="The language to translate into, as a code or a name: fr, fra, French. The translator is one in the "
            "box; regard info --all lists them.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="LANGUAGE",
            help="With --to: the language of the text.  [default: found in each TEXT; of a file or standard input, in "
            "its first lines, for all of it]",
        ),
    ] = None,
    through: Annotated[
        str | None,
        typer.Option(
            "--through",
            metavar="LANGUAGE",
            help="With --to: translate by way of this language where there is no direct translator. It loses more.",
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            metavar="FOLDER",
            help="A model, or a run (its best model), or the name of a model in the box. Given several times: an "
            f"ensemble.  [default: {box.DEFAULT}, in the box]",
        ),
    ] = None,
    input: Annotated[
        Path | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="A file to translate: lines of text (.gz .xz .bz2 .zst too), or a document (--format).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "--output",
            metavar="FILE",
            help="Where to write (.gz .xz .bz2 .zst too); the file appears when all is done.  [default: the terminal]",
        ),
    ] = None,
    beam: Beam = None,
    nbest: Annotated[
        int,
        typer.Option(
            "--nbest",
            parser=number("--nbest", int, 1, WIDEST_BEAM),
            metavar="N",
            help="Translations per line, best first, no two equal, as 'LINE ||| TEXT ||| SCORE', lines counted from 0.",
        ),
    ] = 1,
    length_penalty: LengthPenalty = None,
    steer: Annotated[
        float,
        typer.Option(
            "--steer",
            parser=number("--steer", float),
            metavar="X",
            help="Weight of the model's lexicon, from 0 (unused) to below 1; try 0.2. regard lexicon learns one.",
        ),
    ] = 0.0,
    rules: Annotated[
        float,
        typer.Option(
            "--rules",
            parser=number("--rules", float),
            metavar="X",
            help="Weight of the embedded English–French grammar, for sentences that it can parse; try 0.5.",
        ),
    ] = 0.0,
    unknown: Annotated[
        Literal["keep", "copy", "lexicon"],
        typer.Option(
            "--unknown",
            help="What becomes of <unk>, in models that have it: keep it, copy the source word with the most "
            "attention, or look that word up in the lexicon.",
        ),
    ] = "keep",
    tag: Annotated[
        str | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="One of the model's tags, put before every source sentence; of a multilingual model, the language to "
            'translate into: fra, fr or ">>fra<<".',
        ),
    ] = None,
    mend: Annotated[
        bool | None,
        typer.Option(
            "--mend/--no-mend",
            help="Read CAPITALS and Title Case in small letters, and misspelt words as what was meant; a line in "
            "capitals comes back in capitals.  "
            "[default: the model's]",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="What --input is: lines, or a document that keeps its shape: text, markdown, html, xml, docx, odt, "
            "srt, vtt, po, json, yaml, tsv, jsonl, parquet.  [default: by its suffix, else lines]",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME",
            help="Of tsv, jsonl and parquet: the columns to translate, by name or number from 1.",
        ),
    ] = None,
    split: Annotated[
        Literal["sentences", "wrapped", "lines"],
        typer.Option(
            "--split",
            help="What is translated at a time: the sentences of each line; the same, where line breaks within a "
            "paragraph are only wrapping; or whole lines, as they are.",
        ),
    ] = "sentences",
    protect: Annotated[
        bool,
        typer.Option(
            "--protect/--no-protect",
            help="Numbers, addresses, code, placeholders and unknown names come out as they went in.",
        ),
    ] = True,
    localize: Annotated[
        bool,
        typer.Option("--localize", help="Numbers, times and amounts in the target language's form: 3:45 pm, 15 h 45."),
    ] = False,
    glossary: Annotated[
        Path | None,
        typer.Option("--glossary", metavar="FILE", help="Terms and their translations, a tab between, one a line."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FILE", help="Words that stay as they are, one a line.")
    ] = None,
    no_repeat: Annotated[
        int,
        typer.Option(
            "--no-repeat",
            parser=number("--no-repeat", int, 0, 100),
            metavar="N",
            help="Never say N tokens in a row twice, unless the source repeats itself; 0 allows it.",
        ),
    ] = 0,
    guard: Guard = True,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 3 if any sentence is doubtful.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="A .jsonl with every sentence: confidence, reasons to doubt it, what became of protected spans.",
        ),
    ] = None,
    repetition_penalty: RepetitionPenalty = 1.0,
    coverage_penalty: CoveragePenalty = 0.0,
    min_length: MinLength = 0,
    max_length: MaxLength = None,
    exact: Exact = False,
    groups: Groups = 1,
    diversity: Diversity = None,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    seed: Seed = None,
    mbr: MbrSamples = None,
    utility: UtilityName = None,
    prefix: Prefix = "",
    prefix_file: PrefixFile = None,
    alternatives: Alternatives = None,
    position: Position = None,
    batch_tokens: Annotated[
        int,
        typer.Option(
            "--batch-tokens",
            parser=number("--batch-tokens", int, 1, 10_000_000),
            metavar="N",
            help="Tokens in a batch, at most.",
        ),
    ] = 4096,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            parser=number("--workers", int, 1, 256),
            metavar="N",
            help="Of --input FILE --out FILE: processes that translate side by side, one for each GPU where there are "
            "several. Under torchrun the processes share the file by themselves.  [default: 1]",
        ),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Of --input FILE --out FILE: discard what a stopped run has left, and start over."
        ),
    ] = False,
    alignments: Annotated[
        bool,
        typer.Option(
            "--alignments",
            help="Add the alignment of words to each line: 'TEXT ||| 0-0 1-2', source and target words from 0.",
        ),
    ] = False,
    token_scores: Annotated[
        bool, typer.Option("--token-scores", help="Of --json: add every token with its log-probability.")
    ] = False,
    attention: Annotated[
        bool, typer.Option("--attention", help="Show which source word each target word attends to.")
    ] = False,
    as_json: Json = False,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Translate texts, a file, or standard input.

    Sentences are translated one by one; line breaks, spaces and list marks stay as they are. Numbers, addresses,
    placeholders and unknown names survive. Doubtful sentences are counted on standard error. A file is translated
    in chunks; after a stop, also by kill -9, the same command goes on (docs/files.md). With --to the translator is
    chosen by languages (docs/model.md).

    \b
      regard translate --to French "The cat is on the mat. Call 555-0199 at 3:45 pm!"
      regard translate --input corpus/dev.en --out dev.out --split lines --beam 1
    """
    from regard.bulk.rows import OutputForm, check_form

    check_attention(attention, as_json, tag)
    drawn = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "seed": seed}
    strategy = {
        "repetition_penalty": repetition_penalty, "coverage_penalty": coverage_penalty, "min_length": min_length,
        "max_length": max_length, "exact": exact, "groups": groups, "diversity": diversity_of(groups, diversity),
        "sampling": sampling_of(sample, mbr, beam, **drawn), "mbr": mbr_of(mbr, utility), "prefix": prefix,
    }  # fmt: skip
    check_alternatives(
        alternatives, prefix, position,
        {"--nbest": nbest > 1, "--sample": sample, "--mbr": mbr is not None, "--attention": attention,
         "--prefix-file": prefix_file is not None, "--alignments": alignments},
    )  # fmt: skip
    if prefix and prefix_file is not None:
        raise InputError("--prefix is for all lines and --prefix-file for each; give one of them")
    check_output(out, input)
    name = document_format(format, input)
    if name == "text" and (as_json or attention or alignments or nbest > 1):
        name = None
    if name is not None:
        check_document(nbest, as_json, alignments, attention, text)
    apart = attention or alternatives is not None or prefix_file is not None  # not for whole files
    if name is not None and apart:
        raise InputError(
            "--alternatives and --prefix-file are for lines of text, not for a document; add --format lines"
        )
    streamed = None if apart or text else streamed_format(input, out, name)
    flags = RunFlags(workers, restart)
    check_run(flags, streamed is not None and out is not None)
    form = OutputForm(nbest, as_json, alignments, token_scores)
    check_form(form, split)
    wanted = languages_of(to, source, through, {"--model": bool(model), "--tag": tag is not None})
    chunks = iter(()) if name or streamed else chunks_of(text, input, split)
    options = {
        "beam": beam, "nbest": nbest, "length_penalty": length_penalty, "steer": steer, "rules": rules,
        "unknown": unknown, "tag": tag, "split": split, "protect": protect, "mend": mend, "localize": localize,
        "glossary": glossary_of(glossary, keep), "guard": guard, "no_repeat": no_repeat, "batch_tokens": batch_tokens,
        **strategy,
    }  # fmt: skip
    doubts = Doubts(report, strict)
    job = None
    if streamed is not None and input is not None:
        from regard.bulk.translate_file import FileJob

        job = FileJob(input, streamed, tuple(column or ()), options, form, report)
    first_texts = job.first_texts if job else partial(document_texts, input, name)
    parts = [part_of_file(wanted, first_texts)] if job or name else parts_of_lines(wanted, text, chunks)
    check_one_model(
        parts,
        {"--attention": attention, "--alternatives": alternatives is not None, "--alignments": alignments,
         "--token-scores": token_scores, "--nbest": nbest > 1, "--prefix": bool(prefix),
         "--prefix-file": prefix_file is not None, "--steer": bool(steer), "--rules": bool(rules)},
    )  # fmt: skip
    say(parts, wanted)
    loads = {part.models: loader(part.models, model or (), device, engine, bool(rules)) for part in parts}
    rank = share_of_this_process().rank
    translators = {models: load(rank) for models, load in loads.items()}
    first = parts[0].models
    if job is not None:
        translate_bulk(translators[first], job, out, loads[first], flags, doubts)
        return
    if name is not None and input is not None:
        from regard.cli.translate_file import translate_file

        translate_file(translators[first], options, input, out, name, tuple(column or ()), doubts)
        doubts.finish()
        return
    if alternatives is not None:
        place = {"prefix": prefix, "position": None if position is None else position - 1}
        asked = place | {"count": alternatives, "tag": tag}
        texts = ((translators[part.models], line) for part in parts for line in chain.from_iterable(part.chunks))
        write_output(out, lambda file: write_alternatives(file, texts, asked, as_json))
        return
    prefixes = None if prefix_file is None else read_lines(prefix_file)
    work = Work(options, form, attention, doubts, live=progress_wanted(out), prefixes=prefixes)

    def write(file: TextIO) -> None:
        for part in parts:
            work.write(file, translators[part.models], part.chunks)

    write_output(out, write)
    work.finish()
    doubts.finish()


def glossary_of(glossary: Path | None, keep: Path | None) -> Glossary | None:
    if glossary is None and keep is None:
        return None
    from regard.data.term_files import read_glossary, read_keep

    terms = None if glossary is None else read_glossary(glossary)
    kept = None if keep is None else read_keep(keep)
    both = kept if terms is None else terms.joined(kept)
    for line in both.warnings if both else ():
        warn(line)
    return both


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


def check_document(nbest: int, as_json: bool, alignments: bool, attention: bool, text: list[str] | None) -> None:
    if text:
        raise InputError("both texts and --input were given; give one or the other")
    asked = {"--nbest": nbest > 1, "--json": as_json, "--alignments": alignments, "--attention": attention}
    for flag, given in asked.items():
        if given:
            raise InputError(f"{flag} is for lines of text, not for a document; leave it out, or add --format lines")
