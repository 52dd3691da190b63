"""Positions: the figures of the notes' five requirements, against what can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.course.positions.encodings import cosine_sum, distance_between, make_encodings, rises, rotated, sinusoid
from regard.course.positions.notes_tables import as_dict, as_markdown, as_page, as_text, notes_tables
from regard.course.positions.requirements import positions, positions_of
from regard.errors import InputError
from regard.layers.positions import sinusoids
from regard.models.rnn import Rnn, RnnConfig
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1)


def test_products_depend_on_the_distance_alone() -> None:
    vectors = sinusoid(np.arange(50), 32)
    for distance in (1, 7, 31):
        by_hand = sum(math.cos(distance / 10000 ** (2 * i / 32)) for i in range(16))
        products = [vectors[p] @ vectors[p + distance] for p in range(50 - distance)]
        np.testing.assert_allclose(products, by_hand, atol=2e-6)  # the frequencies are the model's, in float32
        np.testing.assert_allclose(products, products[0], atol=1e-12)
        assert cosine_sum(np.array([distance]), 32)[0] == pytest.approx(products[0])
        gap = np.linalg.norm(vectors[3] - vectors[3 + distance])
        assert distance_between(np.array([distance]), 32)[0] == pytest.approx(gap)


def test_the_sinusoids_are_the_models() -> None:
    own = sinusoids(torch.arange(40), 24).numpy()
    np.testing.assert_allclose(sinusoid(np.arange(40), 24), own, atol=1e-5)


def test_rotary_products_are_those_of_sinusoids_of_the_heads_size() -> None:
    at = rotated(np.arange(9), 8)
    np.testing.assert_allclose(at[2] @ at[7], 2 * cosine_sum(np.array([5]), 8)[0])
    assert positions(16, 9, 8).products[1].deviation < 1e-12


def test_which_requirements_each_way_keeps() -> None:
    """As the notes tell the story: counting grows, a fraction depends on the length, bits run out."""
    found = positions(128, 64)
    kept = {name: [r.cells[name].holds for r in found.requirements] for name in found.requirements[0].cells}
    assert kept == {
        "count": [True, True, False, True, False],
        "fraction": [True, False, True, False, False],
        "binary": [True, True, False, True, True],
        "sinusoid": [True, True, True, True, True],
        "learned": [True, True, False, False, True],
    }


def test_where_the_notes_claims_do_not_hold() -> None:
    """The product rises again with distance, and few frequencies tell few places apart."""
    found = positions(128, 64)
    by_hand = [sum(math.cos(k / 10000 ** (2 * i / 128)) for i in range(64)) for k in range(64)]
    first = next(k for k in range(1, 64) if by_hand[k] > by_hand[k - 1])
    assert rises(found.products[0].mean)[0] == first == 12
    assert f"first rises at distance {first}" in found.requirements[1].finding
    narrow = positions(2, 64).requirements[0].finding
    assert narrow.startswith("holds in exact numbers only")
    assert "710 apart" in narrow  # 710 is nearly 226 π


def test_a_models_own_words_and_table() -> None:
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(**{**vars(SMALL), "positions": "learned", "max_positions": 20}), 30, 30, True)
    found = positions_of(model, 20)
    assert (found.width, found.head_size) == (16, 8)
    table = model.source_positions.weight.detach().double().numpy()
    words = model.source_embedding.weight.detach().double().numpy() * 4
    longest = np.linalg.norm(table, axis=1).max() / np.linalg.norm(words, axis=1).mean()
    assert found.requirements[4].cells["learned"].figure == f"{longest:.3g}"
    with pytest.raises(InputError, match="20 learned positions"):
        positions_of(model, 64)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="whole number from 2 on, but is 1"):
        positions(1)
    with pytest.raises(InputError, match="from 4 to 1024, but is 3"):
        positions(8, 3)
    with pytest.raises(InputError, match="only Transformers encode positions as vectors"):
        positions_of(Rnn(RnnConfig(width=8, layers=1, embedding=8), 9, 9, True))


def test_of_an_odd_width_the_last_sine_is_alone() -> None:
    """The notes' d = 5: i = 0, 1, 2."""
    vectors = sinusoid(np.arange(60), 5)
    for p in (0, 1, 59):
        by_hand = [f(p / 10000 ** (2 * i / 5)) for i in range(3) for f in (math.sin, math.cos)][:5]
        np.testing.assert_allclose(vectors[p], by_hand, atol=2e-5)
    products = [vectors[p] @ vectors[p + 9] for p in range(51)]
    assert np.ptp(products) > 1e-3  # the last pair does not depend on the distance alone
    least = distance_between(np.array([9]), 5)[0]
    assert all(np.linalg.norm(vectors[p] - vectors[p + 9]) >= least - 1e-9 for p in range(51))
    found = positions(5, 64)
    assert [r.cells["sinusoid"].holds for r in found.requirements] == [True] * 5
    assert "depends on p as well as on k" in found.requirements[1].finding
    assert "longest vector has length 1.41" in found.requirements[4].finding


def test_a_fraction_is_the_notes_p_of_50() -> None:
    at = make_encodings(5, 50, None)["fraction"].vectors(np.array([0, 1, 49]), 50)
    np.testing.assert_allclose(at[:, 0], [1 / 50, 2 / 50, 1])


def test_the_tables_of_the_notes() -> None:
    found = notes_tables()
    count, share, bits, which, sines, wrong = (one.table.rows for one in found)
    assert count[-1] == ["", "sum", "50.42", "50.31", "50.21", "50.31", "50.45"]
    assert share[2] == ["", "sum", "0.44", "0.33", "0.23", "0.33", "0.47"]
    assert bits[6] == ["6", "0", "1", "1", "0", "14", "1", "1", "1", "0"]
    assert [row[:3] for row in which][-1] == ["4", "2", "sin(p / 10000^(4/5))"]
    assert sines[3] == ["p = 1", "added", "0.84", "0.54", "0.03", "1.00", "0.00"]
    assert wrong[0][-2:] == ["0.025", "0.545"]
    for made in (as_text(found), as_markdown(found), as_page(found)):
        assert all(one.title in made for one in found)
    assert len(as_dict(found)["tables"]) == 6
