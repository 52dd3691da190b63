"""A lab's outcome as tables for a terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from regard.course.labs.pronoun_polysemy import HeadCut, Lab, LabOutcome
from regard.explain.cutting import Head
from regard.explain.render.evidence_figure import rich_table


def lab_parts(lab: Lab, most: int = 8) -> Group:
    pronoun = lab.kind == "pronoun"
    what, other = ("the noun it means", "the other noun") if pronoun else ("the deciding word", "another word")
    cuts = rich_table(
        "heads cut", "pairs right", "sentences right", "P(right)", "log P(right)/P(wrong)", "log p elsewhere"
    )
    cuts.add_row("none", *_outcome(lab.plain))
    chosen = [("costliest", lab.by_effect), (f"leaning most to {what}", lab.by_attention)]
    chosen += [("most at the deciding word", lab.by_deciding)] if pronoun else []  # else they are the same word
    for name, one in chosen:
        cuts.add_row(f"{name}: {_heads(one.heads)}", *_outcome(one.outcome))
    cuts.add_row(f"random, mean of {len(lab.random)}", *_outcome(_mean(lab.random)))
    apart = lab.apart()
    if apart:
        cuts.add_row(f"random, {len(apart)} of them without a costliest head", *_outcome(_mean(apart)))
    worst = min(cut.outcome.pairs_right for cut in lab.random)
    better = sum(cut.outcome.pairs_right > lab.by_effect.outcome.pairs_right for cut in lab.random)
    effects = " · ".join(f"{head} {drop:+.2f}" for head, drop in list(lab.effects.items())[:most])
    return Group(
        Text(f"{lab.kind} lab: heads chosen on {lab.chosen_on} pairs of dev, measured on {lab.measured_on} others"),
        cuts,
        Text(f"random draws: {worst:.1%} of pairs right at worst; {better} of {len(lab.random)} beat the costliest"),
        Text("log p elsewhere: nats per token of the rest of the reference, which shows whether a cut hurts that, too"),
        Text(""),
        Text(f"what the word in question looks at: the {min(most, len(lab.attention))} heads that lean most to {what}"),
        _attention_table(lab, what, other, most),
        Text(f"margin lost when one head is cut, on dev: {effects}"),
    )


def _attention_table(lab: Lab, what: str, other: str, most: int) -> Table:
    pronoun = lab.kind == "pronoun"
    table = rich_table("head", what, other, *(["deciding word"] if pronoun else []), "itself", "margin lost by its cut")
    for one in lab.attention[:most]:
        shares = (one.means, one.others, *([one.decides] if pronoun else []), one.itself)
        table.add_row(str(one.head), *(f"{share:.3f}" for share in shares), f"{lab.effects[one.head]:+.2f}")
    return table


def _outcome(of: LabOutcome) -> list[str]:
    return [
        f"{of.pairs_right:.1%}",
        f"{of.sentences_right:.1%}",
        f"{of.p_right:.3f}",
        f"{of.margin:+.2f}",
        f"{of.elsewhere:.3f}",
    ]


def _mean(cuts: tuple[HeadCut, ...]) -> LabOutcome:
    rows = np.array([list(vars(cut.outcome).values()) for cut in cuts])
    return LabOutcome(*(float(x) for x in rows.mean(axis=0)))


def _heads(heads: tuple[Head, ...]) -> str:
    return " ".join(map(str, heads))
