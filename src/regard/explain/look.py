"""Looking with attention: a bundle, a source and its translation become maps between words.

The target is force-decoded: one teacher-forced pass gives the same weights as the search had, for any search. Which
of a model's many maps is shown is its card's choice where one was measured (`attention_view`), else a plain default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batch import pack
from regard.bundle import Bundle
from regard.decode.reading import joined_reading, reading_of
from regard.errors import InputError
from regard.explain.alignment import ViewChoice, choose_view, parse_links, view_aer
from regard.explain.attention import Span, View, WordAttention, all_views, one_map, word_attention
from regard.models.base import Model
from regard.models.ensemble import Ensemble


@dataclass(frozen=True)
class Look:
    """One sentence pair seen through one view, and what that view is worth."""

    attention: WordAttention
    view: View
    aer: float | None  # a fraction; None where it was never measured


@dataclass(frozen=True)
class Forced:
    """The cross-attention of one force-decoded pair, in subwords."""

    cross: list[Tensor]  # per layer (1, H, T, S)
    source_spans: list[Span]
    target_spans: list[Span]
    source: str
    target: str

    def views(self) -> dict[View, WordAttention]:
        return all_views(self.cross, self.source_spans, self.target_spans, self.source, self.target)

    def through(self, view: View) -> WordAttention:
        weights = one_map(self.cross, view, len(self.source_spans), len(self.target_spans))
        return word_attention(weights, self.source_spans, self.target_spans, self.source, self.target, view.row)


@torch.inference_mode()
def force(bundle: Bundle, source: str, target_ids: Sequence[int]) -> Forced:
    tokenizer = bundle.tokenizer
    batch = pack(tokenizer.encode_source([source]), [target_ids]).pad().to(bundle.model.device)
    cross = bundle.model.attention(batch).cross
    if not cross:
        raise no_attention(bundle)
    return Forced(
        cross,
        [(p.start, p.end) for p in tokenizer.source_tokens(source)],
        tokenizer.target_pieces(target_ids),
        source,
        tokenizer.decode(target_ids),
    )


def no_attention(bundle: Bundle) -> InputError:
    return InputError(
        f'there is no attention to show: a model of the architecture "{bundle.architecture}" has none; '
        "translate without --attention, or train one that looks: --architecture rnn-attention"
    )


def look(bundle: Bundle, source: str, target_ids: Sequence[int]) -> Look:
    """Which source word each target word looked at, through the view the bundle's card names."""
    forced = force(bundle, source, target_ids)
    stored = bundle.card.get("attention_view")
    if stored is None:
        view, aer = default_view(bundle.model), None
    else:
        view, aer = View(stored["layer"], stored["head"], stored["row"]), stored["aer"]
    return Look(forced.through(view), view, aer)


def default_view(model: Model) -> View:
    """The mean of heads of a plain layer; of an ensemble, of the first member that looks."""
    reading = joined_reading(model.models()) if isinstance(model, Ensemble) else reading_of(model, {})
    return View(reading.maps[0][0])


def measure_view(
    bundle: Bundle, dev: Sequence[tuple[str, str, str]], test: Sequence[tuple[str, str, str]]
) -> tuple[ViewChoice, float]:
    """Choose the view with the lowest AER on `dev`, and measure it on `test`: (source, target, Pharaoh links) each."""

    def maps(lines: Sequence[tuple[str, str, str]]) -> list[dict[View, WordAttention]]:
        ids = bundle.tokenizer.encode_target([target for _, target, _ in lines])
        return [force(bundle, source, i).views() for (source, _, _), i in zip(lines, ids, strict=True)]

    def gold(lines: Sequence[tuple[str, str, str]]) -> list[set[tuple[int, int]]]:
        return [set(parse_links(links)[0]) for _, _, links in lines]

    choice = choose_view(maps(dev), gold(dev))
    return choice, view_aer(maps(test), choice.view, gold(test))
