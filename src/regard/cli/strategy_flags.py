"""The flags of search strategies, and what they mean together for `Translator.translate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.options import WIDEST_BEAM, number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.search.options import Mbr, Sampling

# ── beam search ──

Groups = Annotated[
    int,
    typer.Option(
        "--groups",
        parser=number("--groups", int, 1, WIDEST_BEAM),
        metavar="N",
        help="Diverse beam: N groups, of --beam together, each of which avoids the tokens of those before it.",
    ),
]
Diversity = Annotated[
    float | None,
    typer.Option(
        "--diversity",
        parser=number("--diversity", float, 0, 100),
        metavar="X",
        help="Of --groups: how strongly; taken off the log-probability of a token that another group has.  "
        "[default: 0.5]",
    ),
]
CoveragePenalty = Annotated[
    float,
    typer.Option(
        "--coverage-penalty",
        parser=number("--coverage-penalty", float, 0, 100),
        metavar="X",
        help="Against source words that nothing attends to: β of Wu et al. 2016; try 0.2.",
    ),
]
RepetitionPenalty = Annotated[
    float,
    typer.Option(
        "--repetition-penalty",
        parser=number("--repetition-penalty", float, 1, 100),
        metavar="X",
        help="Against words that were said before: their log-probability is multiplied by it; 1 changes nothing.",
    ),
]
MinLength = Annotated[
    int,
    typer.Option(
        "--min-length",
        parser=number("--min-length", int, 0, 100_000),
        metavar="N",
        help="Tokens of each translated sentence, at least.",
    ),
]
MaxLength = Annotated[
    int | None,
    typer.Option(
        "--max-length",
        parser=number("--max-length", int, 1, 100_000),
        metavar="N",
        help="Tokens of each translated sentence, at most.  [default: twice the source's and 20]",
    ),
]
Exact = Annotated[
    bool,
    typer.Option("--exact", help="Search until no hypothesis of the beam can still overtake the best ones."),
]

# ── sampling ──

Sample = Annotated[
    bool, typer.Option("--sample", help="Draw translations by their probability instead of searching for the best.")
]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        parser=number("--temperature", float),
        metavar="X",
        help="Of --sample: below 1 favours probable words.  [default: 1]",
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(
        "--top-k", parser=number("--top-k", int), metavar="N", help="Of --sample: from the N most probable tokens."
    ),
]
TopP = Annotated[
    float | None,
    typer.Option(
        "--top-p",
        parser=number("--top-p", float),
        metavar="X",
        help="Of --sample: from the fewest tokens that have the probability X together.",
    ),
]
MinP = Annotated[
    float | None,
    typer.Option(
        "--min-p",
        parser=number("--min-p", float),
        metavar="X",
        help="Of --sample: from the tokens with at least X times the best one's probability.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", parser=number("--seed", int), metavar="N", help="Of --sample.  [default: 0]")
]
MbrSamples = Annotated[
    int | None,
    typer.Option(
        "--mbr",
        parser=number("--mbr", int, 2, WIDEST_BEAM),
        metavar="N",
        help="Minimum Bayes risk: draw N samples and take the one that is most like all of them.",
    ),
]
UtilityName = Annotated[
    Literal["chrf", "bleu"] | None,
    typer.Option("--utility", help="Of --mbr: how alike two texts are.  [default: chrf]"),
]

# ── prefix ──

Prefix = Annotated[
    str,
    typer.Option(
        "--prefix", metavar="TEXT", help="How every translation begins; it may end inside a word, or with a space."
    ),
]
PrefixFile = Annotated[
    Path | None, typer.Option("--prefix-file", metavar="FILE", help="The same, one a line, for each line of the input.")
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


def sampling_of(sample: bool, mbr: int | None, beam: int | None, **given: Any) -> Sampling | None:
    """The sampling that the flags ask for; `given` has the fields of `Sampling`, None where there is no flag."""
    from regard.search.options import Sampling

    drawn = "--sample" if sample else "--mbr" if mbr is not None else None
    if drawn and beam is not None:
        raise InputError(f"{drawn} draws and --beam searches; give one or the other")
    fields = {name: value for name, value in given.items() if value is not None}
    if fields and not drawn:
        flag = next(iter(fields)).replace("_", "-")
        raise InputError(f"--{flag} is for drawn translations; add --sample")
    return Sampling(**fields) if drawn else None


def mbr_of(samples: int | None, utility: Literal["chrf", "bleu"] | None) -> Mbr | None:
    from regard.search.options import Mbr

    if samples is None and utility is not None:
        raise InputError("--utility is of minimum Bayes risk; add --mbr 32")
    return None if samples is None else Mbr(samples, utility or "chrf")


def diversity_of(groups: int, diversity: float | None) -> float:
    if groups == 1 and diversity is not None:
        raise InputError("--diversity is of a beam in groups; add --groups 2")
    return 0.5 if diversity is None else diversity
