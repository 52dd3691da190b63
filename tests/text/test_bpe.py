"""The merge loop against the Rust library, and BPE-dropout against its definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from regard.text.bpe import first_drop, merge, merge_from
from regard.text.pieces import to_pieces_form
from regard.text.tokenizer import Tokenizer

Pair = tuple[str, str]
RANKS = {("c", "h"): 0, ("a", "t"): 1, ("ch", "at"): 2, ("h", "a"): 3}


def ranks_of(tokenizer: Tokenizer) -> dict[tuple[str, str], int]:
    return {pair: i for i, pair in enumerate(tokenizer.source.merges or [])}


def test_earliest_learned_first_and_leftmost() -> None:
    assert merge("chat", RANKS) == ["chat"]
    assert merge("hat", RANKS) == ["h", "at"]
    assert merge("aaa", {("a", "a"): 0}) == ["aa", "a"]
    assert merge("", RANKS) == []


def test_without_dropout_it_is_the_rust_library(bpe: Tokenizer, sentences: Callable[[], Iterator[Pair]]) -> None:
    ranks = ranks_of(bpe)
    for text in [*(s for pair in sentences() for s in pair), "un été 😀 <s> ▁ \0 aaaa", "unseen gardens nonetheless"]:
        words = bpe.source.cut(to_pieces_form(text))
        by_hand = [s for word in words for s in merge(bpe.source.symbols(word), ranks)]
        assert [bpe.source.ids[s] for s in by_hand] == bpe.encode_source([text])[0]


def test_full_dropout_leaves_characters_and_bytes(bpe: Tokenizer) -> None:
    symbols = bpe.source.symbols("chat😀")
    assert merge(symbols, ranks_of(bpe), random.Random(0), 1.0) == symbols == [*"chat", *symbols[4:]]
    assert symbols[4:] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]
    assert first_drop(random.Random(0), 1.0) == 0


def test_the_shortcut_has_the_distribution_of_the_loop() -> None:
    """Cutting "chat" many times both ways gives each outcome equally often, within four standard errors."""
    draws, dropout = 20_000, 0.3
    whole = len("chat") - len(merge("chat", RANKS))

    def shortcut(rng: random.Random) -> list[str]:
        steps = first_drop(rng, dropout)
        return merge("chat", RANKS) if steps >= whole else merge_from("chat", RANKS, rng, dropout, steps)

    a, b = random.Random(1), random.Random(2)
    loop = Counter(tuple(merge("chat", RANKS, a, dropout)) for _ in range(draws))
    fast = Counter(tuple(shortcut(b)) for _ in range(draws))
    assert set(loop) == set(fast)
    for outcome in loop:
        p = loop[outcome] / draws
        assert abs(p - fast[outcome] / draws) < 4 * (2 * p * (1 - p) / draws) ** 0.5
