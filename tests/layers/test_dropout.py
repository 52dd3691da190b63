"""Masks are even: in themselves, over places, and from one draw to the next; those of a CPU and those of a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from regard.layers.dropout import Dropout, byte_mask, hash_mask

SHAPE = torch.Size((256, 512))


def hashed(p: float, number: int, shape: torch.Size = SHAPE) -> Tensor:
    return hash_mask(shape, p, torch.tensor(number, dtype=torch.int32))


def thrown(p: float, number: int, shape: torch.Size = SHAPE) -> Tensor:
    torch.manual_seed(number)
    return byte_mask(shape, p, torch.float32) > 0


@pytest.mark.parametrize(("make", "p"), [(hashed, 0.1), (thrown, 26 / 256), (thrown, 0.01)])
def test_the_share_of_kept_numbers_is_right_in_every_row_and_column(make: Callable[..., Tensor], p: float) -> None:
    masks = torch.stack([make(p, number) for number in range(7, 107)])
    share = masks.double().mean()
    spread = (p * (1 - p)) ** 0.5
    assert abs(share - (1 - p)) < 6 * spread / masks.numel() ** 0.5 + 2**-16  # six standard deviations
    for axis, count in ((1, 512), (2, 256), (0, 256 * 512)):
        rest = [a for a in range(3) if a != axis]
        shares = masks.double().mean(dim=rest if axis else (1, 2))
        throws = masks.numel() / shares.numel()
        assert (shares - (1 - p)).abs().max() < 6 * spread / throws**0.5, (axis, count)


@pytest.mark.parametrize("make", [hashed, thrown])
def test_masks_of_two_seeds_have_nothing_to_do_with_each_other(make: Callable[..., Tensor]) -> None:
    first, *others = (make(0.5, s, torch.Size((512, 512))).double() for s in (1, 2, 3, 17, 512, 2**20))
    for other in others:
        for shift in (0, 1, 2, 511, 512):
            together = torch.corrcoef(torch.stack([first.flatten(), other.flatten().roll(shift)]))[0, 1]
            assert abs(together) < 6 / 512


def test_neighbours_that_share_a_draw_have_nothing_to_do_with_each_other() -> None:
    mask = thrown(0.5, 3, torch.Size((2**17, 8))).double()  # a column for each byte of a draw
    together = torch.corrcoef(mask.T) - torch.eye(8)
    assert together.abs().max() < 6 / 2**8.5


@pytest.mark.parametrize("p", [0.0001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_what_is_kept_grows_so_that_the_mean_stays(p: float, kind: torch.dtype) -> None:
    torch.manual_seed(1)
    mask = byte_mask(torch.Size((3, 333_333)), p, kind)
    scale = mask.max().item()
    assert set(mask.unique().tolist()) == {0.0, scale}
    assert mask.dtype == kind
    assert abs(1 / scale - (1 - p)) < 1 / 256 + 0.005 * (kind == torch.bfloat16)
    error = 6 * (p / (1 - p) / 1e6) ** 0.5
    assert abs(mask.double().mean() - 1) < error + 0.005 * (kind == torch.bfloat16)


def test_the_same_state_of_the_generator_gives_the_same_mask() -> None:
    layer, x = Dropout(0.1).train(), torch.ones(1001)
    before = torch.get_rng_state()
    first, second = layer(x), layer(x)
    torch.set_rng_state(before)
    assert torch.equal(layer(x), first)
    assert not torch.equal(first, second)


def test_nothing_happens_outside_training_and_all_is_scaled_inside() -> None:
    layer, x = Dropout(0.25), torch.ones(100_000, requires_grad=True)
    assert layer.eval()(x) is x
    out = layer.train()(x)
    assert set(out.tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs(out.mean() - 1) < 0.02
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())  # a gradient comes back where, and as large as, a number went through
