"""Batches: within budget, every pair once, the same for all who ask, and resumable anywhere."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.batching import Batches, plan_epoch
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import EncodedCorpus, encode_corpus
from regard.errors import InputError
from regard.text.tokenizer import TextConfig, Tokenizer

LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=200)


def columns(lengths: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(lengths, dtype=np.int64)
    return both[:, 0], both[:, 1]


def within(batches: list[np.ndarray], src: np.ndarray, tgt: np.ndarray, budget: int) -> bool:
    return all(len(rows) * max(src[rows].max(), tgt[rows].max()) <= budget for rows in batches)


@given(LENGTHS, st.integers(60, 500), st.integers(0, 3), st.integers(0, 3), st.integers(1, 5))
def test_once_within_budget_and_fairly_shared(
    lengths: list[tuple[int, int]], budget: int, seed: int, epoch: int, world: int
) -> None:
    src, tgt = columns(lengths)
    try:
        ranks = [plan_epoch(src, tgt, budget, seed, epoch, rank, world) for rank in range(world)]
    except InputError as error:
        assert "cannot be shared evenly" in str(error)  # noqa: PT017
        assert len(lengths) < world * -(-len(plan_epoch(src, tgt, budget, seed, epoch)) // world)
        return
    everything = [batch for rank in ranks for batch in rank]
    assert sorted(np.concatenate(everything).tolist()) == list(range(len(lengths)))
    assert all(len(batch) > 0 for batch in everything)
    assert within(everything, src, tgt, budget)
    assert len({len(rank) for rank in ranks}) == 1
    again = plan_epoch(src, tgt, budget, seed, epoch, world - 1, world)
    assert all(np.array_equal(a, b) for a, b in zip(again, ranks[-1], strict=True))


def ordinary(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths like those of a real corpus: log-normal, and a target a little longer than its source."""
    rng = np.random.default_rng(5)
    src = np.clip(rng.lognormal(2.7, 0.6, count), 2, 200)
    tgt = np.clip(src * rng.lognormal(0.1, 0.2, count), 2, 200)
    return src.astype(np.int64), tgt.astype(np.int64)


def test_batches_are_well_filled() -> None:
    src, tgt = ordinary(200_000)
    batches = plan_epoch(src, tgt, 4096, seed=0, epoch=0)
    sides = [(len(rows), lengths[rows]) for rows in batches for lengths in (src, tgt)]
    assert sum(side.sum() for _, side in sides) / sum(rows * side.max() for rows, side in sides) > 0.97
    used = np.mean([len(rows) * max(src[rows].max(), tgt[rows].max()) for rows in batches])
    assert used > 0.95 * 4096


def test_epochs_differ_in_batches_and_order() -> None:
    src, tgt = ordinary(5000)
    first, second = (plan_epoch(src, tgt, 2000, seed=0, epoch=epoch) for epoch in (0, 1))
    common = {frozenset(b.tolist()) for b in first} & {frozenset(b.tolist()) for b in second}
    assert len(common) < 0.2 * len(first)
    widths = [int(src[b].max()) for b in first]
    assert abs(np.corrcoef(widths, range(len(widths)))[0, 1]) < 0.3  # no order by length is left


@pytest.mark.long
def test_planning_grows_with_the_pairs_and_no_faster() -> None:
    def seconds(count: int) -> float:
        src, tgt = ordinary(count)
        start = time.process_time()
        plan_epoch(src, tgt, 8192, seed=0, epoch=0, rank=1, world_size=7)
        return time.process_time() - start

    seconds(1000)  # what is done once
    assert seconds(2_000_000) < 24 * seconds(250_000)  # 8 times the pairs; by their square it would be 64


def test_a_sentence_over_budget_is_an_error() -> None:
    src, tgt = columns([(3, 3), (4, 120)])
    with pytest.raises(InputError, match=r"batch_tokens is 100, but the longest sentence has 120 tokens; set .* 120"):
        plan_epoch(src, tgt, 100, seed=0, epoch=0)


def test_more_processes_than_pairs_is_an_error() -> None:
    src, tgt = columns([(3, 3), (4, 4)])
    with pytest.raises(InputError, match="2 batches of one pair cannot be shared evenly by 3 processes"):
        plan_epoch(src, tgt, 100, seed=0, epoch=0, world_size=3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    folder = tmp_path_factory.mktemp("batches")
    pairs = [("the cat " * (1 + i % 7), "le chat " * (1 + i % 5)) for i in range(150)]
    (folder / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    tokenizer = Tokenizer.train(lambda: iter(pairs), TextConfig(vocab_size=300))
    return encode_corpus(PairFiles((folder / "a.tsv",)), tokenizer, DataConfig(cache=str(folder / "cache")))


@pytest.mark.parametrize("stop", [0, 1, 5, 17, 40])
def test_resumed_batches_are_those_that_would_have_come(corpus: EncodedCorpus, stop: int) -> None:
    straight = Batches(corpus, 120, seed=3, rank=1, world_size=2)
    for _ in range(stop):
        next(straight)
    resumed = Batches(corpus, 120, seed=3, rank=1, world_size=2, state=straight.state())
    for _ in range(2 * straight.per_epoch):
        a, b = next(straight), next(resumed)
        assert a.src.equal(b.src)
        assert a.tgt_out.equal(b.tgt_out)
        assert straight.state() == resumed.state()
    assert straight.epoch >= 1


def test_an_epoch_of_batches_is_the_corpus(corpus: EncodedCorpus) -> None:
    batches = Batches(corpus, 120, seed=0)
    read = [next(batches) for _ in range(batches.per_epoch)]
    assert batches.state() == {"epoch": 0, "index": batches.per_epoch, "width": 0}
    assert sum(len(b) for b in read) == len(corpus)
    assert all(len(b) * b.pad().src.shape[1] <= 120 and len(b) * b.pad().tgt_in.shape[1] <= 120 for b in read)
    next(batches)
    assert batches.state() == {"epoch": 1, "index": 1, "width": 0}


def test_a_corpus_may_be_made_anew_each_epoch(corpus: EncodedCorpus) -> None:
    asked: list[int] = []

    def of(epoch: int) -> EncodedCorpus:
        asked.append(epoch)
        return corpus

    batches = Batches(of, 120, seed=0, state={"epoch": 4, "index": 2})
    for _ in range(batches.per_epoch):
        next(batches)
    assert asked == [4, 5]


def test_lengths_of_any_integer_type() -> None:
    src, tgt = ordinary(500)
    a = plan_epoch(src, tgt, 500, 0, 0)
    b = plan_epoch(src.astype(np.int32), tgt.astype(np.int32), 500, 0, 0)
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
