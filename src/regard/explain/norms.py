"""Attention weighted by the norms of the values (Kobayashi et al. 2020): a weight on a short vector moves little.

    head h:          α_ts ‖v_s Wᴼ_h‖                    v_s = x_s W_V + b_V, Wᴼ_h the head's rows of the output matrix
    mean of heads:   ‖Σ_h α_ts v_s Wᴼ_h‖                what all heads together bring from s, as the paper has it

Rows are divided by their sum, so that they are shares again. For multi-head cross-attention alone: other mechanisms
have one head whose values are not projected.

    H heads   T target   S source   K head size   D width
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.align.attention import ROW_MEANINGS, Link, View, beyond_tag, hard_links, word_attention
from regard.batch import flat_batch
from regard.bundle.bundle import Bundle
from regard.models.attention_parts import MultiHeadPart
from regard.models.base import Model
from regard.text.words import WordsOf, word_spans


def projected_values(model: Model) -> list[MultiHeadPart]:
    """The cross-attentions whose values are projected, layer by layer; none where a model has others."""
    cross = [part for (kind, _), part in model.attention_parts().items() if kind == "cross"]
    projected = [part for part in cross if isinstance(part, MultiHeadPart)]
    return projected if len(projected) == len(cross) else []


def brought(values: Tensor, output: Tensor) -> Tensor:
    """What each position would bring with a weight of 1, v Wᴼ_h: values (H, S, K), output (D, H·K) → (H, S, D)."""
    heads, _, size = values.shape
    by_head = output.view(-1, heads, size)  # (D, H·K) → (D, H, K)
    return torch.einsum("hsk,dhk->hsd", values, by_head)


def weighted_by_norms(weights: Tensor, brings: Tensor) -> tuple[Tensor, Tensor]:
    """weights (H, T, S), brings (H, S, D) → each head's (H, T, S), and that of all heads together (T, S)."""
    each = weights * brings.norm(dim=-1)[:, None]  # (H, T, S)
    together = torch.einsum("hts,hsd->tsd", weights, brings).norm(dim=-1)  # (T, S)
    return each / each.sum(-1, keepdim=True), together / together.sum(-1, keepdim=True)


@torch.inference_mode()
def norm_links(
    bundle: Bundle, pairs: Sequence[tuple[str, str]], words: WordsOf = word_spans
) -> list[dict[View, set[Link]]]:
    """For each (source, target), force-decoded, the links of every view, its weights multiplied by norms."""
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
            brings = brought(layer.project_keys_values(states).value[0], layer.output.weight)  # (H, S, D)
            each, together = weighted_by_norms(maps[0], brings)
            for head, weights in ((None, together), *enumerate(each)):
                to_text = beyond_tag(weights.cpu().double().numpy(), bundle.tag)
                for row in ROW_MEANINGS:
                    links[View(number, head, row)] = hard_links(word_attention(to_text, *texts, row, words))
        found.append(links)
    return found
