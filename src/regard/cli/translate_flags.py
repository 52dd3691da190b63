"""The flags of `regard translate` that are not options of `Translator.translate`; `option_flags.py` makes those."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.bundle import bundled_models
from regard.cli.options import number

# ── languages and models ──

TargetLanguage = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="LANGUAGE",
        help="The language to translate into, as a code or a name: fr, fra, French. The translator is one in the "
        "box; regard info --all lists them.",
    ),
]
SourceLanguage = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LANGUAGE",
        help="With --to: the language of the text.  [default: found in each TEXT; of a file or standard input, in "
        "its first lines, for all of it]",
    ),
]
ThroughLanguage = Annotated[
    str | None,
    typer.Option(
        "--through",
        metavar="LANGUAGE",
        help="With --to: translate by way of this language where there is no direct translator. It loses more.",
    ),
]
ModelFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        metavar="FOLDER",
        help="A model, or a run (its best model), or the name of a model in the box. Given several times: an "
        f"ensemble.  [default: {bundled_models.DEFAULT}, in the box]",
    ),
]

# ── what is read and written ──

Texts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT",
        help='Texts to translate; without any, standard input. Write -- before one that starts with "-".',
    ),
]
InputFile = Annotated[
    Path | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="A file to translate: lines of text (.gz .xz .bz2 .zst too), or a document (--format).",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="What --input is: lines, or a document that keeps its shape: text, markdown, html, xml, docx, odt, "
        "srt, vtt, po, json, yaml, tsv, jsonl, parquet.  [default: by its suffix, else lines]",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="Of tsv, jsonl and parquet: the columns to translate, by name or number from 1.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "--output",
        metavar="FILE",
        help="Where to write (.gz .xz .bz2 .zst too); it appears when all is done.  [default: -, standard output]",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="A .jsonl with every sentence: confidence, reasons to doubt it, what became of protected spans.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 3 if any sentence is doubtful.")]

# ── terms ──

GlossaryFile = Annotated[
    Path | None,
    typer.Option("--glossary", metavar="FILE", help="Terms and their translations, a tab between, one a line."),
]
KeepFile = Annotated[
    Path | None, typer.Option("--keep", metavar="FILE", help="Words that stay as they are, one a line.")
]


# ── what is shown ──

Alignments = Annotated[
    bool,
    typer.Option(
        "--alignments",
        help="Add the alignment of words to each line: 'TEXT ||| 0-0 1-2', source and target words from 0.",
    ),
]
TokenScores = Annotated[
    bool, typer.Option("--token-scores", help="Of --json: add every token with its log-probability.")
]
ShowAttention = Annotated[bool, typer.Option("--attention", help="Show which source word each target word attends to.")]

# ── the run ──

Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=number("--workers", int, 1, 256),
        metavar="N",
        help="Of --input FILE --out FILE: processes that translate side by side, one for each GPU where there are "
        "several. Under torchrun the processes share the file by themselves.  [default: 1]",
    ),
]
Restart = Annotated[
    bool,
    typer.Option("--restart", help="Of --input FILE --out FILE: discard what a stopped run has left, and start over."),
]

# ── samples, prefixes and alternatives ──

Sample = Annotated[
    bool, typer.Option("--sample", help="Draw translations by their probability instead of searching for the best.")
]
PrefixFile = Annotated[
    Path | None,
    typer.Option("--prefix-file", metavar="FILE", help="A prefix for each line, one a line."),
]
Alternatives = Annotated[
    int | None,
    typer.Option(
        "--alternatives",
        parser=number("--alternatives", int, 1, 1000),
        metavar="N",
        help="Of a sentence: the N most probable words after --prefix or at --at-word, and how each goes on.",
    ),
]
Position = Annotated[
    int | None,
    typer.Option(
        "--at-word",
        parser=number("--at-word", int, 1, 100_000),
        metavar="N",
        help="Of --alternatives: a word of the translation, counted from 1.",
    ),
]
