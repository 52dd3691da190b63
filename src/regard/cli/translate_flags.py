"""The flags of `regard translate` that are its own; `strategy_flags.py` has those of search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import bundled_models
from regard.cli.options import WIDEST_BEAM, number

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
Tag = Annotated[
    str | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="One of the model's tags, put before every source sentence; of a multilingual model, the language to "
        'translate into: fra, fr or ">>fra<<".',
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

# ── how texts are read ──

SplitInto = Annotated[
    Literal["sentences", "wrapped", "lines"],
    typer.Option(
        "--split",
        help="What is translated at a time: the sentences of each line; the same, where line breaks within a "
        "paragraph are only wrapping; or whole lines, as they are.",
    ),
]
Mend = Annotated[
    bool | None,
    typer.Option(
        "--mend/--no-mend",
        help="Read CAPITALS and Title Case in small letters, and misspelt words as what was meant; a line in "
        "capitals comes back in capitals.  "
        "[default: the model's]",
    ),
]
Protect = Annotated[
    bool,
    typer.Option(
        "--protect/--no-protect",
        help="Numbers, addresses, code, placeholders and unknown names come out as they went in.",
    ),
]
Localize = Annotated[
    bool,
    typer.Option("--localize", help="Numbers, times and amounts in the target language's form: 3:45 pm, 15 h 45."),
]
GlossaryFile = Annotated[
    Path | None,
    typer.Option("--glossary", metavar="FILE", help="Terms and their translations, a tab between, one a line."),
]
KeepFile = Annotated[
    Path | None, typer.Option("--keep", metavar="FILE", help="Words that stay as they are, one a line.")
]

# ── what is found ──

Nbest = Annotated[
    int,
    typer.Option(
        "--nbest",
        parser=number("--nbest", int, 1, WIDEST_BEAM),
        metavar="N",
        help="Translations per line, best first, no two equal, as 'LINE ||| TEXT ||| SCORE', lines counted from 0.",
    ),
]
LexiconWeight = Annotated[
    float,
    typer.Option(
        "--steer",
        parser=number("--steer", float),
        metavar="X",
        help="Weight of the model's lexicon, from 0 (unused) to below 1; try 0.2. regard lexicon learns one.",
    ),
]
RulesWeight = Annotated[
    float,
    typer.Option(
        "--rules",
        parser=number("--rules", float),
        metavar="X",
        help="Weight of the embedded English–French grammar, for sentences that it can parse; try 0.5.",
    ),
]
UnknownWords = Annotated[
    Literal["keep", "copy", "lexicon"],
    typer.Option(
        "--unknown",
        help="What becomes of <unk>, in models that have it: keep it, copy the source word with the most "
        "attention, or look that word up in the lexicon.",
    ),
]
NoRepeat = Annotated[
    int,
    typer.Option(
        "--no-repeat",
        parser=number("--no-repeat", int, 0, 100),
        metavar="N",
        help="Never say N tokens in a row twice, unless the source repeats itself; 0 allows it.",
    ),
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

BatchTokens = Annotated[
    int,
    typer.Option(
        "--batch-tokens",
        parser=number("--batch-tokens", int, 1, 10_000_000),
        metavar="N",
        help="Tokens in a batch, at most.",
    ),
]
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
