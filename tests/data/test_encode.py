"""A corpus on disk: filtered with an account, encoded once, never trusted when damaged."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.batch import FlatBatch, flat_batch
from regard.data import encode
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import EncodedCorpus, cache_folder, encode_corpus
from regard.data.filters import FilterReport, SeenHashes
from regard.errors import InputError
from regard.text.tokenizer import TextConfig, Tokenizer

PAIRS = [(f"the cat number {i} sees the dog", f"le chat numéro {i} voit le chien") for i in range(60)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400, bpe_dropout=0.2))


@pytest.fixture
def config(tmp_path: Path) -> DataConfig:
    return DataConfig(cache=str(tmp_path / "cache"))


def table(tmp_path: Path, pairs: list[tuple[str, str]]) -> PairFiles:
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8", newline="\n")
    return PairFiles((tmp_path / "a.tsv",))


def entries(config: DataConfig) -> list[Path]:
    return sorted(cache_folder(config).iterdir())


def same(a: FlatBatch, b: FlatBatch) -> bool:
    return all(getattr(a, f).equal(getattr(b, f)) for f in ("src", "src_offsets", "tgt_in", "tgt_out", "tgt_offsets"))


def test_what_goes_in_comes_out(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    corpus = encode_corpus(table(tmp_path, PAIRS), tokenizer, config)
    assert len(corpus) == len(PAIRS)
    assert corpus.src.dtype == np.uint16
    for i, (src, tgt) in enumerate(PAIRS):
        a, b = corpus.pair(i)
        assert (tokenizer.decode_source(a), tokenizer.decode(b)) == (src, tgt)
        assert tuple(side[i] for side in corpus.lengths_of(np.arange(len(corpus)))) == (len(a) + 1, len(b) + 1)
    assert corpus.pair(-1) == corpus.pair(len(PAIRS) - 1)
    with pytest.raises(IndexError):
        corpus.pair(len(PAIRS))


def test_gather_is_flat_batch(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    corpus = encode_corpus(table(tmp_path, PAIRS), tokenizer, config)
    for rows in ([0], [59], [3, 1, 3, 59, 0], list(range(60))):
        chosen = [corpus.pair(i) for i in rows]
        assert same(corpus.gather(rows), flat_batch([s for s, _ in chosen], [t for _, t in chosen]))
        assert same(corpus.gather(np.array(rows)), corpus.gather(rows))


def test_filters_count_what_they_drop(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    odd = [("", "x"), ("a", "  "), ("\u2028", "b"), ("z" * 300, "z"), ("q q q q q q q q q q q q q", "q q"), PAIRS[0]]
    corpus = encode_corpus(table(tmp_path, PAIRS[:5] + odd + PAIRS[5:8]), tokenizer, config)
    assert corpus.report == FilterReport(read=14, kept=9, empty=3, too_long=1, ratio=1, duplicates=1)
    assert corpus.report.summary() == (
        "kept 9 of 14 pairs; dropped 3 empty, 1 too long, 1 of unequal length; 1 duplicate kept"
    )
    assert corpus.kept.tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13]
    single = DataConfig(cache=config.cache, dedupe=True)
    deduped = encode_corpus(table(tmp_path, PAIRS[:5] + odd + PAIRS[5:8]), tokenizer, single)
    assert deduped.kept.tolist() == [0, 1, 2, 3, 4, 11, 12, 13]
    assert deduped.report.summary() == (
        "kept 8 of 14 pairs; dropped 3 empty, 1 too long, 1 of unequal length, 1 duplicate"
    )


def test_short_pairs_may_be_unequal(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    corpus = encode_corpus(table(tmp_path, [("cat", "le chat le chat le chat le chat")]), tokenizer, config)
    assert corpus.report.kept == 1


def test_nothing_left(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    with pytest.raises(InputError, match=r"nothing is left of .*a\.tsv: kept 0 of 2 pairs; dropped 2 empty"):
        encode_corpus(table(tmp_path, [("", ""), (" ", "\t".strip())]), tokenizer, config)
    assert entries(config) == []


@pytest.mark.parametrize("character", ["a", "😀", " x"])
def test_a_line_of_half_a_megabyte_is_dropped_at_once(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, character: str
) -> None:
    huge = character * (500_000 // len(character.encode()))
    encode_corpus(table(tmp_path, PAIRS), tokenizer, config)  # what is done once
    start = time.process_time()
    corpus = encode_corpus(table(tmp_path, [*PAIRS, (huge, "un"), ("one", huge)]), tokenizer, config)
    middle = time.process_time()
    tokenizer.encode_source([huge])
    assert middle - start < (time.process_time() - middle) / 2  # it was not cut into pieces first
    assert corpus.report.too_long == 2


def test_nul_and_line_separators_inside_lines(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    pairs = [*PAIRS, ("a\0b", "un\u2028deux\x85")]
    corpus = encode_corpus(table(tmp_path, pairs), tokenizer, config)
    assert (tokenizer.decode_source(corpus.pair(60)[0]), tokenizer.decode(corpus.pair(60)[1])) == pairs[60]


def test_encoded_once(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []
    files = table(tmp_path, PAIRS)
    first = encode_corpus(files, tokenizer, config, heard.append)
    assert heard == [60]
    monkeypatch.setattr(encode, "read_pairs", None)  # not read again
    again = encode_corpus(files, tokenizer, config, heard.append)
    assert heard == [60]
    assert again.report == first.report
    assert np.array_equal(again.src, first.src)


@pytest.mark.parametrize("change", [{"max_length": 99}, {"max_ratio": 3.0}, {"dedupe": True}])
def test_other_settings_other_entries(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, change: dict[str, Any]
) -> None:
    files = table(tmp_path, PAIRS)
    encode_corpus(files, tokenizer, config)
    encode_corpus(files, tokenizer, DataConfig(cache=config.cache, **change))
    assert len(entries(config)) == 2
    table(tmp_path, PAIRS[1:])
    assert len(encode_corpus(files, tokenizer, config)) == 59


@pytest.mark.parametrize("name", [*encode.FILES, "meta.json"])
@pytest.mark.parametrize("how", ["cut", "flip", "gone", "lengthen"])
def test_a_damaged_entry_is_built_again(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, name: str, how: str
) -> None:
    files = table(tmp_path, PAIRS)
    good = [encode_corpus(files, tokenizer, config).pair(i) for i in range(60)]
    path = entries(config)[0] / name
    content = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    else:
        content[len(content) // 2] ^= 0x55
        path.write_bytes({"cut": content[:-3], "flip": content, "lengthen": content + b"12345678"}[how])
    corpus = encode_corpus(files, tokenizer, config)
    assert [corpus.pair(i) for i in range(60)] == good
    assert len(entries(config)) == 1
    EncodedCorpus(entries(config)[0])


def test_no_space_left(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(encode, "checksum", full)
    with pytest.raises(InputError, match=r"cannot write encoded data to .*cache \(no space left\); .*data\.cache"):
        encode_corpus(table(tmp_path, PAIRS), tokenizer, config)
    assert entries(config) == []


def test_a_cache_that_cannot_be(tmp_path: Path, tokenizer: Tokenizer) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write encoded data to .*file"):
        encode_corpus(table(tmp_path, PAIRS), tokenizer, DataConfig(cache=str(tmp_path / "file")))


def test_an_interrupted_encoding_leaves_nothing(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_corpus(table(tmp_path, PAIRS), tokenizer, config, stop)
    assert entries(config) == []


def test_what_a_killed_process_left_is_swept(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    old, new = (cache_folder(config) / name for name in (".old-1.tmp", ".new-1.tmp"))
    for left in (old, new):
        left.mkdir(parents=True)
    os.utime(old, (0, 0))
    (cache_folder(config) / ".published-1.tmp").symlink_to("nothing")  # as if another process had just renamed it
    encode_corpus(table(tmp_path, PAIRS), tokenizer, config)
    assert (old.exists(), new.exists()) == (False, True)


def test_two_processes_at_once(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    files = table(tmp_path, PAIRS)
    code = f"""
