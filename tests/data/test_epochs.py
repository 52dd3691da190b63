"""The next epoch, encoded in the background: what it would be if it were encoded when it is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.data import encode, epochs
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import EncodedCorpus
from regard.data.epochs import BackgroundEncoder, encode_epoch
from regard.data.splits import TrainingCorpus
from regard.errors import InputError
from regard.text.tokenizer import TextConfig, Tokenizer

PAIRS = [(f"the cat number {i} sees the dog", f"le chat numéro {i} voit le chien") for i in range(30)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400, bpe_dropout=0.2, tags=("<fr>",)))


@pytest.fixture
def corpora(tmp_path: Path) -> list[TrainingCorpus]:
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS), encoding="utf-8")
    files = PairFiles((tmp_path / "a.tsv",))
    return [TrainingCorpus(files, tag="<fr>"), TrainingCorpus(files, 2.0)]


def ids(corpora: list[EncodedCorpus]) -> list[list[int]]:
    return [side.tolist() for corpus in corpora for side in (corpus.src, corpus.tgt, corpus.src_offsets)]


def test_the_next_epoch_is_there_when_it_is_needed(
    tmp_path: Path, corpora: list[TrainingCorpus], tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, other = (
        DataConfig(cache=str(tmp_path / "cache"), recase=0.3),
        DataConfig(recase=0.3, cache=str(tmp_path / "b")),
    )
    expected = [ids(encode_epoch(corpora, tokenizer, other, 5, epoch)) for epoch in (3, 4)]
    assert expected[0] != expected[1]
    background = BackgroundEncoder(corpora, tokenizer, data, 5)
    background.wait()  # nothing has begun
    background.begin(4)
    background.wait()
    monkeypatch.setattr(encode, "_write", None)  # not encoded here
    assert ids(encode_epoch(corpora, tokenizer, data, 5, 4)) == expected[1]


def test_a_failure_shows_when_the_epoch_is_needed(
    tmp_path: Path, corpora: list[TrainingCorpus], tokenizer: Tokenizer
) -> None:
    (tmp_path / "file").write_text("in the way")
    data = DataConfig(cache=str(tmp_path / "file"))
    background = BackgroundEncoder(corpora, tokenizer, data, 5)
    background.begin(1)
    background.wait()
    with pytest.raises(InputError, match="cannot write encoded data"):
        encode_epoch(corpora, tokenizer, data, 5, 1)


def test_small_corpora_are_encoded_side_by_side(
    tmp_path: Path, corpora: list[TrainingCorpus], tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, other = (DataConfig(cache=str(tmp_path / name), recase=0.3) for name in "ab")
    expected = ids(encode_epoch(corpora, tokenizer, data, 5, 3))
    monkeypatch.setattr(epochs, "WORTH_PROCESSES", (tmp_path / "a.tsv").stat().st_size)
    monkeypatch.setattr(epochs, "usable_cores", lambda: 2)
    monkeypatch.setattr(encode, "_write", None)  # not encoded in this process
    seen: list[int] = []
    assert ids(encode_epoch(corpora, tokenizer, other, 5, 3, seen.append)) == expected
    assert seen == [len(PAIRS), 2 * len(PAIRS)]
    monkeypatch.setattr(epochs, "WorkerPool", None)  # all of it is in the cache: no process is needed
    assert ids(encode_epoch(corpora, tokenizer, other, 5, 3)) == expected


def test_few_corpora_are_not_left_to_few_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "WORTH_PROCESSES", 10)
    sizes = {"a": 100, "b": 90, "c": 10, "d": 5}
    for name, size in sizes.items():
        (tmp_path / name).write_text("x" * size, encoding="utf-8")
    corpora = [TrainingCorpus(PairFiles((tmp_path / name,))) for name in sizes]

    def chosen(some: list[TrainingCorpus], cores: int) -> list[str]:
        return [one.files.paths[0].name for one in epochs.small_ones(some, cores)]

    assert chosen(corpora, 16) == ["c", "d"]  # a and b have all cores, one after the other
    assert chosen(corpora[:2], 16) == chosen(corpora[2:3], 16) == []
    assert chosen([*corpora, *corpora, *corpora], 2) == [name for name in sizes for _ in range(3)]
