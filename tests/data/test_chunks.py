"""A corpus encoded by several processes: the same bytes and report, and nothing is left when they end early."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import chunks
from regard.data.chunks import TextChunk, encoded_chunks, in_chunks
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import cache_folder, encode_corpus
from regard.data.filters import FilterReport, Filters
from regard.text.slots import SLOTS
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.workers import WorkerKilledError, WorkerPool

PAIRS = [(f"the cat number {i} sees the dog", f"le chat numéro {i} voit le chien") for i in range(60)]
ODD = [
    ("", "x"),
    ("a", " \u2028"),
    PAIRS[3],
    ("z " * 300, "z"),
    ("q q q q q q q q q q q q q", "q q"),
    ("two  spaces ", "é\u0301"),
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400, bpe_dropout=0.2, tags=("<fr>",)))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PairFiles:
    monkeypatch.setattr("regard.data.encode.CHUNK", 7)
    monkeypatch.setattr(chunks, "FEW", 2)
    with gzip.open(tmp_path / "a.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{src}\t{tgt}\n" for src, tgt in PAIRS[:30] + ODD + PAIRS[25:])
    return PairFiles((tmp_path / "a.tsv.gz",))


@pytest.mark.long
@pytest.mark.parametrize(
    ("processes", "changes", "options"),
    [
        (2, {"dedupe": True}, {}),
        (
            3,
            {"recase": 0.3, "drop_words": 0.1, "join_pairs": 0.3, "slots": 0.5},
            {"epoch": 4, "seed": 3, "tag": "<fr>"},
        ),
    ],
)
def test_any_number_of_processes_gives_the_same_files(
    tmp_path: Path,
    files: PairFiles,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    processes: int,
    changes: Any,
    options: Any,
) -> None:
    pools = with_pool(monkeypatch)
    found = []
    for number in (1, processes):
        monkeypatch.setattr(chunks, "usable_cores", lambda n=number: n)
        config = DataConfig(cache=str(tmp_path / f"cache{number}"), **changes)
        heard: list[int] = []
        corpus = encode_corpus(files, tokenizer, config, heard.append, **options)
        (entry,) = cache_folder(config).iterdir()
        found.append((heard, corpus.report, {path.name: path.read_bytes() for path in entry.iterdir()}))
    assert [len(pool.workers) for pool in pools] == [processes]
    assert found[0] == found[1]
    assert found[0][0] == [*range(7, 71, 7), 71]
    report = found[0][1]
    assert (report.read, report.empty, report.too_long, report.duplicates) == (71, 2, 1, 6)
    assert report.ratio >= 1


def with_pool(monkeypatch: pytest.MonkeyPatch) -> list[WorkerPool[Any, Any]]:
    """The pools that are made from now on."""
    pools: list[WorkerPool[Any, Any]] = []

    def made(*given: Any) -> WorkerPool[Any, Any]:
        pools.append(WorkerPool(*given))
        return pools[-1]

    monkeypatch.setattr(chunks, "WorkerPool", made)
    return pools


def interrupt(pools: list[WorkerPool[Any, Any]]) -> None:
    raise KeyboardInterrupt


def kill_one(pools: list[WorkerPool[Any, Any]]) -> None:
    os.kill(pools[0].workers[1].process.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("act", "expected", "message"),
    [
        (interrupt, KeyboardInterrupt, None),
        (kill_one, WorkerKilledError, r"^process 2 of 2, which had pairs \d+ to \d+, was killed by SIGKILL; .*memory$"),
    ],
)
def test_an_early_end_leaves_nothing(
    tmp_path: Path,
    files: PairFiles,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Any], None],
    expected: type[BaseException],
    message: str | None,
) -> None:
    monkeypatch.setattr(chunks, "usable_cores", lambda: 2)
    pools = with_pool(monkeypatch)
    config = DataConfig(cache=str(tmp_path / "cache"))
    with pytest.raises(expected, match=message):
        encode_corpus(files, tokenizer, config, lambda _: act(pools))
    assert list(cache_folder(config).iterdir()) == []
    assert [worker.process.poll() for worker in pools[0].workers] == [-signal.SIGKILL] * 2


def test_processes_only_for_more_than_a_few_chunks(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Pool:
        def __init__(self, work: Any, workers: int, environment: Any) -> None:
            asked.append(workers)

        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *_: object) -> None: ...

        def results(self, items: Any) -> Any:
            return [(item, None) for item in items]

    monkeypatch.setattr(chunks, "WorkerPool", Pool)
    monkeypatch.setattr(chunks, "usable_cores", lambda: 16)
    encode = chunks.ChunkEncoder(tokenizer, DataConfig(), chunks.ChunkRandom(0, None), [])
    for count in (chunks.FEW - 1, chunks.FEW, chunks.FEW + 1):
        some = [TextChunk(i, i + 1, [(i, "a", "b")]) for i in range(count)]
        assert [chunk for chunk, _ in encoded_chunks(encode, iter(some))] == some
    assert asked == [16, 16]


TEXTS = st.text() | st.sampled_from(["", "\n", "a\0b", SLOTS[0], "\U0001f600"])


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(0, 2**60), TEXTS, TEXTS)))
def test_a_chunk_arrives_as_it_was_sent(texts: list[tuple[int, str, str]]) -> None:
    chunk = TextChunk(5, 9, texts)
    assert pickle.loads(pickle.dumps(chunk)) == chunk


def test_chunks_of_long_lines_are_short() -> None:
    pairs = [("a" * 4, "b"), ("c" * 4, "d"), ("e", "f")]
    assert list(in_chunks(iter(pairs * 2), 100, 10)) == [pairs, pairs]


def test_pairs_are_duplicates_only_with_both_sides() -> None:
    filters = Filters(DataConfig(dedupe=True), None)
    given = [("a", "b\tc"), ("a\tb", "c"), ("a", "b\tc"), (" ", "a"), ("a", "x")]
    assert [number for number, _, _ in filters.texts(10, given)] == [10, 11, 14]
    assert filters.report == FilterReport(read=5, empty=1, duplicates=1, duplicates_dropped=1)
