"""Sinusoids by their formula, rotations by their geometry."""

from __future__ import annotations

import math

import pytest
import torch

from regard.errors import InputError
from regard.layers.positions import learned, rotate, rotation, sinusoids


def test_sinusoids_follow_the_formula() -> None:
    table = sinusoids(torch.arange(50), 12)
    for position in (0, 1, 7, 49):
        for i in range(6):
            angle = position / 10000 ** (2 * i / 12)
            assert math.isclose(table[position, 2 * i], math.sin(angle), abs_tol=1e-5)
            assert math.isclose(table[position, 2 * i + 1], math.cos(angle), abs_tol=1e-5)


def test_a_later_start_is_a_slice() -> None:
    torch.testing.assert_close(sinusoids(torch.arange(7, 12), 8), sinusoids(torch.arange(12), 8)[7:])


def test_positions_are_distinct_bounded_and_of_even_distance() -> None:
    """The notes' requirements: unique, bounded, and the same distance between neighbours everywhere."""
    table = sinusoids(torch.arange(200), 64)
    assert table.abs().max() <= 1
    assert torch.cdist(table, table).fill_diagonal_(9).min() > 0.1
    steps = (table[1:] - table[:-1]).norm(dim=-1)
    torch.testing.assert_close(steps, steps[:1].expand_as(steps), rtol=1e-3, atol=1e-3)


def test_rotation_keeps_lengths_and_starts_at_nothing() -> None:
    x = torch.randn(2, 3, 5, 8)
    turned = rotate(x, rotation(torch.arange(5), 8))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(turned[:, :, 0], x[:, :, 0])


def test_an_odd_width_ends_with_a_sine() -> None:
    table = sinusoids(torch.arange(9), 5)
    assert table.shape == (9, 5)
    for i in range(3):
        torch.testing.assert_close(table[:, 2 * i], torch.sin(torch.arange(9) / 10000 ** (2 * i / 5)))


def test_a_position_that_was_not_learned_is_an_error() -> None:
    table = torch.nn.Embedding(4, 2)
    assert torch.equal(learned(torch.arange(4), table), table.weight)
    with pytest.raises(InputError, match="a sentence of 5 tokens is longer than the 4 learned positions"):
        learned(torch.arange(5), table)
    with pytest.raises(InputError, match="a sentence of 9 tokens"):
        learned(torch.tensor([[0, 1], [0, 8]]), table)
