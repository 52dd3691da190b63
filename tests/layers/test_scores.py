"""The four scores against their definitions, pair by pair, and the look against torch's own attention."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from regard.errors import RecipeError
from regard.layers.scores import Score, Scores, additive_score, weighted_mean

MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()


def material(query: int = 6, key: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    return torch.randn(2, 3, query), torch.randn(2, 4, key)  # (N, T, Q), (N, S, K)


def by_definition(scores: Scores, s: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    """The score of one pair: a query s (Q,) and a key h (K,)."""
    if scores.kind == "additive":
        w1, w2, b = scores.of_key.weight, scores.of_query.weight, scores.of_query.bias
        return scores.v.dot((w1 @ h + w2 @ s + b).tanh())
    if scores.kind == "general":
        return s.dot(scores.of_key.weight @ h)
    return s.dot(h) / (math.sqrt(len(s)) if scores.kind == "scaled" else 1)


@pytest.mark.parametrize(("kind", "key"), [("additive", 5), ("general", 5), ("dot", 6), ("scaled", 6)])
def test_every_pair_is_scored_by_the_definition(kind: Score, key: int) -> None:
    queries, keys = material(key=key)
    scores = Scores(kind, 6, key, 7)
    found = scores(queries, scores.prepare(keys))
    assert found.shape == (2, 3, 4)
    for n in range(2):
        for t in range(3):
            for i in range(4):
                torch.testing.assert_close(found[n, t, i], by_definition(scores, queries[n, t], keys[n, i]))


def test_the_notes_additive_score_with_a_v() -> None:
    """The notes' tanh(W₁h + W₂s) is [0.149, 0.740]; v makes one number of it."""
    w1, w2 = torch.tensor([[0.5, -0.3], [0.2, 0.4]]), torch.tensor([[0.1, 0.2], [-0.3, 0.1]])
    of_key, of_query = w1 @ torch.tensor([1.0, 2.0]), w2 @ torch.tensor([0.5, 1.0])
    score = additive_score(of_query[None, None], of_key[None, None], torch.tensor([1.0, 2.0]))
    assert score.shape == (1, 1, 1)
    assert score.item() == pytest.approx(math.tanh(0.15) + 2 * math.tanh(0.95))


def test_the_gradient_of_the_equations() -> None:
    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.double, requires_grad=True)

    torch.manual_seed(3)
    assert torch.autograd.gradcheck(additive_score, (numbers(2, 3, 5), numbers(2, 4, 5), numbers(5)))
    assert torch.autograd.gradcheck(lambda a, b: weighted_mean(a, MASK, b), (numbers(2, 3, 4), numbers(2, 4, 5)))


def test_a_scaled_score_and_a_look_are_torchs_attention() -> None:
    queries, keys = material()
    values = torch.randn(2, 4, 5)
    context, weights = weighted_mean(Scores("scaled", 6, 6)(queries, keys), MASK, values)
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=MASK[:, None])
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))
    assert (weights[1, :, 2:] == 0).all()


def test_a_general_score_by_the_identity_is_a_dot_score() -> None:
    queries, keys = material()
    general = Scores("general", 6, 6)
    torch.nn.init.eye_(general.of_key.weight)
    torch.testing.assert_close(general(queries, general.prepare(keys)), Scores("dot", 6, 6)(queries, keys))


@pytest.mark.parametrize("kind", ["dot", "scaled"])
def test_a_product_needs_equal_widths(kind: Score) -> None:
    with pytest.raises(RecipeError, match=f"a {kind} score needs queries as wide as keys, but they are 6 and 5"):
        Scores(kind, 6, 5)
