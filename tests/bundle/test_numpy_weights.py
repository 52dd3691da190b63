"""The pieces after each tag: what goes into a card comes out of it, and what is damaged is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.bundle.numpy_weights import pieces_from_card, pieces_to_card
from regard.errors import BundleError


@given(st.lists(st.integers(0, 2_000_000), min_size=1, max_size=70))
def test_a_card_holds_what_is_not_rare(counts: list[int]) -> None:
    found = pieces_from_card({"written_pieces": pieces_to_card({"<fr>": np.array(counts)})}, len(counts))
    assert found == {"<fr>": [i for i, n in enumerate(counts) if n >= max(1, sum(counts) / 1e6)]}


def test_a_card_without_tags_limits_nothing() -> None:
    assert pieces_from_card({}, 9) == {}


@pytest.mark.parametrize("told", ["9080", ["<fr>"], {"<fr>": "xy"}, {"<fr>": 3}, {"<fr>": "90"}, {"<fr>": "90800000"}])
def test_a_damaged_card_is_one_line(told: object) -> None:
    with pytest.raises(BundleError, match="written_pieces of the card"):
        pieces_from_card({"written_pieces": told}, 9)
