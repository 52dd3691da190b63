"""Byte-pair encoding: merging, dropout and learning, against the Rust library."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers, trainers

from regard.text.bpe import MIN_COUNT, first_drop, learn_merges, merge, merge_by_heap, merge_from, merge_pair
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.pieces import pretokenize, to_pieces_form
from regard.text.tokenizer import Tokenizer
from regard.text.vocabulary import BYTES, SPECIALS
from regard.text.vocabulary_training import learn_bpe

Pair = tuple[str, str]
RANKS = {("c", "h"): 0, ("a", "t"): 1, ("ch", "at"): 2, ("h", "a"): 3}


def ranks_of(tokenizer: Tokenizer) -> dict[tuple[str, str], int]:
    return {pair: i for i, pair in enumerate(tokenizer.source.merges or [])}


def test_earliest_learned_first_and_leftmost() -> None:
    assert merge("chat", RANKS) == ["chat"]
    assert merge("hat", RANKS) == ["h", "at"]
    assert merge("aaa", {("a", "a"): 0}) == ["aa", "a"]
    assert merge("", RANKS) == []


@given(st.permutations([a + b for a in "abc" for b in "abc"]), st.text("abc", max_size=60), st.data())
def test_the_heap_merges_as_the_loop_does(pairs: list[str], word: str, data: st.DataObject) -> None:
    """Ranks are random, so that later merges also join what earlier ones made."""
    ranks = {(a, b): rank for rank, (a, b) in enumerate(pairs)}
    for _ in range(data.draw(st.integers(0, 6))):
        made = [a + b for a, b in ranks] + ["a", "b", "c"]
        ranks.setdefault((data.draw(st.sampled_from(made)), data.draw(st.sampled_from(made))), len(ranks))
    assert merge_by_heap(word, ranks) == merge(word, ranks)


def test_without_dropout_it_is_the_rust_library(bpe: Tokenizer, sentences: Callable[[], Iterator[Pair]]) -> None:
    ranks = ranks_of(bpe)
    for text in [*(s for pair in sentences() for s in pair), "un été 😀 <s> ▁ \0 aaaa", "unseen gardens nonetheless"]:
        words = pretokenize(to_pieces_form(text))
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


def by_the_library(words: Counter[str], most: int) -> list[tuple[str, str]]:
    rust = RustTokenizer(models.BPE())
    rust.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    characters = {c for word in words for c in word}
    trainer = trainers.BpeTrainer(vocab_size=len(characters) + most, min_frequency=MIN_COUNT, show_progress=False)
    rust.train_from_iterator([" ".join([word] * count) for word, count in words.items()], trainer)
    return [tuple(pair) for pair in json.loads(rust.to_str())["model"]["merges"]]


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.text("abcd", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=12))
def test_ties_and_repeats_are_the_librarys(words: dict[str, int]) -> None:
    ours = [merge.pair for merge in learn_merges(words, 12)]
    theirs = by_the_library(Counter(words), 12)
    assert ours[: len(theirs)] == theirs  # the library counts pieces, so that two merges into one piece count once


def test_on_a_corpus_it_is_what_models_learn(sentences: Callable[[], Iterator[tuple[str, str]]]) -> None:
    lines = [to_pieces_form(text) for pair in sentences() for text in pair]
    characters = Counter("".join(lines))
    most = 150
    size = len(SPECIALS) + len(BYTES) + len(characters) + most
    theirs = learn_bpe(iter(lines), characters, size)
    assert isinstance(theirs, LearnedVocabulary)
    ours = learn_merges(Counter(word for line in lines for word in pretokenize(line)), most)
    assert theirs.merges is not None
    assert [merge.pair for merge in ours] == theirs.merges
    assert len(ours) > 50
    assert all(a.times >= b.times for a, b in pairwise(ours))


def test_the_counts_are_those_of_a_recount() -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "aaaa": 4}
    spelled = {word: list(word) for word in words}
    for learned in learn_merges(words, 20):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in spelled.items():
            for pair in pairwise(symbols):
                pairs[pair] += words[word]
        assert learned.times == pairs[learned.pair] == max(pairs.values())
        spelled = {word: merge_pair(symbols, learned.pair) for word, symbols in spelled.items()}


def test_a_pair_seen_once_is_not_merged() -> None:
    assert learn_merges({"ab": 1}, 5) == []
    assert learn_merges({}, 5) == []
