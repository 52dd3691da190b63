"""Weights in fewer bytes: how far they are from what they were, and that storing twice is storing once."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.bundle.weights import SCALE, from_int8, from_storage, relative_errors, to_int8, to_storage
from regard.errors import BundleError

sizes = st.floats(1e-30, 1e30)  # of whole rows; smaller ones have fewer bits than a float32 should
numbers = st.floats(-1, 1, width=32).map(lambda x: x if abs(x) > 1e-6 else 0.0)
rows = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.tuples(st.lists(numbers, min_size=n, max_size=n), sizes), min_size=1)
)


def matrix(drawn: list[tuple[list[float], float]]) -> torch.Tensor:
    return torch.tensor([[x * size for x in row] for row, size in drawn])


@given(rows)
def test_no_weight_is_off_by_more_than_half_a_step(drawn: list[tuple[list[float], float]]) -> None:
    before = matrix(drawn)
    whole, scale = to_int8(before)
    after = from_int8(whole, scale)
    half = scale.float()[:, None] / 2
    assert ((before - after).abs() <= half * (1 + 1e-6)).all()
    assert (scale.float() <= before.abs().amax(dim=1) / 127 * (1 + 2**-8)).all()
    assert (after[before == 0] == 0).all()


@given(rows)
def test_storing_what_was_loaded_gives_the_same_bytes(drawn: list[tuple[list[float], float]]) -> None:
    whole, scale = to_int8(matrix(drawn))
    again = to_int8(from_int8(whole, scale))
    assert torch.equal(whole, again[0])
    assert torch.equal(scale, again[1])


def test_a_matrix_with_an_outlier_coarsens_one_row_only() -> None:
    generator = torch.Generator().manual_seed(1)
    plain = torch.randn(8, 64, generator=generator)
    spiked = plain.clone()
    spiked[3, 5] = 100.0
    errors = (spiked - from_int8(*to_int8(spiked))).abs().amax(dim=1)
    alone = (plain - from_int8(*to_int8(plain))).abs().amax(dim=1)
    assert errors[3] > 10 * alone[3]
    others = [0, 1, 2, 4, 5, 6, 7]
    assert torch.equal(errors[others], alone[others])


def test_matrices_of_any_number_of_axes_come_back_in_their_shape() -> None:
    for shape in ((3, 4), (2, 3, 4), (1, 1)):
        before = torch.randn(shape, generator=torch.Generator().manual_seed(2))
        whole, scale = to_int8(before)
        assert from_int8(whole, scale).shape == whole.shape == before.shape
        assert scale.shape == before.shape[:1]


WEIGHTS = {
    "layer.weight": torch.randn(16, 32, generator=torch.Generator().manual_seed(3)),
    "layer.bias": torch.randn(16, generator=torch.Generator().manual_seed(4)),
    "norm.scale": torch.ones(16),  # a weight of that name is no scale of ours
}


@pytest.mark.parametrize(("storage", "most"), [("float32", 0.0), ("float16", 5e-4), ("int8", 1e-2)])
def test_each_storage_keeps_names_and_nearly_the_numbers(storage: str, most: float) -> None:
    stored = to_storage(WEIGHTS, storage)  # type: ignore[arg-type]
    again = from_storage(stored)
    assert again.keys() == WEIGHTS.keys()
    assert all(tensor.dtype == torch.float32 for tensor in again.values())
    errors = relative_errors(WEIGHTS, again)
    assert max(errors.values()) <= most
    assert most == 0 or errors["layer.weight"] > 0  # it really was stored in fewer bits
    assert errors["layer.bias"] == 0 or storage == "float16"


def test_what_cannot_be_held_is_named() -> None:
    with pytest.raises(BundleError, match=r"layer.bias has weights that float16 cannot hold"):
        to_storage(WEIGHTS | {"layer.bias": torch.full((16,), 1e6)}, "float16")
    with pytest.raises(BundleError, match=r"layer.weight has weights that int8 cannot hold"):
        to_storage(WEIGHTS | {"layer.weight": torch.full((2, 2), torch.nan)}, "int8")


def test_a_matrix_without_its_scales_is_named() -> None:
    stored = to_storage(WEIGHTS, "int8")
    for bad in ({}, {"layer.weight" + SCALE: torch.ones(3)}):
        kept = {name: tensor for name, tensor in stored.items() if name != "layer.weight" + SCALE}
        with pytest.raises(BundleError, match=r"layer\.weight\.scale must hold one scale for each row"):
            from_storage(kept | bad)
