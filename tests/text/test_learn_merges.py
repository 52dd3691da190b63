"""The learning loop of byte-pair encoding against the Rust library, merge for merge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers, trainers

from regard.text.learn_merges import LEAST, learn_merges, merged
from regard.text.learnt_vocabulary import LearntVocabulary, cut_words, learn_bpe
from regard.text.pieces import to_pieces_form
from regard.text.vocabulary import BYTES, SPECIALS


def by_the_library(words: Counter[str], most: int) -> list[tuple[str, str]]:
    rust = RustTokenizer(models.BPE())
    rust.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    characters = {c for word in words for c in word}
    trainer = trainers.BpeTrainer(vocab_size=len(characters) + most, min_frequency=LEAST, show_progress=False)
    rust.train_from_iterator([" ".join([word] * count) for word, count in words.items()], trainer)
    return [tuple(pair) for pair in json.loads(rust.to_str())["model"]["merges"]]


@settings(max_examples=40, deadline=None)
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
    assert isinstance(theirs, LearntVocabulary)
    ours = learn_merges(Counter(word for line in lines for word in cut_words(line)), most)
    assert theirs.merges is not None
    assert [merge.pair for merge in ours] == theirs.merges
    assert len(ours) > 50
    assert all(a.times >= b.times for a, b in pairwise(ours))


def test_the_counts_are_those_of_a_recount() -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "aaaa": 4}
    spelled = {word: list(word) for word in words}
    for merge in learn_merges(words, 20):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in spelled.items():
            for pair in pairwise(symbols):
                pairs[pair] += words[word]
        assert merge.times == pairs[merge.pair] == max(pairs.values())
        spelled = {word: merged(symbols, merge.pair) for word, symbols in spelled.items()}


def test_a_pair_seen_once_is_not_merged() -> None:
    assert learn_merges({"ab": 1}, 5) == []
    assert learn_merges({}, 5) == []
