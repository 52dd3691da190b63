"""The result of a lab as text and as data."""

from __future__ import annotations

import numpy as np

from regard.course.labs.pronoun_polysemy import HeadCut, Lab, LabOutcome
from regard.report.deliver import Output
from regard.report.table import Table

MOST_HEADS = 8  # listed


def lab_output(lab: Lab) -> Output:
    return Output(text=lambda: lab_text(lab), data=lab.as_dict)


def lab_text(lab: Lab) -> str:
    words = ("the antecedent", "the other noun") if lab.kind == "pronoun" else ("the deciding word", "another word")
    worst = min(cut.outcome.pairs_right for cut in lab.random)
    better = sum(cut.outcome.pairs_right > lab.by_effect.outcome.pairs_right for cut in lab.random)
    effects = " · ".join(f"{head} {drop:+.2f}" for head, drop in list(lab.effects.items())[:MOST_HEADS])
    lines = [
        f"{lab.kind} lab: heads chosen on {lab.chosen_on} pairs of dev, measured on {lab.measured_on} others",
        _cut_table(lab, words[0]).text(),
        f"random draws: {worst:.1%} of pairs right at worst; {better} of {len(lab.random)} beat the costliest",
        "log p elsewhere: nats per token of the rest of the reference, which shows whether a cut hurts that too",
        "",
        f"attention of the ambiguous word, by its weight on {words[0]} minus that on {words[1]}",
        _attention_table(lab, *words).text(),
        f"margin lost when one head is cut, on dev: {effects}",
    ]
    return "\n".join(lines)


def _cut_table(lab: Lab, what: str) -> Table:
    chosen = [("costliest", lab.by_effect), (f"most to {what}", lab.by_attention)]
    chosen += [("most to the deciding word", lab.by_deciding)] if lab.kind == "pronoun" else []  # else the same word
    rows = [("none", lab.plain)]
    rows += [(f"{name}: {' '.join(map(str, one.heads))}", one.outcome) for name, one in chosen]
    rows.append((f"random, mean of {len(lab.random)}", _mean(lab.random)))
    if lab.apart():
        rows.append((f"random, {len(lab.apart())} of them without a costliest head", _mean(lab.apart())))
    header = ("heads cut", "pairs right", "sentences right", "P(right)", "log P(right)/P(wrong)", "log p elsewhere")
    return Table(header, [[name, *_figures(outcome)] for name, outcome in rows])


def _attention_table(lab: Lab, what: str, other: str) -> Table:
    pronoun = lab.kind == "pronoun"
    rows = []
    for one in lab.attention[:MOST_HEADS]:
        shares = (one.means, one.others, *([one.decides] if pronoun else []), one.itself)
        rows.append([str(one.head), *(f"{share:.3f}" for share in shares), f"{lab.effects[one.head]:+.2f}"])
    return Table(
        ("head", what, other, *(["deciding word"] if pronoun else []), "itself", "margin lost by its cut"), rows
    )


def _figures(of: LabOutcome) -> list[str]:
    shares = [f"{of.pairs_right:.1%}", f"{of.sentences_right:.1%}"]
    return [*shares, f"{of.p_right:.3f}", f"{of.margin:+.2f}", f"{of.elsewhere:.3f}"]


def _mean(cuts: tuple[HeadCut, ...]) -> LabOutcome:
    rows = np.array([list(vars(cut.outcome).values()) for cut in cuts])
    return LabOutcome(*(float(x) for x in rows.mean(axis=0)))
