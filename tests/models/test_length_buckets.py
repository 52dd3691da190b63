"""Encoding a batch in buckets of like lengths gives what encoding it at once gives."""

from __future__ import annotations

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.batch import pad_sources
from regard.models.common import LEAST_SHARE, encode_by_length, length_buckets
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(1, 300))
def test_every_sentence_is_in_one_portion_with_others_of_its_length(lengths: list[int], fewest: int) -> None:
    cut = length_buckets(lengths, fewest)
    assert sorted(place for some in cut for place in some) == list(range(len(lengths)))
    for some, following in pairwise(cut):
        assert sum(lengths[place] for place in some) >= fewest
        assert lengths[following[0]] < LEAST_SHARE * lengths[some[0]]


def test_an_encoder_gives_the_same_by_length() -> None:
    torch.manual_seed(0)
    model = Transformer(
        TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=1), 50, 50, True
    )
    model.eval()
    src, mask = pad_sources([[3 + i % 40] * (1 + 7 * i % 60) for i in range(40)])
    calls: list[int] = []

    def read(some: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        calls.append(some.shape[1])
        return model._encode(some, real).states

    with torch.no_grad():
        at_once, memory = model._encode(src, mask).states, model.encode(src, mask)
        states = encode_by_length(read, src, mask)
    assert len(calls) > 2
    assert torch.equal(memory.states, states)
    torch.testing.assert_close(states[mask], at_once[mask])
