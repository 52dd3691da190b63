"""The kernels of attention to a cache, against the equations."""

from __future__ import annotations

import pytest
import torch

from regard.layers.cache_attention import Slots, attend_past, attend_source


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("beams", "heads", "size"), [(1, 2, 64), (5, 4, 64), (3, 2, 12), (20, 1, 32)])
def test_the_kernels_equal_the_equations(beams: int, heads: int, size: int, dtype: torch.dtype) -> None:
    torch.manual_seed(beams)
    sentences, live, room, longest = 7, 5, 40, 70
    rows, width = sentences * beams, heads * size
    slots = Slots(
        beams,
        slot=torch.randperm(sentences, dtype=torch.int32),
        length=torch.tensor([0, 1, 16, 17, 39, 8, 8], dtype=torch.int32),
        source_length=torch.tensor([1, 32, 33, 70, 5, 1, 1], dtype=torch.int32),
        live=torch.tensor([live], dtype=torch.int32),
        ancestor=torch.randint(0, beams, (rows, room), dtype=torch.int32),
    )
    on_gpu = Slots(beams, *(x.cuda() for x in slots[1:]))
    query, key, value = torch.randn(3, rows, width).to(dtype).float()
    past = torch.randn(2, rows, room, width).to(dtype).float()
    source = torch.randn(2, sentences, longest, width).to(dtype).float()
    there = past.to("cuda", dtype)
    found = attend_past(*(x.to("cuda", dtype) for x in (query, key, value)), (there[0], there[1]), on_gpu, heads)
    expected = attend_past(query, key, value, (past[0], past[1]), slots, heads)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0.02, "atol": 0.02}
    real = live * beams
    torch.testing.assert_close(found[:real].float().cpu(), expected[:real], **tolerance)
    torch.testing.assert_close(there.float().cpu(), past)  # the new tokens were written, and nothing else
    torch.testing.assert_close(on_gpu.ancestor.cpu(), slots.ancestor)
    pair = (source[0].to("cuda", dtype), source[1].to("cuda", dtype))
    found = attend_source(query.to("cuda", dtype), pair, on_gpu, heads)
    expected = attend_source(query, (source[0], source[1]), slots, heads)
    torch.testing.assert_close(found[:real].float().cpu(), expected[:real], **tolerance)
