"""A recorded step of beam search, against the same search step by step. On a CPU it runs without being recorded."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import RecordedTransformer
from regard.search import constraint_table
from regard.search.constrained_beam import ConstrainedBeams
from regard.search.constraints import All, EachOnce, Never, NoRepeat
from regard.search.cuda_graph_beam import CudaGraphBeams
from regard.search.engine import SearchRequest
from regard.search.options import SearchOptions
from regard.search.required_terms import Terms
from regard.search.search import Capacity, search
from variants import V, scattered

SMALL = TransformerConfig(width=32, heads=2, inner=48, encoder_layers=1, decoder_layers=2)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def recordings_of(model: RecordedTransformer) -> dict[Any, CudaGraphBeams]:
    return {key: one for arena in model.own.idle if arena.fixed for key, one in arena.fixed.recordings.items()}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("beam", [1, 3])
def test_it_finds_the_same(beam: int, device: str) -> None:
    torch.manual_seed(4)
    model = scattered(Transformer(SMALL, V, V, True), 0.4).to(device)
    twin = RecordedTransformer(model, torch.float32, 12)
    generator = torch.Generator().manual_seed(2)
    lines = [torch.randint(3, V, (1 + i % 5,), generator=generator).tolist() for i in range(6)]
    requests = [SearchRequest(tuple(line)) for line in lines]
    options = SearchOptions(beam, 0.6, nbest=beam)
    plain = search(model, requests, options, capacity=Capacity(sentences=4))
    for _ in range(2):  # the second time with what was recorded in the first
        found = search(twin, requests, options)
        assert [[h.ids for h in some] for some in found] == [[h.ids for h in some] for some in plain]
        for some, expected in zip(found, plain, strict=True):
            assert [h.score for h in some] == pytest.approx([h.score for h in expected], rel=1e-4)
    assert recordings_of(twin)


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
        recordings |= set(recordings_of(twin))
    assert len(recordings) == 1


SLOTS = EachOnce(frozenset({4, 5}), frozenset({4, 5, 6}))
CONSTRAINTS = {
    "slots": [SLOTS, EachOnce(frozenset({6}), frozenset({4, 5, 6}))],
    "slots and no repeat": [All((SLOTS, NoRepeat(2))), All((SLOTS, NoRepeat(2, 2))), NoRepeat(1)],
    "terms": [Terms.of([[(7, 8), (9,)]]), All((Terms.of([[(8, 9, 7)]]), Never(frozenset({(7, 7)}))))],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [pytest.param("slots", marks=pytest.mark.long), "slots and no repeat", "terms"])
def test_it_finds_the_same_under_constraints(name: str, device: str) -> None:
    torch.manual_seed(4)
    model = scattered(Transformer(SMALL, V, V, True), 0.4).to(device)
    twin = RecordedTransformer(model, torch.float32, 24)
    rules = CONSTRAINTS[name]
    requests = [SearchRequest((3 + i % 7, 5 + i % 3)[: 1 + i % 2], rules[i % len(rules)]) for i in range(6)]
    options = SearchOptions(3, 0.6, nbest=3)
    plain = search(model, requests, options, capacity=Capacity(sentences=4))
    for _ in range(2):  # the second time with what was recorded in the first
        found = search(twin, requests, options, capacity=Capacity(sentences=3))
        assert [[h.ids for h in some] for some in found] == [[h.ids for h in some] for some in plain]
    assert any(isinstance(one.beams, ConstrainedBeams) for one in recordings_of(twin).values())


def test_another_beam_of_the_same_width_follows() -> None:
    """A beam of 2 that requires two slots has as many rows as one of 4 that requires nothing."""
    torch.manual_seed(4)
    model = scattered(Transformer(SMALL, V, V, True), 0.4)
    twin = RecordedTransformer(model, torch.float32, 24)
    for beam, rule in ((2, SLOTS), (4, NoRepeat(2))):
        request, options = SearchRequest((3, 5), rule), SearchOptions(beam, 0.6, nbest=2)
        found, plain = (search(one, [request], options) for one in (twin, model))
        assert [one.ids for one in found[0]] == [one.ids for one in plain[0]]


def test_tables_that_move_are_recorded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraint_table, "STATES", 1)
    monkeypatch.setattr(constraint_table, "COLUMNS", 3)
    recorded: list[int] = []
    record = CudaGraphBeams.record
    monkeypatch.setattr(CudaGraphBeams, "record", lambda self, logits: (recorded.append(1), record(self, logits))[1])
    test_it_finds_the_same_under_constraints("terms", "cpu")
    assert len(recorded) > 2
