"""The most probable tokens, against a sort of the whole vocabulary."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.layers.top_tokens import COLUMNS, FIRST, top_tokens, top_tokens_by_sorting

SIZES = (5, COLUMNS, 2 * COLUMNS + FIRST - 1, 2 * COLUMNS + FIRST, 2 * COLUMNS + FIRST + 1, 1500)


def check(logits: torch.Tensor, k: int) -> None:
    log_probs, ids = top_tokens(logits, k)
    expected, expected_ids = top_tokens_by_sorting(logits, k)
    torch.testing.assert_close(log_probs, expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(ids, expected_ids)


@given(size=st.sampled_from(SIZES), k=st.integers(1, 12), seed=st.integers(0, 1000))
def test_equal_to_sorting(size: int, k: int, seed: int) -> None:
    check(3 * torch.randn(7, size, generator=torch.Generator().manual_seed(seed)), min(k, size - FIRST))


def test_pad_and_bos_are_never_said_but_counted() -> None:
    log_probs, ids = top_tokens(torch.zeros(1, 4).index_fill(1, torch.tensor([0, 1]), 5.0), 2)
    assert sorted(ids[0].tolist()) == [2, 3]
    assert log_probs[0].tolist() == pytest.approx([-math.log(2 + 2 * math.exp(5))] * 2)


def test_what_is_not_a_number_stays_visible() -> None:
    assert top_tokens(torch.full((1, 9), math.nan), 2)[0].isnan().all()


@pytest.mark.gpu
@pytest.mark.parametrize("size", [5, 515, 8_000, 32_000, 100_001])
@pytest.mark.parametrize(
    ("k", "dtype"), [(1, torch.bfloat16), (1, torch.float32), (2, torch.float32), (10, torch.float32)]
)
def test_the_kernel_is_equal(size: int, k: int, dtype: torch.dtype) -> None:
    k = min(k, size - FIRST)
    logits = (3 * torch.randn(67, size)).to("cuda", dtype)
    log_probs, ids = top_tokens(logits, k)
    expected, _ = top_tokens_by_sorting(logits, k)
    torch.testing.assert_close(log_probs, expected, rtol=1e-5, atol=1e-5)
    said = logits.float().log_softmax(-1).gather(1, ids)  # of equal logits either may be named, but none twice
    torch.testing.assert_close(said, expected, rtol=1e-5, atol=1e-5)
    assert all(len(set(row)) == k and min(row) >= FIRST for row in ids.tolist())
