"""Corpora in numbers on disk: the same pairs come back, and memory does not grow with them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.align import hmm, numbered
from regard.align.numbered import NumberedPairs
from regard.errors import InputError

words = st.lists(st.sampled_from("abcde"), max_size=5)


@given(st.lists(st.tuples(words, words), max_size=8))
def test_pairs_come_back_as_they_were_as_often_as_they_are_read(pairs: list[tuple[list[str], list[str]]]) -> None:
    full = [(source, target) for source, target in pairs if source and target]
    if not full:
        with pytest.raises(InputError, match="was given none"):
            NumberedPairs.of(pairs)
        return
    corpus = NumberedPairs.of(iter(pairs))
    assert list(corpus) == list(corpus) == full
    assert list(corpus.swapped()) == [(target, source) for source, target in full]
    assert len(corpus) == len(full)


@dataclass(frozen=True)
class ManyPairs:
    """Sentence pairs of few words, made when they are read."""

    count: int

    def __iter__(self) -> Iterator[tuple[list[str], list[str]]]:
        for n in range(self.count):
            source = [str((n + i * i) % 20) for i in range(12)]
            yield source, source[::-1]


def peak(work: Callable[[], object]) -> int:
    """Bytes that were allocated at most while `work` was done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_memory_does_not_grow_with_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many pairs: the vocabulary and the table are as large as before, and so are the groups."""
    monkeypatch.setattr(numbered, "CHUNK", 100)
    monkeypatch.setattr(numbered, "CELLS", 1 << 14)
    config = hmm.HmmConfig(iterations=1, model1_iterations=1)

    def align(pairs: ManyPairs) -> None:
        for _ in hmm.train_both(pairs, config).align_each(pairs):
            pass

    align(ManyPairs(10))  # what is allocated once
    few, many = (peak(lambda count=count: align(ManyPairs(count))) for count in (400, 1600))
    assert many < 1.3 * few


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to stand for a full disk")
def test_a_full_disk_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(numbered.tempfile, "TemporaryFile", lambda buffering: full)
        with pytest.raises(InputError, match=r"cannot write temporary files in .*No space left.*set TMPDIR"):
            NumberedPairs.of([("a", "b")])
