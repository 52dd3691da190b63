"""Flat and padded are the same sentences."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.batch import BOS, EOS, PAD, flat_batch, pad_sources

sentences = st.lists(st.integers(3, 50), max_size=12)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6))
def test_padding_keeps_every_token(pairs: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
    flat = flat_batch(sources, targets)
    batch = flat.pad()
    assert len(flat) == len(batch) == len(pairs)
    assert torch.equal(batch.src[batch.src_mask], flat.src)
    assert torch.equal(batch.tgt_in[batch.tgt_mask], flat.tgt_in)
    assert torch.equal(batch.tgt_out[batch.tgt_mask], flat.tgt_out)
    assert batch.target_tokens == sum(len(t) + 1 for t in targets)
    for row, (source, target) in enumerate(pairs):
        assert batch.src[row][batch.src_mask[row]].tolist() == [*source, EOS]
        assert batch.tgt_in[row][batch.tgt_mask[row]].tolist() == [BOS, *target]
        assert batch.tgt_out[row][batch.tgt_mask[row]].tolist() == [*target, EOS]
        assert (batch.src[row][~batch.src_mask[row]] == PAD).all()


def test_sources_alone_are_padded_as_in_a_batch() -> None:
    src, mask = pad_sources([[5, 6], [7]])
    batch = flat_batch([[5, 6], [7]], [[9], [9]]).pad()
    assert torch.equal(src, batch.src)
    assert torch.equal(mask, batch.src_mask)
