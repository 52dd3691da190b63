"""The front of the package: a model, a sentence, and everything that was looked at, ready to be drawn.

    explain(translator, "The cat sleeps.").grid()             one map between words, as a figure may show it
                                          .sheet("encoder")   every layer and head
                                          .arcs("cat")        one word, head by head

Which cross-attention is shown is the card's choice where one was measured (`look.py`); another one is shown as "not
evaluated". This file draws nothing (`render/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.bundle.bundle import Bundle
from regard.decode.translator import TextTranslator
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.arcs import Arcs, Side, arcs_of
from regard.explain.attention import RowMeaning, View
from regard.explain.capture import Capture, Kind, capture
from regard.explain.grid import KINDS, Grid, capture_grid
from regard.explain.look import stored_view
from regard.explain.sheet import Sheet, sheet_of

TITLES = {
    "cross": "Each target word (down) and the source words it looks at (across)",
    "encoder": "Each source word (down) and the source words it looks at (across)",
    "decoder": "Each target word (down) and the words before it that it looks at (across)",
}


@dataclass(frozen=True)
class Explanation:
    """One translated sentence, and what the model looked at."""

    capture: Capture
    view: View  # of the cross-attention that is read as the alignment
    trust: Trust | None  # in that view; None where it was never measured

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
            start = View(max(0, len(getattr(self.capture, kind)) - 1))
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
        found = capture_grid(self.capture, view, kind, words=words, specials=specials, trust=trust, title=TITLES[kind])
        return replace(found, caption=f"{found.caption} · {self.capture.how}")

    def sheet(self, kind: Kind = "cross", row: RowMeaning | None = None, *, words: bool = True) -> Sheet:
        view = self.chosen(kind, row=row)
        return sheet_of(self.capture, kind, view.row, words=words, known=self._known(kind))

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
        self.capture.weights(view, kind)  # refuses a layer that is not there
        every = range(len(getattr(self.capture, kind)[view.layer]))
        views = [replace(view, head=head) for head in (every if heads is None else heads)]
        return arcs_of(self.capture, word, views, kind, side, view.row, self._known(kind))

    def _known(self, kind: Kind) -> dict[View, Trust]:
        return {} if self.trust is None or kind != "cross" else {self.view: self.trust}


def explain(
    model: TextTranslator | Bundle, text: str, target: str | None = None, *, beam: int | None = None, nbest: int = 0
) -> Explanation:
    """Translate a sentence, or force the given translation, and keep what was looked at. `beam` and `nbest` are as of
    `capture`."""
    bundle = model.bundle if isinstance(model, TextTranslator) else model
    if not text.strip():
        raise InputError("there is nothing to explain: the sentence is empty")
    if target is not None and (beam is not None or nbest):
        raise InputError("a translation that is given is not searched for; give --target or --beam, not both")
    longest = bundle.max_length
    tokens = len(bundle.tokenizer.encode_source([text])[0])
    if tokens >= longest:  # EOS takes the last place
        raise InputError(
            f"the sentence has {tokens} tokens, but the model reads fewer than {longest}; explain a part of it"
        )
    ids = None if target is None else bundle.tokenizer.encode_target([target])[0]
    found = capture(bundle, text, ids, beam=beam, nbest=nbest)
    return Explanation(found, *stored_view(bundle))
