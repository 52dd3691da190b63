"""Which of a model's cross-attention maps is read as its alignment, and links and error rates of every view.

A view is a layer, a head or the mean of heads, and the meaning of a row. It is the card's choice where one was measured
(`attention_view`), else a default. The target is force-decoded: one teacher-forced pass gives the same weights as any
search had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.align.attention import Link, View, WordAttention
from regard.bundle.bundle import Bundle
from regard.explain.alignment import Trust, ViewChoice, all_links, choose_view, parse_links, view_aer
from regard.explain.trace import trace_sentence
from regard.models.base import Model
from regard.models.ensemble import Ensemble
from regard.search.alignment_heads import alignment_heads_of, ensemble_alignment_heads
from regard.text.slots import NO_SLOTS, SlotTexts
from regard.text.words import WordsOf, word_spans


@dataclass(frozen=True)
class ViewedAttention:
    """One sentence pair in one view, and how well that view aligns."""

    attention: WordAttention
    view: View
    trust: Trust | None  # None where it was never measured


def view_attention(
    bundle: Bundle, source: str, target_ids: Sequence[int], slots: SlotTexts = NO_SLOTS
) -> ViewedAttention:
    """How much each target word attends to each source word, in the view that the bundle's card names."""
    seen = trace_sentence(bundle, source, target_ids, slots=slots)
    view, trust = stored_view(bundle)
    return ViewedAttention(seen.in_words(view), view, trust)


def default_view(model: Model) -> View:
    """The mean of heads of the default layer; of an ensemble, of the first member that has attention."""
    heads = ensemble_alignment_heads(model.models()) if isinstance(model, Ensemble) else alignment_heads_of(model, {})
    return View(heads.maps[0][0])


def stored_view(bundle: Bundle) -> tuple[View, Trust | None]:
    """The view that the bundle's card names and its error rate, None where it was not evaluated in this direction; or
    the default, which was never measured."""
    stored = bundle.known_card.attention_view
    if stored is None:
        return default_view(bundle.model), None
    return View(stored.layer, stored.head, stored.row), None if stored.aer is None else Trust(stored.aer, stored.on)


def attention_links(
    bundle: Bundle, pairs: Sequence[tuple[str, str]], words: WordsOf = word_spans
) -> list[dict[View, set[Link]]]:
    """For each (source, target), force-decoded, the links of every view."""
    ids = bundle.tokenizer.encode_target([target for _, target in pairs])
    return [all_links(trace_sentence(bundle, s, i).views(words)) for (s, _), i in zip(pairs, ids, strict=True)]


def measure_view(
    bundle: Bundle, dev: Sequence[tuple[str, str, str]], test: Sequence[tuple[str, str, str]]
) -> tuple[ViewChoice, float]:
    """Choose the view with the lowest AER on `dev`, and measure it on `test`: (source, target, Pharaoh links) each."""

    def found(lines: Sequence[tuple[str, str, str]]) -> list[dict[View, set[Link]]]:
        return attention_links(bundle, [(source, target) for source, target, _ in lines])

    def gold(lines: Sequence[tuple[str, str, str]]) -> list[set[Link]]:
        return [set(parse_links(links)[0]) for _, _, links in lines]

    choice = choose_view(found(dev), gold(dev))
    return choice, view_aer(found(test), choice.view, gold(test))
