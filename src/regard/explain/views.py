"""Which of a model's cross-attention maps is used as its alignment, and the links of every view.

A view is a layer, a head or the mean of heads, and the meaning of a row. It is the card's choice if one was measured
(`attention_view`), else a default. The target is force-decoded: one teacher-forced pass gives the same weights as the
search that found it.

Weights can also be multiplied by the norms of the values (Kobayashi et al. 2020), since a weight on a short vector
contributes little.

    head h:          α_ts ‖v_s Wᴼ_h‖                    v_s = x_s W_V + b_V, Wᴼ_h the head's rows of the output matrix
    mean of heads:   ‖Σ_h α_ts v_s Wᴼ_h‖                the sum over heads before the norm, as in the paper

Rows are then divided by their sum. This applies only to multi-head cross-attention: other mechanisms have one head,
whose values are not projected.

    H heads   T target   S source   K head size   D width
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.align.attention import ROW_MEANINGS, Link, View, WordAttention, beyond_tag, hard_links, word_attention
from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.explain.alignment import Trust, ViewChoice, all_links, choose_view, parse_links, view_aer
from regard.explain.trace import trace_sentence
from regard.models.attention_parts import MultiHeadPart
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
    trust: Trust | None  # None if it was not measured


def view_attention(
    bundle: Bundle, source: str, target_ids: Sequence[int], slots: SlotTexts = NO_SLOTS
) -> ViewedAttention:
    """The attention of each target word to each source word, in the view that the bundle's card names."""
    seen = trace_sentence(bundle, source, target_ids, slots=slots)
    view, trust = stored_view(bundle)
    return ViewedAttention(seen.in_words(view), view, trust)


def default_view(model: Model) -> View:
    """The mean of heads of the default layer; for an ensemble, of the first member that has attention."""
    heads = ensemble_alignment_heads(model.models()) if isinstance(model, Ensemble) else alignment_heads_of(model, {})
    return View(heads.maps[0][0])


def stored_view(bundle: Bundle) -> tuple[View, Trust | None]:
    """The view that the bundle's card names and its error rate, None if it was not evaluated in this direction; or the
    default view, which was not measured."""
    stored = bundle.known_card.attention_view
    if stored is None:
        return default_view(bundle.model), None
    return View(stored.layer, stored.head, stored.row), None if stored.aer is None else Trust(stored.aer, stored.on)


def attention_links(
    bundle: Bundle, pairs: Sequence[tuple[str, str]], words: WordsOf = word_spans
) -> list[dict[View, set[Link]]]:
    """The links of every view for each (source, target), force-decoded."""
    ids = bundle.tokenizer.encode_target([target for _, target in pairs])
    return [all_links(trace_sentence(bundle, s, i).views(words)) for (s, _), i in zip(pairs, ids, strict=True)]


def measure_view(
    bundle: Bundle, dev: Sequence[tuple[str, str, str]], test: Sequence[tuple[str, str, str]]
) -> tuple[ViewChoice, float]:
    """Chooses the view of lowest AER on `dev`, measures it on `test`; each is (source, target, Pharaoh links)."""

    def found(lines: Sequence[tuple[str, str, str]]) -> list[dict[View, set[Link]]]:
        return attention_links(bundle, [(source, target) for source, target, _ in lines])

    def gold(lines: Sequence[tuple[str, str, str]]) -> list[set[Link]]:
        return [set(parse_links(links)[0]) for _, _, links in lines]

    choice = choose_view(found(dev), gold(dev))
    return choice, view_aer(found(test), choice.view, gold(test))


# ── weights multiplied by value norms ─────────────────────────────────────────────────────────────────────────────────


def projected_values(model: Model) -> list[MultiHeadPart]:
    """The cross-attentions whose values are projected, layer by layer; empty for a model with other kinds."""
    cross = [part for (kind, _), part in model.attention_parts().items() if kind == "cross"]
    projected = [part for part in cross if isinstance(part, MultiHeadPart)]
    return projected if len(projected) == len(cross) else []


def value_contributions(values: Tensor, output: Tensor) -> Tensor:
    """The output of each position with a weight of 1, v Wᴼ_h: values (H, S, K), output (D, H·K) → (H, S, D)."""
    heads, _, size = values.shape
    by_head = output.view(-1, heads, size)  # (D, H·K) → (D, H, K)
    return torch.einsum("hsk,dhk->hsd", values, by_head)


def weighted_by_norms(weights: Tensor, contributions: Tensor) -> tuple[Tensor, Tensor]:
    """weights (H, T, S), contributions (H, S, D) → each head's (H, T, S), and that of all heads together (T, S)."""
    each = weights * contributions.norm(dim=-1)[:, None]  # (H, T, S)
    together = torch.einsum("hts,hsd->tsd", weights, contributions).norm(dim=-1)  # (T, S)
    return each / each.sum(-1, keepdim=True), together / together.sum(-1, keepdim=True)


@torch.inference_mode()
def norm_links(
    bundle: Bundle, pairs: Sequence[tuple[str, str]], words: WordsOf = word_spans
) -> list[dict[View, set[Link]]]:
    """The links of every view for each (source, target), force-decoded, with weights multiplied by value norms."""
    model, tokenizer = bundle.model, bundle.tokenizer
    layers = [part.attention for part in projected_values(model)]
    found = []
    for source, target in pairs:
        (source_ids,), (ids,) = tokenizer.encode_source([source]), tokenizer.encode_target([target])
        spans = [(t.start, t.end) for t in tokenizer.plain.source_tokens(source)]
        texts = (spans, tokenizer.target_pieces(ids), source, tokenizer.decode(ids))
        batch = flat_batch([source_ids], [ids]).pad().to(model.device)
        states = model.encode(batch.src, batch.src_mask).states
        links = {}
        for number, (layer, maps) in enumerate(zip(layers, model.attention(batch).cross, strict=True)):
            contributions = value_contributions(
                layer.project_keys_values(states).value[0], layer.output.weight
            )  # (H, S, D)
            each, together = weighted_by_norms(maps[0], contributions)
            for head, weights in ((None, together), *enumerate(each)):
                to_text = beyond_tag(weights.cpu().double().numpy(), bundle.tag)
                for row in ROW_MEANINGS:
                    links[View(number, head, row)] = hard_links(word_attention(to_text, *texts, row, words))
        found.append(links)
    return found
