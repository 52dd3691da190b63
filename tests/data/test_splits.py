"""What a recipe names: one corpus or several, and what is held out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regard.data.config import CorpusConfig, DataConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.splits import TrainingCorpus, find_splits, hold_out
from regard.errors import InputError, RecipeError


def two(tmp_path: Path, src: bytes, tgt: bytes) -> PairFiles:
    (tmp_path / "a.en").write_bytes(src)
    (tmp_path / "a.fr").write_bytes(tgt)
    return PairFiles((tmp_path / "a.en", tmp_path / "a.fr"))


def one(tmp_path: Path, name: str, content: bytes) -> PairFiles:
    (tmp_path / name).write_bytes(content)
    return PairFiles((tmp_path / name,))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no training data: give data.src and data.tgt, or data.pairs"),
        ({"src": "a.en"}, r"data.src is a\.en, but data.tgt is not given; add it"),
        ({"tgt": "a.fr"}, r"data.tgt is a\.fr, but data.src is not given"),
        ({"src": "a", "tgt": "b", "pairs": "c.tsv"}, "data.pairs and data.src/data.tgt were both given"),
        ({"src": "a", "tgt": "b", "dev_src": "c"}, "data.dev_src is c, but data.dev_tgt is not given"),
        (
            {"src": "a", "tgt": "b", "test_src": "c", "test_pairs": "d"},
            "data.test_pairs and data.test_src/data.test_tgt",
        ),
    ],
)
def test_what_a_recipe_must_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_splits(DataConfig(**given))


def test_splits(tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % i for i in range(200))
    files = two(tmp_path, lines, lines)
    src, tgt = (str(path) for path in files.paths)
    held = find_splits(DataConfig(src=src, tgt=tgt))
    assert held.dev is not None
    assert held.test is None
    assert len(list(read_pairs(held.dev))) == 10  # 5%
    assert sorted([*held.training_pairs(), *read_pairs(held.dev)]) == sorted(read_pairs(files))
    named = find_splits(DataConfig(src=src, tgt=tgt, dev_src=src, dev_tgt=tgt, test_pairs="t.tsv"))
    assert named.dev == files
    assert named.train == (TrainingCorpus(files),)
    assert named.test == PairFiles((Path("t.tsv"),))
    assert find_splits(DataConfig(src=src, tgt=tgt, dev_size=0)).dev is None


def test_held_out_sources_are_not_trained_on(tmp_path: Path) -> None:
    rows = [(f"source {i % 70}", f"target {i}") for i in range(400)]
    files = one(tmp_path, "a.tsv", "".join(f"{s}\t{t}\n" for s, t in rows).encode())
    train, dev = hold_out(files, 40)
    kept, out = list(read_pairs(train)), list(read_pairs(dev))
    assert 30 <= len(out) <= 40
    assert not {s for s, _ in kept} & {s for s, _ in out}
    assert sorted(kept + out) == sorted(rows)
    assert (train, dev) == hold_out(files, 40)
    assert len({f.fingerprint() for f in (files, train, dev)}) == 3


def test_what_cannot_be_held_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"too few different ones to hold out a dev set; give data.dev_src"):
        hold_out(one(tmp_path, "same.tsv", b"a\tb\n" * 50), 10)
    with pytest.raises(InputError, match=r"dev_size is 50, but .* holds only 50 pairs"):
        hold_out(one(tmp_path, "same.tsv", b"a\tb\n" * 50), 50)
    train, dev = hold_out(one(tmp_path, "few.tsv", b"a\tb\nc\td\n"), None)
    assert len(list(read_pairs(train))) == len(list(read_pairs(dev))) == 1


def test_several_corpora(tmp_path: Path) -> None:
    files = two(tmp_path, b"1\n2\n", b"a\nb\n")
    one(tmp_path, "b.tsv", b"3\tc\n")
    src, tgt = (str(path) for path in files.paths)
    table = CorpusConfig(pairs=str(tmp_path / "b.tsv"), weight=2.5, tag="<bt>")
    config = DataConfig(src=src, tgt=tgt, corpus=(table,), dev_size=0)
    splits = find_splits(config)
    assert splits.train == (TrainingCorpus(files), TrainingCorpus(PairFiles((tmp_path / "b.tsv",)), 2.5, "<bt>"))
    assert list(splits.training_pairs()) == [("1", "a"), ("2", "b"), ("3", "c")]
    only = find_splits(DataConfig(corpus=(table,), dev_size=0))
    assert list(only.training_pairs()) == [("3", "c")]
    prints = {splits.fingerprint(), only.fingerprint(), *(corpus.files.fingerprint() for corpus in splits.train)}
    assert len(prints) == 4
    assert find_splits(DataConfig(src=src, tgt=tgt, dev_size=0)).fingerprint() == files.fingerprint()
    with pytest.raises(InputError, match=r"there are 2 corpora, so no dev set can be held out.*data.dev_size to 0"):
        find_splits(DataConfig(src=src, tgt=tgt, corpus=(table,)))
    with pytest.raises(InputError, match=r"a \[\[data.corpus\]\] names no files"):
        find_splits(DataConfig(corpus=(CorpusConfig(),)))


@pytest.mark.parametrize("weight", [0, -1, 1e9, float("nan")])
def test_impossible_weights(weight: float) -> None:
    with pytest.raises(RecipeError, match=r"weight must be above 0 and at most 1000"):
        CorpusConfig(weight=weight)
