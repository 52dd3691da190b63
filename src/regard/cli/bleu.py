"""`regard bleu`: its flags. `scoring.py` does the work."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from regard.cli.lines import STDIN
from regard.cli.options import Json, NumberList, Tokenize, bounded, file_flag, number, numbers
from regard.errors import InputError
from regard.metrics import METRICS

MOST_DIGITS = 15  # of a double
MOST_RESAMPLES = 1_000_000


class MetricName(StrEnum):
    """The names of the table of metrics."""

    vars().update({name.upper(): name for name in METRICS})


class BleuCommand(TyperCommand):
    """Lets `-m bleu chrf ter` name several metrics after one flag, as sacreBLEU's users write it."""

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
    ref: Annotated[
        list[Path],
        file_flag(
            "--ref",
            "References, line by line; can be given several times. A .tsv has one reference a column, and "
            "an empty cell is a missing reference.",
        ),
    ],
    metrics: Annotated[
        list[MetricName] | None, typer.Option("-m", "--metrics", help="One or more.  [default: bleu]")
    ] = None,
    tokenize: Tokenize = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", "-lc", help="Ignore case.")] = False,
    smooth: Annotated[
        Literal["exp", "floor", "add-k", "none"], typer.Option("--smooth", help="BLEU: smoothing of zero counts.")
    ] = "exp",
    smooth_value: Annotated[
        float | None,
        typer.Option(
            "--smooth-value",
            parser=number("--smooth-value", float),
            metavar="X",
            help="BLEU: the value of floor (0.1) or of add-k (1).",
        ),
    ] = None,
    max_order: Annotated[int | None, bounded("--max-order", int, "BLEU: longest n-grams.  [default: 4]")] = None,
    order_weights: Annotated[
        NumberList | None,
        typer.Option(
            "--order-weights",
            parser=numbers("--order-weights", float),
            metavar="X,X,…",
            help="BLEU: one weight per order; they sum to 1.  [default: equal]",
        ),
    ] = None,
    ref_length: Annotated[
        Literal["closest", "shortest", "average"],
        typer.Option("--ref-length", help="BLEU: which reference's length counts for the brevity penalty."),
    ] = "closest",
    effective_order: Annotated[
        bool, typer.Option("--effective-order", help="BLEU: leave out orders longer than every hypothesis.")
    ] = False,
    char_order: Annotated[int, bounded("--char-order", int, "chrF: longest character n-grams.")] = 6,
    word_order: Annotated[int, bounded("--word-order", int, "chrF: longest word n-grams; 2 is chrF++.")] = 0,
    beta: Annotated[int, bounded("--beta", int, "chrF: how much more recall counts than precision.")] = 2,
    sentence_level: Annotated[
        bool, typer.Option("--sentence-level", "-sl", help="One score a line (BLEU with effective order).")
    ] = False,
    confidence: Annotated[bool, typer.Option("--confidence", help="95% intervals by bootstrap.")] = False,
    paired: Annotated[
        Literal["bootstrap", "randomisation"] | None,
        typer.Option("--paired", help="Test whether each system differs from the first."),
    ] = None,
    resamples: Annotated[
        int | None,
        bounded(
            "--resamples", int, "Resamples or trials.  [default: 1000; for randomisation 10000]", 1, MOST_RESAMPLES
        ),
    ] = None,
    seed: Annotated[int, bounded("--seed", int, "Of the resampling.")] = 12345,
    explain: Annotated[bool, typer.Option("--explain", help="Show how BLEU is computed, step by step.")] = False,
    line: Annotated[int | None, bounded("--line", int, "With --explain: one line, counted from 1.")] = None,
    by: Annotated[
        Literal["source-length", "reference-length", "frequency", "tags"] | None,
        typer.Option("--by", help="Scores by length, by frequency of words or by tag."),
    ] = None,
    src: Annotated[Path | None, file_flag("--src", "The source text, for --by source-length.")] = None,
    line_tags: Annotated[Path | None, file_flag("--line-tags", "The tags of each line, for --by tags.")] = None,
    counts: Annotated[
        Path | None, file_flag("--counts", "Text to count words in, for --by frequency.  [default: the references]")
    ] = None,
    edges: Annotated[
        NumberList | None,
        typer.Option(
            "--edges", parser=numbers("--edges", int), metavar="N,N,…", help="Where the groups of --by begin."
        ),
    ] = None,
    differences: Annotated[
        int, bounded("--differences", int, "Two systems: the N lines that differ most, each way.", 0)
    ] = 0,
    out: Annotated[
        Path | None, file_flag("--out", "A .html (for --explain, --by and --differences), .json or .txt.")
    ] = None,
    as_json: Json = False,
    digits: Annotated[
        int,
        typer.Option(
            "-w",
            "--digits",
            parser=number("--digits", int, 0, MOST_DIGITS),
            metavar="N",
            help="Digits after the point.",
        ),
    ] = 2,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")] = False,
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
