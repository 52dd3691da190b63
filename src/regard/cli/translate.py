"""`regard translate`: texts, lines or a document, from words, a file or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli import translate_flags as flag
from regard.cli.alternatives import check_alternatives
from regard.cli.doubts import Doubts
from regard.cli.languages import languages_of
from regard.cli.lines import STDOUT, check_output
from regard.cli.option_flags import takes_translate_options, translate_options
from regard.cli.options import Device, Engine, Json
from regard.cli.process import warn
from regard.cli.translate_bulk import RunFlags
from regard.cli.translate_lines import check_attention
from regard.cli.translate_request import LineExtras, TranslateRequest
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.text.glossary import Glossary


@takes_translate_options
def translate(
    text: flag.Texts = None,
    to: flag.TargetLanguage = None,
    source: flag.SourceLanguage = None,
    through: flag.ThroughLanguage = None,
    model: flag.ModelFolders = None,
    input: flag.InputFile = None,
    out: flag.OutputFile = None,
    format: flag.FormatName = None,
    column: flag.Columns = None,
    glossary: flag.GlossaryFile = None,
    keep: flag.KeepFile = None,
    strict: flag.Strict = False,
    report: flag.ReportFile = None,
    options: Any = None,
    sample: flag.Sample = False,
    prefix_file: flag.PrefixFile = None,
    alternatives: flag.Alternatives = None,
    position: flag.Position = None,
    workers: flag.Workers = None,
    restart: flag.Restart = False,
    alignments: flag.Alignments = False,
    token_scores: flag.TokenScores = False,
    attention: flag.ShowAttention = False,
    as_json: Json = False,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Translate texts, a file, or standard input.

    Sentences are translated one by one; line breaks, spaces and list marks stay as they are. Numbers, addresses,
    placeholders and unknown names survive. Doubtful sentences are counted on standard error. A file is translated
    in chunks; after a stop, also by kill -9, the same command goes on (docs/files.md). With --to the translator is
    chosen by languages (docs/bundled-models.md).

    \b
      regard translate --to French "The cat is on the mat. Call 555-0199 at 3:45 pm!"
      regard translate --input corpus/dev.en --out dev.out --split lines --beam 1
    """
    from regard.bulk.rows import OutputForm

    chosen = translate_options(options, sample)
    prefix, tag, nbest = chosen["prefix"], chosen["tag"], chosen["nbest"]
    check_attention(attention, as_json, tag)
    check_alternatives(
        alternatives, prefix, position,
        {"--nbest": nbest > 1, "--sample": sample, "--mbr": chosen["mbr"] is not None, "--attention": attention,
         "--prefix-file": prefix_file is not None, "--alignments": alignments},
    )  # fmt: skip
    if prefix and prefix_file is not None:
        raise InputError("--prefix is for all lines and --prefix-file for each; give one of them")
    out = None if out == STDOUT else out
    check_output(out, input)
    request = TranslateRequest(
        texts=text,
        input=input,
        out=out,
        format=format,
        columns=tuple(column or ()),
        options=chosen | {"glossary": glossary_of(glossary, keep)},
        form=OutputForm(nbest, as_json, alignments, token_scores),
        extras=LineExtras(attention, alternatives, position, prefix_file),
        languages=languages_of(to, source, through, {"--model": bool(model), "--tag": tag is not None}),
        models=model or (),
        device=device,
        engine=engine,
        run=RunFlags(workers, restart),
        doubts=Doubts(report, strict),
    )
    request.answer()


def glossary_of(glossary: Path | None, keep: Path | None) -> Glossary | None:
    if glossary is None and keep is None:
        return None
    from regard.data.text_files import read_glossary, read_keep

    terms = None if glossary is None else read_glossary(glossary)
    kept = None if keep is None else read_keep(keep)
    both = kept if terms is None else terms.merged_with(kept)
    for line in both.warnings if both else ():
        warn(line)
    return both
