"""`regard translate`: texts, lines or a document, from words, a file or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli import strategy_flags as search
from regard.cli import translate_flags as flag
from regard.cli.alternatives import check_alternatives
from regard.cli.doubts import Doubts
from regard.cli.languages import languages_of
from regard.cli.lines import STDOUT, check_output
from regard.cli.options import Beam, Device, Engine, Guard, Json, LengthPenalty
from regard.cli.process import warn
from regard.cli.translate_bulk import RunFlags
from regard.cli.translate_lines import check_attention
from regard.cli.translate_request import LineExtras, TranslateRequest
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.text.glossary import Glossary


def translate(
    text: flag.Texts = None,
    to: flag.TargetLanguage = None,
    source: flag.SourceLanguage = None,
    through: flag.ThroughLanguage = None,
    model: flag.ModelFolders = None,
    input: flag.InputFile = None,
    out: flag.OutputFile = None,
    beam: Beam = None,
    nbest: flag.Nbest = 1,
    length_penalty: LengthPenalty = None,
    steer: flag.LexiconWeight = 0.0,
    rules: flag.RulesWeight = 0.0,
    unknown: flag.UnknownWords = "keep",
    tag: flag.Tag = None,
    mend: flag.Mend = None,
    format: flag.FormatName = None,
    column: flag.Columns = None,
    split: flag.SplitInto = "sentences",
    protect: flag.Protect = True,
    localize: flag.Localize = False,
    glossary: flag.GlossaryFile = None,
    keep: flag.KeepFile = None,
    no_repeat: flag.NoRepeat = 0,
    guard: Guard = True,
    strict: flag.Strict = False,
    report: flag.ReportFile = None,
    repetition_penalty: search.RepetitionPenalty = 1.0,
    coverage_penalty: search.CoveragePenalty = 0.0,
    min_length: search.MinLength = 0,
    max_length: search.MaxLength = None,
    exact: search.Exact = False,
    groups: search.Groups = 1,
    diversity: search.Diversity = None,
    sample: search.Sample = False,
    temperature: search.Temperature = None,
    top_k: search.TopK = None,
    top_p: search.TopP = None,
    min_p: search.MinP = None,
    seed: search.Seed = None,
    mbr: search.MbrSamples = None,
    utility: search.UtilityName = None,
    prefix: search.Prefix = "",
    prefix_file: search.PrefixFile = None,
    alternatives: search.Alternatives = None,
    position: search.Position = None,
    batch_tokens: flag.BatchTokens = 4096,
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

    check_attention(attention, as_json, tag)
    drawn = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "seed": seed}
    options = {
        "beam": beam, "nbest": nbest, "length_penalty": length_penalty, "steer": steer, "rules": rules,
        "unknown": unknown, "tag": tag, "split": split, "protect": protect, "mend": mend, "localize": localize,
        "guard": guard, "no_repeat": no_repeat, "batch_tokens": batch_tokens, "repetition_penalty": repetition_penalty,
        "coverage_penalty": coverage_penalty, "min_length": min_length, "max_length": max_length, "exact": exact,
        "groups": groups, "diversity": search.diversity_of(groups, diversity), "prefix": prefix,
        "sampling": search.sampling_of(sample, mbr, beam, **drawn), "mbr": search.mbr_of(mbr, utility),
    }  # fmt: skip
    check_alternatives(
        alternatives, prefix, position,
        {"--nbest": nbest > 1, "--sample": sample, "--mbr": mbr is not None, "--attention": attention,
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
        options=options | {"glossary": glossary_of(glossary, keep)},
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
    from regard.data.term_files import read_glossary, read_keep

    terms = None if glossary is None else read_glossary(glossary)
    kept = None if keep is None else read_keep(keep)
    both = kept if terms is None else terms.joined(kept)
    for line in both.warnings if both else ():
        warn(line)
    return both
