"""Evidence and the importance of heads as outputs: tables for a terminal, maps for a page, data for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from regard.explain.alignment import NOT_EVALUATED
from regard.explain.evidence import Evidence
from regard.explain.grid import Grid
from regard.explain.importance import Importance
from regard.explain.render.html import maps_page
from regard.explain.render.map_drawing import heat
from regard.report.deliver import Output
from regard.report.drawing import gathered
from regard.report.json import rounded
from regard.report.table import Table
from regard.report.text import printable

BLANKED = {
    "mean": "each source word's subwords are read as the mean of all embeddings; the others keep their places",
    "removed": "each source word's subwords are taken out; the words after it move up",
}


TITLE = "What each target word lost when a source word was blanked, and what it attended to"


def evidence_output(found: Evidence, cuts: list[dict[str, Any]] | None = None) -> Output:
    grids = evidence_grids(found)

    def text() -> Group:
        parts: list[RenderableType] = [Text(TITLE), evidence_table(found).rich()]
        parts += [Text(line, style="dim") for line in notes(found)]
        if cuts:
            parts += [Text(""), cuts_table(cuts).rich()]
        return Group(*parts)

    return Output(
        text=text,
        data=lambda: rounded(evidence_data(found) | ({"cuts": cuts} if cuts else {})),
        page=lambda: maps_page(TITLE, grids),
        drawing=lambda: gathered([heat(grid) for grid in grids]),
    )


def evidence_table(found: Evidence) -> Table:
    """A row per target word: the source word it depends on most, the one it attends to most, and ρ."""
    names = ["target word", "log p", "lost most without", "Δ log p", "attends most to", "weight", "ρ", "grad×input"]
    unknown = [float("nan")] * len(found.target_words)
    rho = found.agreement(found.attention)[0] if found.attention is not None else unknown
    rows = []
    for w, word in enumerate(found.target_words):
        best = int(found.drops[w].argmax())
        seen, weight = "–", "–"
        if found.attention is not None and np.isfinite(found.attention[w]).all():
            most = int(found.attention[w].argmax())
            seen, weight = found.source_words[most], f"{found.attention[w, most]:.2f}"
        row = [word, f"{found.log_probs[w]:.2f}", found.source_words[best], f"{found.drops[w, best]:.2f}", seen, weight]
        rows.append([*row, number(rho[w]), found.source_words[int(found.gradients[w].argmax())]])
    return Table(names, rows)


def notes(found: Evidence) -> list[str]:
    lines = [f"blanked as {found.blank}: {BLANKED[found.blank]}"]
    whole = found.total
    order = np.argsort(-whole)[:5]
    most = " · ".join(f"{printable(found.source_words[v])} {whole[v]:.1f}" for v in order)
    lines.append(f"the whole output loses most without: {most} (nats)")
    for name, values in (("attention", found.attention), ("gradient × input", found.gradients)):
        if values is None:
            lines.append("this model has no attention to compare")
            continue
        rows, whole_rho = found.agreement(values)
        known = [rho for rho in rows if np.isfinite(rho)]
        mean = f"{np.mean(known):.2f}" if known else "–"
        lines.append(
            f"{name} against Δ log p: Spearman ρ {number(whole_rho)} over all cells, {mean} on the mean of words, "
            f"the same source word first for {found.same_best(values):.0%} of target words"
        )
    if found.view is not None:
        error = found.trust or NOT_EVALUATED
        lines.append(f"attention: {found.view} · {error}")
    return lines


def evidence_grids(found: Evidence) -> tuple[Grid, ...]:
    """Maps of Δ, as shares of all that helped a target word, and of attention."""
    caption = (
        f"blanked as {found.blank} · a row is what each source word's blanking cost, as a share of all that it cost"
    )
    helped = np.maximum(found.drops, 0)
    whole = helped.sum(axis=1, keepdims=True)
    shares = np.divide(helped, whole, out=np.zeros_like(helped), where=whole > 0)
    problems = tuple(None if w > 0 else "not drawn: no source word helped" for w in whole[:, 0])
    grids = [_grid(found, shares, "What each target word lost with each source word", caption, problems, "")]
    if found.attention is not None and found.view is not None:
        rho = number(found.agreement(found.attention)[1])
        error = found.trust or NOT_EVALUATED
        bad = tuple(
            None if np.isfinite(row).all() else "not drawn: contains NaN or infinity" for row in found.attention
        )
        caption = f"{found.view} · {error} · Spearman ρ against the map above {rho}"
        grids.append(
            _grid(found, np.nan_to_num(found.attention), "What it attends to", caption, bad, found.hidden_name)
        )
    return tuple(grids)


def _grid(
    found: Evidence,
    values: NDArray[np.float64],
    title: str,
    caption: str,
    problems: tuple[str | None, ...],
    hidden: str,
) -> Grid:
    rest = np.maximum(0, 1 - values.sum(axis=1)) if hidden else np.zeros(len(values))
    return Grid(found.target_words, found.source_words, values, rest, title, caption, problems, hidden)


def evidence_data(found: Evidence) -> dict[str, Any]:
    """Returns the data for `rounded`, which writes arrays as lists and NaN as null."""

    def agreement(values: NDArray[np.float64] | None) -> dict[str, Any] | None:
        if values is None:
            return None
        rows, whole = found.agreement(values)
        return {"per_target_word": rows, "all": whole, "same_first": found.same_best(values)}

    return {
        "source": found.source,
        "target": found.target,
        "source_words": found.source_words,
        "target_words": found.target_words,
        "blank": found.blank,
        "log_probs": found.log_probs,
        "drops": found.drops,
        "drops_of_end": found.end_drops,
        "drops_in_all": found.total,
        "gradient_times_input": found.gradients,
        "attention": found.attention,
        "view": None if found.view is None else str(found.view),
        "spearman_of_attention": agreement(found.attention),
        "spearman_of_gradient": agreement(found.gradients),
    }


def cuts_table(cuts: list[dict[str, Any]]) -> Table:
    rows = [[one["heads"], f"{one['drop']:.2f}", one["output"]] for one in cuts]
    return Table(["cut", "Δ log p", "the new output"], rows, left=(0, 2))


# ------------------------------------------------------------------------------------------------ heads


def importance_output(found: Importance) -> Output:
    def text() -> str:
        rows = [[str(head), f"{drop:.4f}"] for head, drop in found.drops.items()]
        best, drops = " ".join(map(str, found.best)), found.random_drops
        spread = f"{np.mean(drops):.3f} on average, {min(drops):.3f} … {max(drops):.3f}"
        lines = [
            Table(["head", "nats per token lost when it is cut"], rows).text(),
            f"{best} cut together, on other sentences: {found.best_drop:.3f} nats per token",
            f"{len(found.best)} random heads: {spread}; {found.beaten} of {len(drops)} draws cost less",
        ]
        return "\n".join(lines)

    return Output(text=text, data=lambda: rounded(importance_data(found)))


def importance_data(found: Importance) -> dict[str, Any]:
    return {
        "drops": {str(head): drop for head, drop in found.drops.items()},
        "best": [str(head) for head in found.best],
        "best_drop": found.best_drop,
        "random_drops": list(found.random_drops),
    }


def number(rho: float) -> str:
    return f"{rho:.2f}" if np.isfinite(rho) else "–"
