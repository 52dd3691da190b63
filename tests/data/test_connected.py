"""Splits by connected sentences: nothing leaks, nothing is lost but what is said, and the same seed splits the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.connected import components, sentence_key, split_connected
from regard.data.corpus import Pair

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
@settings(max_examples=80, deadline=None)
def test_components_are_by_definition(pairs: list[Pair]) -> None:
    assert components(pairs) == slow_components(pairs)


@given(PAIRS, st.integers(0, 8), st.integers(0, 8), st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_nothing_leaks(pairs: list[Pair], dev: int, test: int, seed: int) -> None:
    parts = split_connected(pairs, dev, test, seed)
    assert len(parts.dev) <= dev
    assert len(parts.test) <= test
    for held, others in ((parts.test, parts.train + parts.dev), (parts.dev, parts.train + parts.test)):
        for side in (0, 1):
            assert not {sentence_key(p[side]) for p in held} & {sentence_key(p[side]) for p in others}
        sources = [sentence_key(p[0]) for p in held]
        assert len(set(sources)) == len(sources)  # one reference each
    made = [*parts.train, *parts.dev, *parts.test]
    assert len(set(made)) == len(made)
    assert set(made) <= set(pairs)
    assert parts == split_connected(pairs, dev, test, seed)


def test_what_is_not_held_out_trains() -> None:
    pairs = [(f"source {i}", f"target {i // 2}") for i in range(100)]  # fifty components of two
    parts = split_connected(pairs, dev=10, test=20)
    assert (len(parts.dev), len(parts.test)) == (10, 20)
    assert sorted(parts.train + parts.dev + parts.test) == sorted(pairs)
    assert parts.train == [pair for pair in pairs if pair in parts.train]  # in the order of the file
    assert split_connected(pairs, 10, 20, seed=2).test != parts.test


def test_a_large_component_always_trains() -> None:
    chatter = [("Hi.", f"Salut {i}") for i in range(11)]
    parts = split_connected([*chatter, ("One.", "Un."), ("Two.", "Deux.")], dev=5, test=5)
    assert parts.train == chatter
    assert sorted(parts.dev + parts.test) == [("One.", "Un."), ("Two.", "Deux.")]


def test_keys_forget_what_does_not_matter() -> None:
    assert len({sentence_key(t) for t in ("Don't go!", "don’t  GO", "DON'T GO ...", "Don\u00a0t go")}) == 1
    assert len({sentence_key(t) for t in ("!", "?", "x", "été", "ete")}) == 5
