"""The order of an epoch in segments: every pair once, the same for all who ask, and small corpora as one.

---

Corpora with weights: how often each pair is met, and batches that hold what they should."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded import Fixed
from regard.batch import flat_batch
from regard.data import batching, order, rows
from regard.data.batching import Batches
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import encode_corpus
from regard.data.order import Mixture, in_blocks, pairs_visited, segment_bounds, segment_pairs, visits_of
from regard.data.rows import RowBatches
from regard.errors import InputError
from regard.text.tokenizer import TextConfig, Tokenizer


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
    ranks = [kind(corpus, 192, seed=4, rank=rank, world_size=world) for rank in range(world)]  # type: ignore[arg-type]
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
        again = kind(corpus, 192, seed=4, rank=0, world_size=world, state=state)  # type: ignore[arg-type]
        straight = kind(corpus, 192, seed=4, rank=0, world_size=world)  # type: ignore[arg-type]
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


@given(st.integers(1, 300), st.floats(0.05, 4), st.integers(0, 5))
def test_every_pair_is_met_as_often_as_every_other(pairs: int, weight: float, seed: int) -> None:
    """After any number of epochs, no pair was met more than once more often than another."""
    met: Counter[int] = Counter(dict.fromkeys(range(pairs), 0))
    for epoch in range(6):
        first, end = visits_of(pairs, weight, epoch)
        met.update(pairs_visited(np.arange(first, end), pairs, [seed]).tolist())
        assert max(met.values()) - min(met.values()) <= 1
    assert len(met) == pairs
    assert met.total() == visits_of(pairs, weight, 6)[0] == pytest.approx(6 * weight * pairs, abs=1)


def test_halves_of_a_corpus_differ_between_passes() -> None:
    first, _, third = (pairs_visited(np.arange(*visits_of(500, 0.5, e)), 500, [1]).tolist() for e in range(3))
    assert sorted(first) != sorted(third)


@given(st.lists(st.integers(0, 139), min_size=1, max_size=40))
def test_gather_keeps_the_order(rows: list[int]) -> None:
    corpora = [Fixed.of(100), Fixed.of(20, 500)]
    mixture = Mixture(corpora, [1.0, 2.0], seed=1, epoch=0)
    assert len(mixture) == 140
    got = mixture.gather(rows)
    parts = got.src.split(got.src_offsets.diff().tolist())
    lengths = mixture.lengths_of(np.array(rows))
    for row, source, src, tgt in zip(rows, parts, *lengths, strict=True):
        number = int(source[0])
        assert (number < 500) == (row < 100)
        pair = ([number] * (1 + number % 7), [number] * (1 + number % 5))
        assert (src, tgt) == (len(pair[0]) + 1, len(pair[1]) + 1)
    chosen = [(p[:-1].tolist(), [int(p[0])] * (1 + int(p[0]) % 5)) for p in parts]
    expected = flat_batch([s for s, _ in chosen], [t for _, t in chosen])
    for name in ("src", "src_offsets", "tgt_in", "tgt_out", "tgt_offsets"):
        assert getattr(got, name).equal(getattr(expected, name))


def test_a_mixture_is_about_as_long_as_it_says() -> None:
    mixture = Mixture([Fixed.of(100), Fixed.of(40, 500)], [0.5, 3], seed=0, epoch=1)
    src, tgt = mixture.lengths_of(np.arange(len(mixture)))
    assert mixture.tokens == pytest.approx(max(src.sum(), tgt.sum()), rel=0.1)
    assert mixture.longest == max(src.max(), tgt.max())
    assert mixture.report.read == 140


def test_weights_that_leave_nothing() -> None:
    with pytest.raises(InputError, match="leave no pair for epoch 1"):
        Mixture([Fixed.of(2)], [0.01], seed=0, epoch=1)


def test_a_tag_stands_before_every_source(tmp_path: Path) -> None:
    pairs = [("the cat", "le chat"), ("a dog <bt>", "un chien")] * 5
    tokenizer = Tokenizer.train(lambda: iter(pairs), TextConfig(vocab_size=320, tags=("<bt>", "<2fr>")))
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    files, config = PairFiles((tmp_path / "a.tsv",)), DataConfig(cache=str(tmp_path / "cache"))
    plain, tagged = (encode_corpus(files, tokenizer, config, tag=tag) for tag in (None, "<bt>"))
    (tag,) = tokenizer.tag_ids("<bt>")
    for i in range(len(pairs)):
        assert tagged.pair(i) == ([tag, *plain.pair(i)[0]], plain.pair(i)[1])
        assert tag not in plain.pair(i)[0]
    with pytest.raises(InputError, match=r'unknown tag "<bd>"; did you mean "<bt>"\?'):
        encode_corpus(files, tokenizer, config, tag="<bd>")
