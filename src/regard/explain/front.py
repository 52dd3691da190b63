"""The front of the package: a model, a sentence, and all attention between and within its two sides.

    explain(translator, "The cat sleeps.").grid()             one map between words, as a figure may show it
                                          .sheet("encoder")   every layer and head
                                          .arcs("cat")        one word, head by head

It is of the translation that `translate` gives (`request.py`). Which cross-attention is shown is the card's choice
where one was measured (`views.py`); another one is shown as "not evaluated". This file draws nothing (`render/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.align.attention import RowMeaning, View
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.arcs import Arcs, Side, arcs_of
from regard.explain.grid import KINDS, Grid, trace_grid
from regard.explain.request import request
from regard.explain.sheet import Sheet, sheet_of
from regard.explain.trace import Kind, Trace, trace_sentence
from regard.explain.views import stored_view
from regard.translation.translator import TextTranslator

TITLES = {
    "cross": "Each target word (down) and the source words it attends to (across)",
    "encoder": "Each source word (down) and the source words it attends to (across)",
    "decoder": "Each target word (down) and the words before it that it attends to (across)",
}


@dataclass(frozen=True, repr=False)
class Explanation:
    """One translated sentence and its attention."""

    trace: Trace
    view: View  # of the cross-attention that is read as the alignment
    trust: Trust | None  # in that view; None where it was never measured
    text: str  # the sentence as it was given; the model may have read it otherwise (`trace.source`)
    translation: str  # as `translate` gives it; what was repaired after the search is not in the maps (`trace.how`)

    def __repr__(self) -> str:
        return f"Explanation({self.text!r} → {self.translation!r})"

    def chosen(
        self, kind: Kind = "cross", layer: int | None = None, head: int | None = None, row: RowMeaning | None = None
    ) -> View:
        """What is not given is the card's choice for cross-attention, else the last layer and the mean of heads.
        Layers and heads count from 0."""
        if kind not in KINDS:
            raise InputError(f'kind must be {", ".join(KINDS)}, but is "{kind}"')
        if kind == "cross":
            start = self.view if layer in (None, self.view.layer) else replace(self.view, head=None)
        else:
            start = View(max(0, len(getattr(self.trace, kind)) - 1))
        return View(
            start.layer if layer is None else layer,
            start.head if head is None else head,
            start.row if row is None else row,
        )

    def grid(
        self,
        kind: Kind = "cross",
        layer: int | None = None,
        head: int | None = None,
        row: RowMeaning | None = None,
        *,
        words: bool = True,
        specials: bool = False,
    ) -> Grid:
        view = self.chosen(kind, layer, head, row)
        trust = self.trust if kind == "cross" and view == self.view else None
        found = trace_grid(self.trace, view, kind, words=words, specials=specials, trust=trust, title=TITLES[kind])
        return replace(found, caption=f"{found.caption} · {self.trace.how}")

    def sheet(self, kind: Kind = "cross", row: RowMeaning | None = None, *, words: bool = True) -> Sheet:
        view = self.chosen(kind, row=row)
        return sheet_of(self.trace, kind, view.row, words=words, known=self._known(kind))

    def arcs(
        self,
        word: str,
        kind: Kind = "encoder",
        layer: int | None = None,
        heads: Sequence[int] | None = None,
        side: Side = "target",
        row: RowMeaning | None = None,
    ) -> Arcs:
        """Of all heads of the layer where none are named."""
        view = self.chosen(kind, layer, row=row)
        self.trace.weights(view, kind)  # refuses a layer that is not there
        every = range(len(getattr(self.trace, kind)[view.layer]))
        views = [replace(view, head=head) for head in (every if heads is None else heads)]
        return arcs_of(self.trace, word, views, kind, side, view.row, self._known(kind))

    def _known(self, kind: Kind) -> dict[View, Trust]:
        return {} if self.trust is None or kind != "cross" else {self.view: self.trust}


def explain(
    model: TextTranslator | Bundle,
    text: str,
    target: str | None = None,
    *,
    sentence: int | None = None,
    beam: int | None = None,
    nbest: int = 0,
) -> Explanation:
    """Translate a sentence as `translate` does, or force the given translation, and keep all attention. Of a text of
    several sentences, `sentence` is the number of one; `nbest` is the place in the n-best list. Both count from 0."""
    if target is not None and (beam is not None or nbest):
        raise InputError(
            "a translation that is given is not searched for; give a target or a beam, not both",
            parameter=("target", "beam"),
        )
    asked = request(model, text, sentence=sentence, beam=beam)
    said = asked.said(target, nbest)
    found = replace(trace_sentence(asked.bundle, asked.source, said.ids, slots=asked.slots), how=said.how)
    return Explanation(found, *stored_view(asked.bundle), asked.text, said.translation)
