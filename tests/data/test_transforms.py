"""Text that changes with the epoch: as drawn, within bounds, and the same again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.config import CorpusConfig, DataConfig
from regard.data.corpus import PairFiles
from regard.data.encode import encode_corpus
from regard.data.transforms import CASES, NEIGHBOURS, change_pair, joined, without_words
from regard.errors import RecipeError
from regard.text.slots import SLOTS, slots_in
from regard.text.tokenizer import TextConfig, Tokenizer

WORDS = st.sampled_from(
    ["Tom", "the", "l'été", "1,250", "in 1998", "https://a.bc/d", "😀", SLOTS[0], SLOTS[3] + ".", "¿Qué?"]
)
TEXTS = st.lists(WORDS | st.text(max_size=6), min_size=1, max_size=12).map(" ".join).filter(str.strip)
PAIRS = [(f"The cat number {i} sees it, sir.", f"Le chat numéro {i} le voit.") for i in range(80)]
ON_SOURCE = ("lower", "title", "drop_marks", "slips", "drop_words")
ON_BOTH = ("recase", "renumber", "placeholders", "emoji", "list_marks")


@given(TEXTS, TEXTS, st.sampled_from([*ON_SOURCE, *ON_BOTH]) | st.none(), st.integers(0, 99))
def test_a_change_keeps_slots_and_leaves_no_side_empty(src: str, tgt: str, name: str | None, seed: int) -> None:
    config = DataConfig(**dict.fromkeys((name,) if name else (*ON_SOURCE, *ON_BOTH), 0.7))  # type: ignore[arg-type]
    found = change_pair(src, tgt, config, random.Random(seed))
    assert found == change_pair(src, tgt, config, random.Random(seed))
    for before, after in zip((src, tgt), found, strict=True):
        assert slots_in(after) == slots_in(before)
        assert after.strip()
    if name in ON_SOURCE:
        assert found[1] == tgt


def test_case_changes_on_both_sides_alike() -> None:
    config, rng = DataConfig(recase=1.0), random.Random(0)
    found = {change_pair("The big cat isn't", "Le chat n'est", config, rng) for _ in range(50)}
    assert found == {
        ("the big cat isn't", "le chat n'est"),
        ("THE BIG CAT ISN'T", "LE CHAT N'EST"),
        ("The Big Cat Isn't", "Le Chat N'est"),
    }
    assert len(CASES) == 3


def test_a_source_in_small_letters_has_a_whole_translation() -> None:
    config, rng = DataConfig(lower=1.0), random.Random(0)
    found = {change_pair("Ask TOM. He knows.", "Demande à Tom.", config, rng) for _ in range(50)}
    assert found == {("ask tom. he knows.", "Demande à Tom."), ("Ask tom. He knows.", "Demande à Tom.")}
    assert change_pair("Ask Tom now.", "Demande.", DataConfig(title=1.0), rng) == ("Ask Tom Now.", "Demande.")


def test_only_one_change_of_case() -> None:
    config, rng = DataConfig(recase=1.0, lower=1.0, title=1.0), random.Random(0)
    assert {change_pair("Ab Cd", "Ab Cd", config, rng) for _ in range(50)} == {
        ("ab cd", "ab cd"), ("AB CD", "AB CD"), ("Ab Cd", "Ab Cd")
    }  # fmt: skip


def test_chances_are_kept() -> None:
    rng, text = random.Random(1), " ".join(["word"] * 20_000)
    assert len(without_words(text, 0.2, rng).split()) == pytest.approx(16_000, rel=0.05)
    text = "mixed Case in a Sentence that is long enough for several slips of anybody who types, 98."
    for name in (*ON_BOTH, "slips", "drop_marks"):
        config = DataConfig(**{name: 0.25})  # type: ignore[arg-type]
        changed = sum(change_pair(text, text, config, rng) != (text, text) for _ in range(1000))
        assert 0.19 < changed / 1000 < 0.29, name  # some slips and numbers change nothing


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_joined_pairs_are_each_in_one_example(lengths: list[tuple[int, int]], chance: float, seed: int) -> None:
    examples = joined(lengths, chance, 12, random.Random(seed))
    assert sorted(i for some in examples for i in some) == list(range(len(lengths)))
    for some in examples:
        assert len(some) <= 5
        assert len(some) == 1 or all(sum(lengths[i][side] for i in some) <= 12 for side in (0, 1))


def test_joined_pairs_are_neighbours_or_from_anywhere() -> None:
    examples = joined([(1, 1)] * 6000, 0.5, 9, random.Random(1))
    assert {len(some) for some in examples} == {1, 2, 3, 4, 5}
    assert sum(len(some) > 1 for some in examples) / len(examples) == pytest.approx(0.5, rel=0.1)
    near = sum(some[-1] - some[0] < 9 for some in examples if len(some) > 1)
    assert near / sum(len(some) > 1 for some in examples) == pytest.approx(NEIGHBOURS, rel=0.1)
    assert joined([(1, 1)] * 9, 0.0, 9, random.Random(1)) == [[i] for i in range(9)]


@pytest.mark.parametrize("name", ["join_pairs", "slips", "renumber"])
@pytest.mark.parametrize("tag", [None, "<x>"])
def test_an_epoch_is_made_anew_and_the_same_again(tmp_path: Path, name: str, tag: str | None) -> None:
    tokenizer = Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400, tags=("<x>",)))
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS), encoding="utf-8")

    def texts(epoch: int | None, cache: str = "cache") -> list[tuple[str, str]]:
        config = DataConfig(cache=str(tmp_path / cache), **{name: 0.5})  # type: ignore[arg-type]
        files = PairFiles((tmp_path / "a.tsv",))
        corpus = encode_corpus(files, tokenizer, config, epoch=epoch, seed=3, tag=tag)
        ids = [corpus.pair(i) for i in range(len(corpus))]
        assert all(src[: len(tokenizer.tag_ids(tag))] == tokenizer.tag_ids(tag) for src, _ in ids)
        assert sum(src.count(tokenizer.source.ids["<x>"]) for src, _ in ids) == (len(ids) if tag else 0)
        assert corpus.longest == 1 + max(len(side) for pair in ids for side in pair)
        return [(tokenizer.decode_source(s), tokenizer.decode(t)) for s, t in ids]

    plain, first, second = texts(None), texts(0), texts(1)
    assert plain == PAIRS
    assert len({tuple(some) for some in (plain, first, second)}) == 3
    assert texts(0, "elsewhere") == first
    if name == "join_pairs":
        assert sorted(" ".join(s for s, _ in first).split()) == sorted(" ".join(s for s, _ in PAIRS).split())
        assert len(first) < len(PAIRS)
    else:
        assert len(first) == len(PAIRS)
        assert name != "slips" or [t for _, t in first] == [t for _, t in PAIRS]


def test_a_chance_is_a_chance() -> None:
    with pytest.raises(RecipeError, match=r"data\.slips is a chance and must be from 0 to 1, but is 1\.5"):
        DataConfig(slips=1.5)


def test_a_corpus_may_be_less_rough() -> None:
    config = DataConfig(slips=0.4, join_pairs=0.2, slots=0.1)
    assert config.with_scaled_transforms(0.5) == DataConfig(slips=0.2, join_pairs=0.1, slots=0.1)
    assert not any(config.with_scaled_transforms(0).transforms)
    with pytest.raises(RecipeError, match=r"data\.corpus\.rough must be from 0 to 1, but is 2"):
        CorpusConfig(rough=2)
