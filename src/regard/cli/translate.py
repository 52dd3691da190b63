"""`regard translate`: texts, lines or a document, from words, a file or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.alternatives import check_alternatives
from regard.cli.doubts import Doubts
from regard.cli.languages import languages_of
from regard.cli.lines import check_output
from regard.cli.options import Beam, Device, Engine, Guard, Json, LengthPenalty
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
from regard.cli.translate_bulk import RunFlags
from regard.cli.translate_flags import (
    Alignments,
    BatchTokens,
    Columns,
    FormatName,
    GlossaryFile,
    InputFile,
    KeepFile,
    LexiconWeight,
    Localize,
    Mend,
    ModelFolders,
    Nbest,
    NoRepeat,
    OutputFile,
    Protect,
    ReportFile,
    Restart,
    RulesWeight,
    ShowAttention,
    SourceLanguage,
    SplitInto,
    Strict,
    Tag,
    TargetLanguage,
    Texts,
    ThroughLanguage,
    TokenScores,
    UnknownWords,
    Workers,
)
from regard.cli.translate_lines import check_attention
from regard.cli.translate_request import LineExtras, TranslateRequest
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.text.glossary import Glossary


def translate(
    text: Texts = None,
    to: TargetLanguage = None,
    source: SourceLanguage = None,
    through: ThroughLanguage = None,
    model: ModelFolders = None,
    input: InputFile = None,
    out: OutputFile = None,
    beam: Beam = None,
    nbest: Nbest = 1,
    length_penalty: LengthPenalty = None,
    steer: LexiconWeight = 0.0,
    rules: RulesWeight = 0.0,
    unknown: UnknownWords = "keep",
    tag: Tag = None,
    mend: Mend = None,
    format: FormatName = None,
    column: Columns = None,
    split: SplitInto = "sentences",
    protect: Protect = True,
    localize: Localize = False,
    glossary: GlossaryFile = None,
    keep: KeepFile = None,
    no_repeat: NoRepeat = 0,
    guard: Guard = True,
    strict: Strict = False,
    report: ReportFile = None,
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
    batch_tokens: BatchTokens = 4096,
    workers: Workers = None,
    restart: Restart = False,
    alignments: Alignments = False,
    token_scores: TokenScores = False,
    attention: ShowAttention = False,
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
    from regard.bulk.rows import OutputForm

    check_attention(attention, as_json, tag)
    drawn = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "seed": seed}
    options = {
        "beam": beam, "nbest": nbest, "length_penalty": length_penalty, "steer": steer, "rules": rules,
        "unknown": unknown, "tag": tag, "split": split, "protect": protect, "mend": mend, "localize": localize,
        "guard": guard, "no_repeat": no_repeat, "batch_tokens": batch_tokens, "repetition_penalty": repetition_penalty,
        "coverage_penalty": coverage_penalty, "min_length": min_length, "max_length": max_length, "exact": exact,
        "groups": groups, "diversity": diversity_of(groups, diversity),
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
