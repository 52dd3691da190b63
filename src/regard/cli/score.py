"""`regard bleu`: its flags. What they ask for is done in `scoring.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from regard.cli.lines import STDIN, number
from regard.errors import InputError

METRICS = ("bleu", "chrf", "ter")


class ScoreCommand(TyperCommand):
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
            metavar="HYP...", help="Translations, one a line (.gz and .xz too), one file a system; - is standard input."
        ),
    ],
    ref: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="References, line by line; repeat the flag for several. A .tsv has one reference a column; an empty "
            "cell is a gap.",
        ),
    ],
    metrics: Annotated[
        list[str] | None, typer.Option("-m", "--metrics", metavar="NAME...", help="bleu, chrf, ter.  [default: bleu]")
    ] = None,
    tokenize: Annotated[
        str, typer.Option(metavar="NAME", help="BLEU: sacreBLEU's tokenisers: 13a, intl, char, zh, none, …")
    ] = "13a",
    lowercase: Annotated[bool, typer.Option("--lowercase", "-lc", help="Ignore case.")] = False,
    smooth: Annotated[str, typer.Option(metavar="NAME", help="BLEU: exp, floor, add-k or none.")] = "exp",
    smooth_value: Annotated[
        float | None,
        typer.Option(parser=number("--smooth-value", float), metavar="X", help="BLEU: of floor (0.1) and add-k (1)."),
    ] = None,
    max_order: Annotated[
        int | None,
        typer.Option(parser=number("--max-order", int), metavar="N", help="BLEU: longest n-grams.  [default: 4]"),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="W,W,…", help="BLEU: one weight per order, summing to 1.  [default: equal]")
    ] = None,
    ref_length: Annotated[
        str, typer.Option(metavar="NAME", help="BLEU: the reference length held against: closest, shortest, average.")
    ] = "closest",
    effective_order: Annotated[
        bool, typer.Option("--effective-order", help="BLEU: leave out orders longer than every hypothesis.")
    ] = False,
    char_order: Annotated[
        int, typer.Option(parser=number("--char-order", int), metavar="N", help="chrF: longest run of letters.")
    ] = 6,
    word_order: Annotated[
        int, typer.Option(parser=number("--word-order", int), metavar="N", help="chrF: 2 makes it chrF++.")
    ] = 0,
    beta: Annotated[
        int, typer.Option(parser=number("--beta", int), metavar="N", help="chrF: recall counts so much more.")
    ] = 2,
    sentence_level: Annotated[
        bool, typer.Option("--sentence-level", "-sl", help="One score a line (BLEU with effective order).")
    ] = False,
    confidence: Annotated[bool, typer.Option("--confidence", help="95% intervals by bootstrap.")] = False,
    paired: Annotated[
        str | None,
        typer.Option(metavar="TEST", help="Compare systems with the first: bootstrap, or randomisation."),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            parser=number("--samples", int),
            metavar="N",
            help="Resamples or trials.  [default: 1000; for randomisation 10000]",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=number("--seed", int), metavar="N", help="Of the resampling; sacreBLEU's is 12345.")
    ] = 12345,
    explain: Annotated[bool, typer.Option("--explain", help="Show the working of BLEU, step by step.")] = False,
    line: Annotated[
        int | None,
        typer.Option(parser=number("--line", int), metavar="N", help="With --explain: one line, counted from 1."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="Scores in buckets: source-length, reference-length, frequency (of words), tags."
        ),
    ] = None,
    src: Annotated[Path | None, typer.Option(metavar="FILE", help="The source text, for --by source-length.")] = None,
    tags: Annotated[Path | None, typer.Option(metavar="FILE", help="Tags, a line each, for --by tags.")] = None,
    counts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text to count words in, for --by frequency.  [default: the references]"),
    ] = None,
    edges: Annotated[str | None, typer.Option(metavar="N,N,…", help="Where buckets begin.")] = None,
    differences: Annotated[
        int,
        typer.Option(
            parser=number("--differences", int),
            metavar="K",
            help="Two systems: the K lines that differ most, each way.",
        ),
    ] = 0,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write --explain, --by and --differences as a page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    width: Annotated[
        int, typer.Option("-w", "--width", parser=number("--width", int), metavar="N", help="Digits after the point.")
    ] = 2,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")] = False,
) -> None:
    """Score translations by BLEU, chrF or TER; the numbers and signatures are sacreBLEU's.

    One file:  regard bleu out.fr --ref test.fr

    See how the number comes about:  regard bleu out.fr --ref test.fr --explain --line 3

    Is B better than A?  regard bleu a.fr b.fr --ref test.fr --paired bootstrap

    Where?  regard bleu a.fr b.fr --ref test.fr --by reference-length --differences 5
    """
    from regard.cli import scoring
    from regard.metrics.bleu import MAX_ORDER

    if [*hypothesis, *ref].count(STDIN) > 1:
        raise InputError('standard input ("-") can be read once; name files for the others')
    weighed = scoring.numbers("--weights", weights, float) if weights is not None else None
    order = max_order if max_order is not None else len(weighed) if weighed else MAX_ORDER
    effective = effective_order or sentence_level
    chosen = scoring.metrics(
        metrics or ["bleu"],
        bleu=(tokenize, lowercase, smooth, smooth_value, order, weighed, ref_length, effective),
        chrf=(char_order, word_order, beta, lowercase),
    )
    job = scoring.read(hypothesis, ref, chosen, width)
    if explain or line is not None:
        parts = [scoring.explain(job, line)]
    elif sentence_level:
        parts = [scoring.each_line(job)]
    else:
        parts = [scoring.whole(job, confidence, paired, samples, seed)]
        if by is not None:
            parts.append(scoring.buckets(job, by, src=src, tags=tags, counts=counts, edges=edges))
        if differences:
            parts.append(scoring.differences(job, differences, src))
    if not quiet:
        scoring.warn(job)
    scoring.publish(parts, as_json, html)
