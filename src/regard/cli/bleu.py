"""`regard bleu`: its flags. The work is done in `scoring.py`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from regard.cli.lines import STDIN
from regard.cli.options import FlagTable, Json, NumberList, Tokenize, numbers
from regard.errors import InputError
from regard.metrics import METRICS

FLAGS = FlagTable("""
--ref FILE                 References, line by line; can be given several times. A .tsv has one reference a column, and
                           an empty cell is a missing reference.
-m --metrics               One or more. [default: bleu]
--lowercase -lc            Ignore case.
--smooth                   BLEU: smoothing of zero counts.
--smooth-value X           BLEU: the value of floor (0.1) or of add-k (1).
--max-order N              BLEU: longest n-grams. [default: 4]
--order-weights X,X,…      BLEU: one weight per order; they sum to 1. [default: equal]
--ref-length               BLEU: which reference's length counts for the brevity penalty.
--effective-order          BLEU: leave out orders longer than every hypothesis.
--char-order N             chrF: longest character n-grams.
--word-order N             chrF: longest word n-grams; 2 is chrF++.
--beta N                   chrF: how much more recall counts than precision.
--sentence-level -sl       One score a line (BLEU with effective order).
--confidence               95% intervals by bootstrap.
--paired                   Test whether each system differs from the first.
--resamples N 1..1000000   Resamples or trials. [default: 1000; for randomisation 10000]
--seed N                   Of the resampling.
--explain                  Show how BLEU is computed, step by step.
--line N                   With --explain: one line, counted from 1.
--by                       Scores by length, by frequency of words or by tag.
--src FILE                 The source text, for --by source-length.
--line-tags FILE           The tags of each line, for --by tags.
--counts FILE              Text to count words in, for --by frequency. [default: the references]
--edges N,N,…              Where the groups of --by begin.
--differences N 0..        Two systems: the N lines that differ most, each way.
--out FILE                 A .html (for --explain, --by and --differences), .json or .txt.
-w --digits N 0..15        Digits after the point.
-q --quiet                 No warnings.
""")


class MetricName(StrEnum):
    """The names in the table of metrics."""

    vars().update({name.upper(): name for name in METRICS})


class BleuCommand(TyperCommand):
    """Allows `-m bleu chrf ter`: several metrics after one flag, as in sacreBLEU."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        spread: list[str] = []
        flag = ""
        for word in args:
            if flag and word in METRICS and spread[-1] != flag:
                spread.append(flag)
            elif not (flag and word in METRICS):
                flag = word if word in ("-m", "--metrics") else ""
            spread.append(word)
        return super().parse_args(ctx, spread)


def bleu(
    hypothesis: Annotated[
        list[Path],
        typer.Argument(
            metavar="HYP...",
            help="Translations, one a line (.gz .xz .bz2 .zst too), one file a system; - is standard input.",
        ),
    ],
    ref: Annotated[list[Path], FLAGS("--ref")],
    metrics: Annotated[list[MetricName] | None, FLAGS("--metrics")] = None,
    tokenize: Tokenize = "13a",
    lowercase: Annotated[bool, FLAGS("--lowercase")] = False,
    smooth: Annotated[Literal["exp", "floor", "add-k", "none"], FLAGS("--smooth")] = "exp",
    smooth_value: Annotated[float | None, FLAGS("--smooth-value")] = None,
    max_order: Annotated[int | None, FLAGS("--max-order")] = None,
    order_weights: Annotated[NumberList | None, FLAGS("--order-weights", numbers("--order-weights", float))] = None,
    ref_length: Annotated[Literal["closest", "shortest", "average"], FLAGS("--ref-length")] = "closest",
    effective_order: Annotated[bool, FLAGS("--effective-order")] = False,
    char_order: Annotated[int, FLAGS("--char-order")] = 6,
    word_order: Annotated[int, FLAGS("--word-order")] = 0,
    beta: Annotated[int, FLAGS("--beta")] = 2,
    sentence_level: Annotated[bool, FLAGS("--sentence-level")] = False,
    confidence: Annotated[bool, FLAGS("--confidence")] = False,
    paired: Annotated[Literal["bootstrap", "randomisation"] | None, FLAGS("--paired")] = None,
    resamples: Annotated[int | None, FLAGS("--resamples")] = None,
    seed: Annotated[int, FLAGS("--seed")] = 12345,
    explain: Annotated[bool, FLAGS("--explain")] = False,
    line: Annotated[int | None, FLAGS("--line")] = None,
    by: Annotated[Literal["source-length", "reference-length", "frequency", "tags"] | None, FLAGS("--by")] = None,
    src: Annotated[Path | None, FLAGS("--src")] = None,
    line_tags: Annotated[Path | None, FLAGS("--line-tags")] = None,
    counts: Annotated[Path | None, FLAGS("--counts")] = None,
    edges: Annotated[NumberList | None, FLAGS("--edges", numbers("--edges", int))] = None,
    differences: Annotated[int, FLAGS("--differences")] = 0,
    out: Annotated[Path | None, FLAGS("--out")] = None,
    as_json: Json = False,
    digits: Annotated[int, FLAGS("--digits")] = 2,
    quiet: Annotated[bool, FLAGS("--quiet")] = False,
) -> None:
    """Score translations by BLEU, chrF or TER.

    The numbers and signatures are those of sacreBLEU. Several files are several systems: the first is
    the baseline of --paired and --differences.

    \b
      regard bleu dev.out --ref corpus/dev.fr --explain --line 3
      regard bleu dev.out other.out --ref corpus/dev.fr --paired bootstrap --by reference-length
    """
    from regard.cli import scoring
    from regard.metrics.bleu import MAX_ORDER
    from regard.report.deliver import check_out

    if [*hypothesis, *ref].count(STDIN) > 1:
        raise InputError('standard input ("-") can be read once; name files for the others')
    check_out(out, (".html", ".json", ".txt"))
    order = max_order if max_order is not None else len(order_weights) if order_weights else MAX_ORDER
    effective = effective_order or sentence_level
    chosen = scoring.metrics(
        metrics or ["bleu"],
        {
            "tokenize": tokenize, "lowercase": lowercase, "smooth": smooth, "smooth_value": smooth_value,
            "max_order": order, "weights": order_weights, "ref_length": ref_length, "effective_order": effective,
            "char_order": char_order, "word_order": word_order, "beta": beta,
        },
    )  # fmt: skip
    job = scoring.read(hypothesis, ref, chosen, digits)
    if explain or line is not None:
        parts = [scoring.explain(job, line)]
    elif sentence_level:
        parts = [scoring.each_line(job)]
    else:
        parts = [scoring.whole(job, confidence, paired, resamples, seed)]
        if by is not None:
            parts.append(scoring.buckets(job, by, src=src, tags=line_tags, counts=counts, edges=edges))
        if differences:
            parts.append(scoring.differences(job, differences, src))
    if not quiet:
        scoring.warn(job)
    scoring.publish(parts, as_json, out)