from pathlib import Path, PosixPath, WindowsPath
from regard.data.config import DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import encode_corpus
from regard.text.tokenizer import Tokenizer
tokenizer = Tokenizer.load({tmp_path / "tokenizer.json"!r})
print("ready", flush=True); input()
assert len(encode_corpus({files!r}, tokenizer, {config!r})) == 60
"""
    command = [sys.executable, "-c", code]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.communicate("go\n", timeout=60)
    assert [child.returncode for child in children] == [0, 0]
    assert len(entries(config)) == 1
    assert len(encode_corpus(files, tokenizer, config)) == 60


def test_the_loser_of_a_race_takes_the_winners_work(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    files = table(tmp_path, PAIRS)

    def another_is_faster(_: int) -> None:
        encode_corpus(files, tokenizer, config)

    assert len(encode_corpus(files, tokenizer, config, another_is_faster)) == 60
    assert len(entries(config)) == 1


def test_dropout_is_new_each_epoch_and_the_same_again(tmp_path: Path, tokenizer: Tokenizer, config: DataConfig) -> None:
    files = table(tmp_path, PAIRS)

    def ids(epoch: int | None, seed: int = 0) -> list[Any]:
        corpus = encode_corpus(files, tokenizer, config, epoch=epoch, seed=seed)
        pairs = [corpus.pair(i) for i in range(len(corpus))]
        assert [(tokenizer.decode_source(s), tokenizer.decode(t)) for s, t in pairs] == PAIRS
        return pairs

    plain, first, second = ids(None), ids(0), ids(1)
    assert plain != first != second != plain
    assert ids(0, seed=1) != first
    for entry in entries(config):
        json.loads((entry / "meta.json").read_text())
        (entry / "meta.json").unlink()
    assert (ids(0), ids(1)) == (first, second)
    ids(2)
    ids(3)
    assert len(entries(config)) == 4  # plain, epochs 2 and 3, and the other seed's


def test_without_dropout_epochs_are_one(tmp_path: Path, config: DataConfig) -> None:
    plain = Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400))
    files = table(tmp_path, PAIRS)
    for epoch in (None, 0, 1):
        encode_corpus(files, plain, config, epoch=epoch)
    assert len(entries(config)) == 1


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REGARD_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder(DataConfig()) == tmp_path / "xdg" / "regard"
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "ours"))
    assert cache_folder(DataConfig()) == tmp_path / "ours"
    assert cache_folder(DataConfig(cache="here")) == Path("here")
    monkeypatch.delenv("REGARD_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder(DataConfig()) == Path.home() / ".cache" / "regard"


@pytest.mark.long
def test_memory_is_flat(
    tmp_path: Path, tokenizer: Tokenizer, config: DataConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight times the corpus takes nearly the memory of one."""
    monkeypatch.setattr("regard.data.encode.CHUNK", 500)
    peaks = []
    for times in (1, 8):
        pairs = [(f"the cat {i}", f"le chat {i}") for i in range(1000 * times)]
        files = table(tmp_path, pairs)
        del pairs
        tracemalloc.start()
        encode_corpus(files, tokenizer, config)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 8 * 8000


def test_seen_over_many_runs() -> None:
    seen, rng = SeenHashes(), np.random.default_rng(0)
    known: set[str] = set()
    for _ in range(60):
        texts = [str(i) for i in rng.integers(0, 3000, size=int(rng.integers(0, 120)))]
        fresh = seen.add(texts)
        for text, new in zip(texts, fresh.tolist(), strict=True):
            assert new == (text not in known)
            known.add(text)
    assert sum(map(len, seen.runs)) == len(known)
    assert len(seen.runs) < 12
