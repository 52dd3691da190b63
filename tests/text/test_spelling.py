"""Misspelt words: what each slip leads back to, and what is left alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.slips import with_slips
from regard.text.spelling import (
    KEY_NEIGHBORS,
    KEYBOARDS,
    likely_correction,
    may_have_correction,
    spelling_candidates,
    split_words_run_together,
    without_a_letter,
)

WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=6, max_size=12)


def test_keys_lie_beside_each_other() -> None:
    for keyboard in KEY_NEIGHBORS:
        assert all(key in keyboard[other] for key, near in keyboard.items() for other in near)  # both ways
        assert all(2 <= len(near) <= 6 and key not in near for key, near in keyboard.items())
    assert "w" in KEY_NEIGHBORS[0]["q"]
    assert "a" in KEY_NEIGHBORS[1]["q"]
    assert all(set("abcdefghijklmnopqrstuvwxyz") <= set("".join(rows)) for rows in KEYBOARDS)


@settings(max_examples=30)
@given(WORDS, st.integers(0, 9999))
def test_a_slip_within_a_word_is_undone(word: str, seed: int) -> None:
    rng = random.Random(seed)
    typed = word[0] + with_slips(word[1:-1], len(word) - 2, rng) + word[-1]
    twice = typed in (word[:2] + word[1:], word[:-1] + word[-2:])  # a letter beside an equal one: another slip
    assert typed == word or twice or word in spelling_candidates(typed, {word})


@pytest.mark.parametrize("word", ["delegation", "replied", "dusk", "leter", "x" * 40, ""])
def test_other_forms_and_short_words_are_no_slips(word: str) -> None:
    assert spelling_candidates(word, {"delegations", "replies", "disk", "lter", "x" * 41, "a"}) == set()


def test_several_may_be_meant() -> None:
    assert spelling_candidates("plain", {"plain", "plan"}) == set()
    assert spelling_candidates("carfe", {"care", "cafre", "scarfe", "carafe"}) == {"cafre", "scarfe", "carafe"}


BY_FREQUENCY = ["the", "of", "to", "and", "is", "that", "know", "people", "station", "claws", "class"]
RANKS = {word: rank for rank, word in enumerate(BY_FREQUENCY)}


@pytest.mark.parametrize(
    ("typed", "spelling_candidates"),
    [
        ("teh", "the"),
        ("fhe", "the"),
        ("thta", "that"),
        ("jnow", "know"),
        ("peopl", "people"),
        ("staation", "station"),
        ("people", None),  # known
        ("to", None),
        ("xy", None),
        ("zzzzzz", None),
    ],
)
def test_what_is_likely_by_frequency(typed: str, spelling_candidates: str | None) -> None:
    assert likely_correction(typed, RANKS) == spelling_candidates


def test_a_rare_word_is_not_likely_meant_where_letters_may_be_those_of_another_rare_word() -> None:
    filler = {f"w{number}": number for number in range(20_000)}
    assert likely_correction("clawz", filler | {"claws": 100}) == "claws"
    assert likely_correction("clawz", filler | {"claws": 15_000}) is None  # the last letter
    assert likely_correction("clwas", filler | {"claws": 15_000}) == "claws"  # swapped letters are hardly another word
    assert likely_correction("clsss", filler | {"class": 100, "cless": 150}) is None  # as frequent as each other


@given(st.text("abcde", max_size=8), st.lists(st.text("abcde", min_size=1, max_size=8), unique=True, max_size=30))
def test_what_is_likely_is_known_and_another_word(typed: str, words: list[str]) -> None:
    ranks = {word: rank for rank, word in enumerate(words)}
    found = likely_correction(typed, ranks)
    assert found is None or (found in ranks and typed not in ranks)
    apart = split_words_run_together(typed, ranks)
    assert apart is None or (apart.replace(" ", "") == typed and all(part in ranks for part in apart.split(" ")))


@given(st.text("abeißé'", max_size=6), st.lists(st.text("abeißé'", max_size=6), unique=True))
def test_no_correction_is_missed(word: str, words: list[str]) -> None:
    ranks = {word: rank for rank, word in enumerate(words)}
    shortened = frozenset(shorter for known in words for shorter in without_a_letter(known))
    assert likely_correction(word, ranks) is None or may_have_correction(word, ranks, shortened)
