"""A recorded step of beam search, against the same search step by step. On a CPU it runs without being recorded."""

from __future__ import annotations

import copy

import pytest
import torch

from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import RecordedTransformer
from regard.search.cuda_graph_beam import _recordings
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.search.search import Capacity, search
from variants import V, scattered

SMALL = TransformerConfig(width=32, heads=2, inner=48, encoder_layers=1, decoder_layers=2)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("beam", [1, 3])
def test_it_finds_the_same(beam: int, device: str) -> None:
    torch.manual_seed(4)
    model = scattered(Transformer(SMALL, V, V, True), 0.4).to(device)
    twin = RecordedTransformer(model, torch.float32, 12)
    generator = torch.Generator().manual_seed(2)
    lines = [torch.randint(3, V, (1 + i % 5,), generator=generator).tolist() for i in range(8)]
    requests = [SearchRequest(tuple(line)) for line in lines]
    options = SearchOptions(beam, 0.6, nbest=beam)
    plain = search(model, requests, options, capacity=Capacity(sentences=4))
    for _ in range(2):  # the second time with what was recorded in the first
        found = search(twin, requests, options)
        assert [[h.ids for h in some] for some in found] == [[h.ids for h in some] for some in plain]
        for some, expected in zip(found, plain, strict=True):
            assert [h.score for h in some] == pytest.approx([h.score for h in expected], rel=1e-4)
    assert _recordings[twin]


@pytest.mark.parametrize("device", DEVICES)
def test_a_search_with_a_longer_sentence_follows(device: str) -> None:
    """The second uses the recording of the first: both histories are rounded up to one number of steps."""
    torch.manual_seed(4)
    model = scattered(Transformer(SMALL, V, V, True), 0.4)
    twin = RecordedTransformer(copy.deepcopy(model).to(device), torch.float32, 2)
    recordings = set()
    for ids in ((5,), (6, 7, 8, 9), (10, 11)):
        found, plain = (search(m, [SearchRequest(ids)], SearchOptions(2, 0.6)) for m in (twin, model))
        assert found[0][0].ids == plain[0][0].ids
        recordings |= set(_recordings[twin])
    assert len(recordings) == 1
