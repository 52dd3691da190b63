"""Pairs in shared rows: nothing lost, nothing twice, nothing over another, and little room wasted."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import EncodedCorpus, encode_corpus
from regard.data.rows import RowBatches, fill_batch, lay_out_rows
from regard.errors import InputError
from regard.text.tokenizer import TextConfig, Tokenizer

lengths = st.lists(st.tuples(st.integers(1, 16), st.integers(1, 16)), min_size=1, max_size=60)


@given(lengths)
def test_no_two_pairs_stand_in_one_place(pairs: list[tuple[int, int]]) -> None:
    layout = lay_out_rows([s for s, _ in pairs], [t for _, t in pairs], width=16)
    for starts, side in ((layout.src_start, 0), (layout.tgt_start, 1)):
        taken = np.zeros((layout.rows, 16), int)
        for row, start, pair in zip(layout.row, starts, pairs, strict=True):
            assert start + pair[side] <= 16
            taken[row, start : start + pair[side]] += 1
        assert taken.max() == 1
    assert set(layout.row) == set(range(layout.rows))


@given(lengths, st.integers(1, 6))
def test_a_batch_takes_what_fits(pairs: list[tuple[int, int]], rows: int) -> None:
    src, tgt = (np.array(side) for side in zip(*pairs, strict=True))
    count, layout = fill_batch(src, tgt, rows, 16)
    assert 1 <= count <= len(pairs)
    assert layout.rows <= rows
    assert len(layout.row) == count


def test_rows_of_real_lengths_are_nearly_full() -> None:
    rng = np.random.default_rng(1)
    src = np.clip(rng.lognormal(np.log(23), 0.6, 4000), 2, 128).astype(int)
    tgt = np.clip(src * rng.lognormal(0.05, 0.2, 4000), 2, 128).astype(int)
    count, _ = fill_batch(src, tgt, 512, 128)
    assert max(src[:count].sum(), tgt[:count].sum()) > 0.96 * 512 * 128


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    lines = [(" ".join(rng.choice(words, rng.integers(1, 12))), f"n{i} x") for i in range(200)]
    for side, name in enumerate(("a", "b")):
        (folder / name).write_text("\n".join(line[side] for line in lines) + "\n", encoding="utf-8")
    files = PairFiles((folder / "a", folder / "b"))
    tokenizer = Tokenizer.train(lambda: iter(lines), TextConfig(vocab_size=500))
    return encode_corpus(files, tokenizer, DataConfig(cache=str(folder / "cache")))


def sentences(batches: RowBatches) -> list[tuple[int, ...]]:
    """The targets of the next batch, taken back out of the rows."""
    batch = next(batches).pad()
    assert batch.shared is not None
    whose = batch.shared.tgt_sentence
    out = []
    for number in range(1, int(whose.max()) + 1):
        here = whose == number
        assert batch.shared.tgt_position[here].tolist() == list(range(int(here.sum())))
        out.append(tuple(batch.tgt_out[here].tolist()))
    return out


@pytest.mark.parametrize("world", [1, 3])
def test_an_epoch_holds_every_pair_once_over_all_ranks(corpus: EncodedCorpus, world: int) -> None:
    seen = []
    ranks = [RowBatches(corpus, 128, seed=5, rank=rank, world_size=world) for rank in range(world)]
    while ranks[0].index < len(corpus):
        for rank in ranks:
            seen += sentences(rank)
        assert len({rank.index for rank in ranks}) == 1
    ids = corpus.gather(range(len(corpus)))
    expected = [tuple(part.tolist()) for part in ids.tgt_out.split(ids.tgt_offsets.diff().tolist())]
    assert sorted(seen) == sorted(expected)


def test_the_position_is_all_there_is_to_know(corpus: EncodedCorpus) -> None:
    one = RowBatches(corpus, 192, seed=5)
    for _ in range(40):  # into a later epoch
        next(one)
    other = RowBatches(corpus, 192, seed=5, state=one.state())
    assert other.epoch == one.epoch > 0
    assert sentences(one) == sentences(other)


def test_rows_grow_with_a_later_epoch_and_never_shrink(corpus: EncodedCorpus) -> None:
    lengths = [60, 70, 50]  # of each epoch's longest sentence

    def of_epoch(epoch: int) -> EncodedCorpus:
        found = copy(corpus)
        found.longest = lengths[epoch % 3]
        return found

    one, widths = RowBatches(of_epoch, 256, seed=5), []
    while one.epoch < 3:
        assert next(one).pad().src.shape[1] == one.width
        widths.append((one.epoch, one.width))
    assert sorted(set(widths)) == [(0, 64), (1, 128), (2, 128), (3, 128)]
    other = RowBatches(of_epoch, 256, seed=5, state=one.state())
    assert sentences(one) == sentences(other)


def test_rows_shorter_than_a_sentence_are_refused(corpus: EncodedCorpus) -> None:
    with pytest.raises(InputError, match="batch_tokens is 32, but the longest sentence needs rows of 64"):
        RowBatches(corpus, 32, seed=1)
