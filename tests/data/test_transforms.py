"""Text that changes with the epoch: as drawn, within bounds, and the same again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.corpus import DataConfig, PairFiles
from regard.data.encode import encode_corpus
from regard.data.transforms import CASES, change_pair, joined, typo, without_words
from regard.errors import RecipeError
from regard.text.tokenizer import TextConfig, Tokenizer

TEXTS = st.text(min_size=1).filter(str.strip)
PAIRS = [(f"The cat number {i} sees it.", f"Le chat numéro {i} le voit.") for i in range(80)]


def test_case_changes_on_both_sides_alike() -> None:
    config, rng = DataConfig(recase=1.0), random.Random(0)
    found = {change_pair("The big cat isn't", "Le chat n'est", config, rng) for _ in range(50)}
    assert found == {
        ("the big cat isn't", "le chat n'est"),
        ("THE BIG CAT ISN'T", "LE CHAT N'EST"),
        ("The Big Cat Isn't", "Le Chat N'est"),
    }
    assert len(CASES) == 3


@given(TEXTS, st.integers(0, 99))
def test_noise_is_for_the_source_alone(text: str, seed: int) -> None:
    config = DataConfig(typos=0.5, drop_words=0.5)
    src, tgt = change_pair(text, text, config, random.Random(seed))
    assert tgt == text
    assert src.strip()
    assert len(src.split()) <= len(text.split())


def test_chances_are_kept() -> None:
    rng, text = random.Random(1), " ".join(["word"] * 20_000)
    assert len(without_words(text, 0.2, rng).split()) == pytest.approx(16_000, rel=0.05)
    config = DataConfig(typos=0.3)
    changed = change_pair(text, "", config, rng)[0].split()
    assert sum(w != "word" for w in changed) == pytest.approx(6000, rel=0.05)
    assert {len(w) for w in changed} == {3, 4}
    assert sum(change_pair("ABC", "", DataConfig(recase=0.25), rng)[0] != "ABC" for _ in range(9000)) == pytest.approx(
        9000 * 0.25 * 2 / 3, rel=0.1
    )


def test_a_typo_keeps_the_first_letters_company() -> None:
    rng = random.Random(2)
    found = {typo("abc", rng) for _ in range(100)}
    assert found == {"bac", "acb", "ac", "ab"}


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_joined_pairs_are_neighbours_within_bounds(lengths: list[tuple[int, int]], chance: float, seed: int) -> None:
    examples = joined(lengths, chance, 12, random.Random(seed))
    assert [i for some in examples for i in some] == list(range(len(lengths)))
    for some in examples:
        assert len(some) <= 2
        assert len(some) == 1 or all(sum(lengths[i][side] for i in some) <= 12 for side in (0, 1))


@pytest.mark.parametrize("name", ["recase", "join_pairs", "typos", "drop_words"])
@pytest.mark.parametrize("tag", [None, "<x>"])
def test_an_epoch_is_made_anew_and_the_same_again(tmp_path: Path, name: str, tag: str | None) -> None:
    tokenizer = Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=400, tags=("<x>",)))
    (tmp_path / "a.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS))

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
        assert " ".join(s for s, _ in first) == " ".join(s for s, _ in PAIRS)
        assert len(first) < len(PAIRS)
    else:
        assert len(first) == len(PAIRS)
        assert name == "recase" or [t for _, t in first] == [t for _, t in PAIRS]


def test_a_chance_is_a_chance() -> None:
    with pytest.raises(RecipeError, match=r"data\.typos is a chance and must be from 0 to 1, but is 1\.5"):
        DataConfig(typos=1.5)
