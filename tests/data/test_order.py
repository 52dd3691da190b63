"""The order of an epoch in segments: every pair once, the same for all who ask, and small corpora as one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded import Fixed
from regard.data import batching, order, rows
from regard.data.batching import Batches
from regard.data.mixture import Mixture
from regard.data.order import in_blocks, segment_bounds, segment_pairs
from regard.data.rows import RowBatches


@given(st.integers(1, 5000), st.integers(0, 3))
def test_blocks_are_a_permutation(pairs: int, seed: int) -> None:
    assert sorted(in_blocks(np.arange(pairs), pairs, [seed, 1]).tolist()) == list(range(pairs))


def test_neighbours_stay_together_in_a_large_corpus() -> None:
    pairs = 3_000_000
    found = in_blocks(np.arange(pairs), pairs, [1, 2])
    assert np.mean(np.diff(found) == 1) > 0.998
    assert not np.array_equal(found, in_blocks(np.arange(pairs), pairs, [1, 3]))
    assert abs(np.corrcoef(found, np.arange(pairs))[0, 1]) < 0.1


def test_segments_are_the_corpus_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "SEGMENT", 64)
    bounds = segment_bounds(1000)
    parts = [segment_pairs(1000, 1, 0, number) for number in range(len(bounds) - 1)]
    assert [len(part) for part in parts] == np.diff(bounds).tolist()
    assert max(map(len, parts)) <= 64
    assert min(map(len, parts)) > 32
    assert sorted(np.concatenate(parts).tolist()) == list(range(1000))
    assert sorted(parts[0].tolist()) != sorted(segment_pairs(1000, 1, 1, 0).tolist())  # another epoch, other neighbours


@pytest.mark.parametrize("kind", [Batches, RowBatches])
@pytest.mark.parametrize("world", [1, 3])
def test_batches_of_segments(
    kind: type[Batches] | type[RowBatches], world: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all ranks every pair once an epoch, and from any position the same batches again."""
    monkeypatch.setattr(order, "SEGMENT", 100)
    monkeypatch.setattr(batching, "SEGMENT", 100)
    assert rows.segment_bounds(700) == [0, 100, 200, 300, 400, 500, 600, 700]
    corpus = Mixture([Fixed.of(450), Fixed.of(125, 1000)], [1, 2], seed=0, epoch=0)  # 450 + 2 × 125 visits
    ranks = [kind(corpus, 192, seed=4, rank=rank, world=world) for rank in range(world)]  # type: ignore[arg-type]
    seen: list[int] = []
    states = []
    while ranks[0].epoch == 0:
        states.append(ranks[0].state())
        for rank in ranks:
            batch = next(rank)
            if rank.epoch == 0:
                seen += batch.src[batch.src_offsets[:-1]].tolist()
        assert len({(rank.epoch, rank.index) for rank in ranks}) == 1
    expected = [100 + i for i in range(450)] + 2 * [1100 + i for i in range(125)]
    assert sorted(seen) == sorted(expected)
    assert len(states) == pytest.approx(ranks[0].per_epoch, rel=0.5)
    for state in (states[0], states[len(states) // 2], states[-1]):
        again = kind(corpus, 192, seed=4, rank=0, world=world, state=state)  # type: ignore[arg-type]
        straight = kind(corpus, 192, seed=4, rank=0, world=world)  # type: ignore[arg-type]
        while straight.state() != state:
            next(straight)
            if straight.index and straight.state() not in states:
                break
        assert next(again).src.equal(next(straight).src)


@pytest.mark.parametrize("kind", [Batches, RowBatches])
def test_a_small_corpus_is_one_segment(kind: type[Batches] | type[RowBatches]) -> None:
    """The order is the one of a plain permutation by (seed, epoch), whatever segments there could be."""
    corpus = Fixed.of(50)
    batches = kind(corpus, 64, seed=3)  # type: ignore[arg-type]
    if isinstance(batches, RowBatches):
        assert batches._order.tolist() == np.random.default_rng([3, 0]).permutation(50).tolist()
    else:
        plan = batching.plan_epoch(*corpus.lengths_of(np.arange(50)), 64, 3, 0)
        assert [a.tolist() for a in batches._plan] == [b.tolist() for b in plan]
