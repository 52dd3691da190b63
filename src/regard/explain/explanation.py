"""The entry point of the package: explains a sentence, with all attention between and within source and target.

    explain(translator, "The cat sleeps.").grid()             one map between words
                                          .sheet("encoder")   every layer and head
                                          .arcs("cat")        one word, head by head

The translation is the one that `translate` returns (`sentence_pair.py`). The default cross-attention map is the card's
choice where one was measured (`views.py`); any other is labeled "not evaluated". `render/` draws the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from regard.align.attention import RowMeaning, View
from regard.bundle.bundle import Bundle
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.grid import KINDS, Grid, trace_grid
from regard.explain.heads import Arcs, Sheet, Side, arcs_of, sheet_of
from regard.explain.sentence_pair import SentencePair, sentence_pair
from regard.explain.trace import Kind, Trace
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
    trust: Trust | None  # of that view; None if it was not measured
    text: str  # the sentence as it was given; the model may have read another text (`trace.source`)
    translation: str  # as `translate` returns it; repairs after the search are not in the maps (`trace.how`)

    def __repr__(self) -> str:
        return f"Explanation({self.text!r} → {self.translation!r})"

    def chosen(
        self, kind: Kind = "cross", layer: int | None = None, head: int | None = None, row: RowMeaning | None = None
    ) -> View:
        """Returns the view to show. Defaults: the card's choice for cross-attention, else the last layer and the mean
        of heads. Layers and heads count from 0."""
        if kind not in KINDS:
            raise InputError(f'kind must be {", ".join(KINDS)}, but is "{kind}"')
        if kind == "cross":
            start = self.view if layer in (None, self.view.layer) else replace(self.view, head=None)
        else:
            start = View(max(0, len(getattr(self.trace, kind)) - 1))
        given: dict[str, Any] = {"layer": layer, "head": head, "row": row}
        return replace(start, **{name: value for name, value in given.items() if value is not None})

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
        """The weights between one word and all others, for the given heads of a layer, by default all."""
        view = self.chosen(kind, layer, row=row)
        self.trace.weights(view, kind)  # raises if there is no such layer
        every = range(len(getattr(self.trace, kind)[view.layer]))
        views = [replace(view, head=head) for head in (every if heads is None else heads)]
        return arcs_of(self.trace, word, views, kind, side, view.row, self._known(kind))

    def _known(self, kind: Kind) -> dict[View, Trust]:
        return {} if self.trust is None or kind != "cross" else {self.view: self.trust}


class ExplainOptions(TypedDict, total=False):
    """Keyword arguments of `explain`."""

    sentence: int | None  # index of a sentence of the text, from 0; required if it has several
    beam: int | None  # beam size, by default the model's own
    nbest: int  # index into the n-best list, 0 is the best


def explain(
    model: TextTranslator | Bundle, text: str, target: str | None = None, **options: Unpack[ExplainOptions]
) -> Explanation:
    """Translates a sentence as `translate` does, or forces the given target, and returns all attention weights."""
    return explain_pair(sentence_pair(model, text, target, **options))


def explain_pair(pair: SentencePair) -> Explanation:
    """Returns all attention weights of a sentence and its translation."""
    return Explanation(pair.trace, *stored_view(pair.bundle), pair.source.text, pair.target.translation)
