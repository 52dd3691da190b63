"""Attention against torch's own, and the notes' numbers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.layers.attention import MultiHeadAttention, attend, attend_fused, causal_mask, padding_mask
from regard.layers.positions import rotation


def tensors(*shape: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(*shape, generator=generator) for _ in range(3)]


@pytest.mark.parametrize("kind", ["none", "padding", "causal"])
def test_the_equation_and_its_fused_twin_equal_torch(kind: str) -> None:
    q, k, v = tensors(2, 4, 6, 8)  # (B, H, T, K)
    lengths = padding_mask(torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6]).bool())
    mask = {"none": None, "padding": lengths, "causal": causal_mask(6)}[kind]
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    out, weights = attend(q, k, v, mask)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(attend_fused(q, k, v, mask), expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 6))
    if mask is not None:
        assert (weights.masked_select(~mask.expand_as(weights)) == 0).all()
    if kind == "causal":
        torch.testing.assert_close(attend_fused(q, k, v, causal=True), expected)


def test_multi_head_equals_torch_with_copied_weights() -> None:
    ours, theirs = MultiHeadAttention(16, 4), torch.nn.MultiheadAttention(16, 4, batch_first=True)
    with torch.no_grad():
        for part, weight, bias in zip(
            (ours.query, ours.key, ours.value),
            theirs.in_proj_weight.chunk(3),
            theirs.in_proj_bias.chunk(3),
            strict=True,
        ):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
        ours.output.load_state_dict(theirs.out_proj.state_dict())
    x, memory, _ = tensors(2, 5, 16)
    keys = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()
    record: list[torch.Tensor] = []
    out = ours(ours.project_query(x), ours.project_keys_values(memory), mask=padding_mask(keys))
    recorded = ours(ours.project_query(x), ours.project_keys_values(memory), mask=padding_mask(keys), record=record)
    expected, weights = theirs(x, memory, memory, key_padding_mask=~keys, average_attn_weights=False)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(recorded, expected)
    torch.testing.assert_close(record[0], weights)


def test_rotary_scores_depend_on_distance_alone() -> None:
    layer = MultiHeadAttention(16, 2)
    x = torch.randn(1, 1, 16).expand(1, 9, 16)  # the same token everywhere
    record: list[torch.Tensor] = []
    turn = rotation(torch.arange(9), 8)
    layer(layer.project_query(x, turn), layer.project_keys_values(x, turn), record=record)
    scores = record[0].log()
    scores = scores - scores.diagonal(dim1=-2, dim2=-1)[..., None]  # relative to looking at oneself
    torch.testing.assert_close(scores[..., 2, 4], scores[..., 5, 7])
    torch.testing.assert_close(scores[..., 4, 1], scores[..., 8, 5])


def test_the_notes_softmax_exercises() -> None:
    """softmax([2, 1, 0]): answer (a) is nearest but says .244 and .091; softmax([2, 4, 6]) is not [.1, .3, .6]."""
    assert [round(x, 3) for x in torch.tensor([2.0, 1, 0]).softmax(0).tolist()] == [0.665, 0.245, 0.090]
    out, weights = attend(torch.tensor([[2.0]]), torch.tensor([[1.0], [2], [3]]), torch.tensor([[2.0], [4], [6]]))
    assert [round(x, 3) for x in weights[0].tolist()] == [0.016, 0.117, 0.867]
    assert round(out.item(), 3) == 5.702  # the notes: 5.0


def test_the_notes_context_vector() -> None:
    """0.3·[1, 1] + 0.7·[2, 0] = [1.7, 0.3]: answer (a)."""
    context = torch.tensor([0.3, 0.7]) @ torch.tensor([[1.0, 1], [2, 0]])
    torch.testing.assert_close(context, torch.tensor([1.7, 0.3]))


def test_the_notes_additive_score_has_no_right_answer() -> None:
    """tanh(W₁h + W₂s) = [0.149, 0.740]; none of the four answers offered is that."""
    w1, w2 = torch.tensor([[0.5, -0.3], [0.2, 0.4]]), torch.tensor([[0.1, 0.2], [-0.3, 0.1]])
    score = (w1 @ torch.tensor([1.0, 2.0]) + w2 @ torch.tensor([0.5, 1.0])).tanh()
    assert [round(x, 3) for x in score.tolist()] == [0.149, 0.740]


def test_in_bfloat16_a_cpu_attends_in_float32_and_answers_in_bfloat16() -> None:
    torch.manual_seed(2)
    given = [torch.randn(2, 3, 5, 8).bfloat16().requires_grad_() for _ in range(3)]
    with torch.autocast("cpu", torch.bfloat16):
        out = attend_fused(*given, causal=True)
    wide = [t.detach().float().requires_grad_() for t in given]
    wanted = attend_fused(*wide, causal=True)
    assert out.dtype == torch.bfloat16
    assert torch.equal(out, wanted.bfloat16())
    out.sum().backward()
    wanted.sum().backward()
    assert all(torch.equal(a.grad, b.grad.bfloat16()) for a, b in zip(given, wide, strict=True))
