"""Attention in shared rows equals attention of each sentence alone; on a GPU the kernel equals the equation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.layers.attention import across_rows, attend, causal_mask, within_rows
from regard.layers.kernels import HAS_TRITON

HEADS, SIZE, WIDTH = 2, 16, 32
TARGETS = torch.tensor([[1] * 10 + [2] * 15 + [0] * 7, [3] * 32, [4] * 5 + [5] * 5 + [6] * 22])
SOURCES = torch.tensor([[1] * 20 + [2] * 12, [3] * 30 + [0] * 2, [4] * 15 + [5] * 5 + [6] * 12])
on_gpu = pytest.mark.skipif(not (HAS_TRITON and torch.cuda.is_available()), reason="needs CUDA and Triton")


def heads_of(x: Tensor) -> Tensor:
    return x.unflatten(-1, (HEADS, SIZE)).transpose(0, 1)  # (length, D) → (H, length, K)


@pytest.mark.parametrize("causal", [False, True])
def test_each_sentence_of_a_row_sees_itself_alone(causal: bool) -> None:
    torch.manual_seed(1)
    qkv = torch.randn(3, WIDTH, 3 * HEADS * SIZE)
    found = within_rows(qkv, TARGETS, HEADS, causal)
    for number in range(1, 7):
        here = number == TARGETS
        q, k, v = (heads_of(part) for part in qkv[here].chunk(3, dim=-1))
        expected, _ = attend(q, k, v, causal_mask(int(here.sum())) if causal else None)
        torch.testing.assert_close(found[here], expected.transpose(0, 1).flatten(1))


def test_each_target_sees_its_own_source_alone() -> None:
    torch.manual_seed(2)
    query, kv = torch.randn(3, WIDTH, HEADS * SIZE), torch.randn(3, WIDTH, 2 * HEADS * SIZE)
    found = across_rows(query, kv, TARGETS, SOURCES, HEADS)
    assert found.isfinite().all()  # padding too
    for number in range(1, 7):
        k, v = (heads_of(part) for part in kv[number == SOURCES].chunk(2, dim=-1))
        expected, _ = attend(heads_of(query[number == TARGETS]), k, v)
        torch.testing.assert_close(found[number == TARGETS], expected.transpose(0, 1).flatten(1))


@pytest.mark.gpu
@on_gpu
@pytest.mark.parametrize("causal", [False, True])
def test_the_kernel_equals_the_equation(causal: bool) -> None:
    torch.manual_seed(3)
    segments, sources = TARGETS.cuda(), SOURCES.cuda()
    counts = (segments > 0)[..., None]

    def check(narrow: list[Tensor], attention: object) -> None:
        wide = [x.detach().double().requires_grad_() for x in narrow]
        grad_out = torch.randn(3, WIDTH, HEADS * SIZE, device="cuda") * counts
        outs = [attention(*x) for x in (narrow, wide)]  # type: ignore[operator]
        torch.testing.assert_close((outs[0] * counts).double(), outs[1] * counts, rtol=0.02, atol=0.02)
        gradients = [torch.autograd.grad(o, x, grad_out.to(o.dtype)) for o, x in zip(outs, (narrow, wide), strict=True)]
        for ours, exact in zip(*gradients, strict=True):
            torch.testing.assert_close(ours.double(), exact, rtol=0.03, atol=0.03)

    def narrow(parts: int) -> Tensor:
        return torch.randn(3, WIDTH, parts * HEADS * SIZE, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    check([narrow(3)], lambda qkv: within_rows(qkv, segments, HEADS, causal))
    check([narrow(1), narrow(2)], lambda q, kv: across_rows(q, kv, segments, sources, HEADS))
