"""Weights by value norms against the paper's definition, written out in loops."""

from __future__ import annotations

import torch

from regard.explain.views import attention_links, norm_links, value_contributions, weighted_by_norms
from regard.translator import Translator
from support import LINES


def test_the_papers_definition() -> None:
    torch.manual_seed(2)
    heads, target, source, size, width = 3, 2, 4, 5, 15
    weights = torch.rand(heads, target, source).softmax(-1)
    values, output = torch.randn(heads, source, size), torch.randn(width, heads * size)
    each, together = weighted_by_norms(weights, value_contributions(values, output))
    for t in range(target):
        alone, summed = torch.zeros(heads, source), torch.zeros(source)
        for s in range(source):
            parts = [output[:, h * size : (h + 1) * size] @ values[h, s] * weights[h, t, s] for h in range(heads)]
            alone[:, s] = torch.stack([part.norm() for part in parts])
            summed[s] = torch.stack(parts).sum(0).norm()
        torch.testing.assert_close(each[:, t], alone / alone.sum(-1, keepdim=True))
        torch.testing.assert_close(together[t], summed / summed.sum())


def test_what_heads_bring_is_what_the_layer_adds(translator: Translator) -> None:
    """Σ_s Σ_h α v Wᴼ_h and the bias are the output of the model's own attention."""
    attention = translator.bundle.model.decoder[0].cross
    torch.manual_seed(1)
    with torch.inference_mode():
        seen, query = (
            attention.project_keys_values(torch.randn(1, 6, 32)),
            attention.project_query(torch.randn(1, 3, 32)),
        )
        record: list[torch.Tensor] = []
        wanted = attention(query, seen, record=record)
        contributions = value_contributions(seen.value[0], attention.output.weight)
        found = torch.einsum("hts,hsd->td", record[0][0], contributions) + attention.output.bias
    torch.testing.assert_close(found, wanted[0], rtol=1e-4, atol=1e-5)


def test_every_view_has_links(translator: Translator) -> None:
    plain, weighted = attention_links(translator.bundle, LINES[:2]), norm_links(translator.bundle, LINES[:2])
    for ours, theirs in zip(weighted, plain, strict=True):
        assert ours.keys() == theirs.keys()
        assert all(len(links) == len(theirs[view]) for view, links in ours.items())  # one for each target word
