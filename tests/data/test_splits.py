"""What a recipe names: one corpus or several, and what is held out of it.

---

Splits by connected sentences: nothing leaks, nothing is lost but what is said, and the same seed splits the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.config import CorpusConfig, DataConfig
from regard.data.corpus import Pair, PairFiles, read_pairs
from regard.data.splits import TrainingCorpus, components, find_splits, hold_out, sentence_key, split_connected
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


WORDS = st.sampled_from(["a", "b", "c", "d", "e", "A!", "b ?", "é", "e\u0301", "...", "–"])
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=30)


def slow_components(pairs: list[Pair]) -> list[int]:
    """By the definition: pairs that share a key on a side have one number; take the least until nothing changes."""
    keys = [[sentence_key(text) for text in pair] for pair in pairs]
    found = list(range(len(pairs)))
    for _ in pairs:
        for i, mine in enumerate(keys):
            found[i] = min(found[j] for j, other in enumerate(keys) if mine[0] == other[0] or mine[1] == other[1])
    return found


@given(PAIRS)
@settings(max_examples=40, deadline=None)
def test_components_are_by_definition(pairs: list[Pair]) -> None:
    assert components(pairs) == slow_components(pairs)


@given(PAIRS, st.integers(0, 8), st.integers(0, 8), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_nothing_leaks(pairs: list[Pair], dev: int, test: int, seed: int) -> None:
    parts = split_connected(pairs, dev, test, seed)
    assert len(parts["dev"]) <= dev
    assert len(parts["test"]) <= test
    for held, others in (
        (parts["test"], parts["train"] + parts["dev"]),
        (parts["dev"], parts["train"] + parts["test"]),
    ):
        for side in (0, 1):
            assert not {sentence_key(p[side]) for p in held} & {sentence_key(p[side]) for p in others}
        sources = [sentence_key(p[0]) for p in held]
        assert len(set(sources)) == len(sources)  # one reference each
    made = [*parts["train"], *parts["dev"], *parts["test"]]
    assert len(set(made)) == len(made)
    assert set(made) <= set(pairs)
    assert parts == split_connected(pairs, dev, test, seed)


def test_what_is_not_held_out_trains() -> None:
    pairs = [(f"source {i}", f"target {i // 2}") for i in range(100)]  # fifty components of two
    parts = split_connected(pairs, dev=10, test=20)
    assert (len(parts["dev"]), len(parts["test"])) == (10, 20)
    assert sorted(parts["train"] + parts["dev"] + parts["test"]) == sorted(pairs)
    assert parts["train"] == [pair for pair in pairs if pair in parts["train"]]  # in the order of the file
    assert split_connected(pairs, 10, 20, seed=2)["test"] != parts["test"]


def test_a_large_component_always_trains() -> None:
    chatter = [("Hi.", f"Salut {i}") for i in range(11)]
    parts = split_connected([*chatter, ("One.", "Un."), ("Two.", "Deux.")], dev=5, test=5)
    assert parts["train"] == chatter
    assert sorted(parts["dev"] + parts["test"]) == [("One.", "Un."), ("Two.", "Deux.")]


def test_keys_forget_what_does_not_matter() -> None:
    assert len({sentence_key(t) for t in ("Don't go!", "don’t  GO", "DON'T GO ...", "Don\u00a0t go")}) == 1
    assert len({sentence_key(t) for t in ("!", "?", "x", "été", "ete")}) == 5
