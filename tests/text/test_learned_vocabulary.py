"""Vocabularies that are learned, and the characters that are counted for them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from unicodedata import ucd_3_2_0

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers
from tokenizers import Tokenizer as RustTokenizer

from regard.errors import InputError
from regard.text import learned_vocabulary
from regard.text.learned_vocabulary import LearnedVocabulary
from regard.text.pieces import CUTS, ESCAPE, SPACE, nfc, pretokenize, to_pieces_form
from regard.text.slots import SLOTS, without_slots
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.vocabulary import UNKNOWN
from regard.text.vocabulary_training import CharacterCounts, learn_bpe

Pair = tuple[str, str]
PARTS = [
    "l'",
    "qu’",
    "cat",
    "the",
    " ",
    "  ",
    "'s",
    "...",
    "--",
    "1",
    "25",
    "\u2581",
    "\u0301",
    "\u2028",
    "\t",
    "ß",
    "ſ",
    "日本",
]
# Unicode of the libraries differs in age; characters of 2002 are old enough for all of them.
OLD = st.characters(exclude_categories=["Cs", "Cn"]).filter(lambda c: ucd_3_2_0.category(c) != "Cn")
TEXT = st.lists(st.sampled_from(PARTS) | OLD, max_size=12).map("".join)


RUST_CUTS = pre_tokenizers.Split(Regex(CUTS), "isolated")


def by_rust(vocabulary: LearnedVocabulary, text: str) -> tuple[list[int], list[str]]:
    """The ids and the words of a text by the library that learned the vocabulary."""
    form = to_pieces_form(nfc(without_slots(text)))
    if vocabulary.merges is None:
        rust = RustTokenizer(models.WordLevel(vocabulary.ids, UNKNOWN))
    else:
        rust = RustTokenizer(models.BPE(vocabulary.ids, vocabulary.merges, byte_fallback=True))
    rust.pre_tokenizer = RUST_CUTS
    ids = rust.encode(form, add_special_tokens=False).ids
    return ids, [word for word, _ in RUST_CUTS.pre_tokenize_str(form)] if form else []


@pytest.mark.parametrize("name", ["bpe", "words"])
def test_words_are_looked_up(name: str, request: pytest.FixtureRequest) -> None:
    vocabulary = request.getfixturevalue(name).source

    @settings(max_examples=25)
    @given(st.lists(TEXT, max_size=3))
    def holds(texts: list[str]) -> None:
        texts = [without_slots(text) for text in texts]
        assert vocabulary.encode(texts) == [by_rust(vocabulary, text)[0] for text in texts]
        for text in texts:
            assert vocabulary._words([to_pieces_form(nfc(text))])[0] == by_rust(vocabulary, text)[1]
            after_slot = to_pieces_form(nfc(text)).removeprefix(SPACE)
            assert vocabulary._words([after_slot]) == [pretokenize(after_slot)]

    holds()


def test_a_long_word_takes_no_quadratic_time(bpe: Tokenizer) -> None:
    """Twenty thousand letters take the merge loop minutes."""
    word = "thecatseesagarden" * 1_200
    assert bpe.source.encode([word]) == [by_rust(bpe.source, word)[0]]


def test_memory_is_bounded(bpe: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = pickle.loads(pickle.dumps(bpe.source))
    monkeypatch.setattr(learned_vocabulary, "MAX_CACHED_WORDS", 3)
    texts = ["one two three four five", "x" * 1000]
    assert vocabulary.encode(texts) == bpe.source.encode(texts)
    assert len(vocabulary._word_ids) == 3
    monkeypatch.setattr(learned_vocabulary, "MAX_CACHED_WORDS", 100)
    assert vocabulary.encode(texts) == bpe.source.encode(texts)
    assert set(vocabulary._word_ids) == set(texts[0].split())


@pytest.mark.parametrize("joint", [True, False])
def test_sent_to_another_process(sentences: Callable[[], Iterator[Pair]], joint: bool) -> None:
    config = TextConfig(vocab_size=400, joint=joint, tags=("<a>", "<b>"))
    tokenizer = Tokenizer.train(sentences, config)
    tokenizer.encode_source(["remembered"])
    other = pickle.loads(pickle.dumps(tokenizer.marked("<b>")))
    assert (other.source is other.target) == joint
    assert other.fingerprint == tokenizer.marked("<b>").fingerprint
    assert other.encode_source(["a <b> c"]) == tokenizer.marked("<b>").encode_source(["a <b> c"])
    assert not Tokenizer(other.source, other.target, config).source._word_ids.keys() & {"remembered"}


def test_the_alphabet_is_of_every_line(
    sentences: Callable[[], Iterator[Pair]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vocabulary is that of characters counted line by line and of every second pair."""
    monkeypatch.setattr("regard.text.tokenizer.SAMPLE", -(-len(list(sentences())) // 2))
    monkeypatch.setattr("regard.text.tokenizer.CHUNK", 7)
    lines = [to_pieces_form(nfc(without_slots(side))) for pair in sentences() for side in pair]
    some = [to_pieces_form(side) for n, pair in enumerate(sentences()) if n % 2 == 0 for side in pair]
    plain = learn_bpe(iter(some), Counter("".join(lines)), 400)
    learned = Tokenizer.train(sentences, TextConfig(vocab_size=400))
    assert learned.fingerprint == Tokenizer(plain, plain, learned.config).fingerprint


ODD = st.sampled_from(
    ["\n", " ", "\u2581", ESCAPE, SLOTS[0], "\u0301", "e", "\u0915\u093c", "\U0001f600", "\uac00", "\u11a8"]
)
LINES = st.lists(st.lists(ODD | st.characters(exclude_categories=["Cs"]), max_size=6).map("".join), max_size=5)


@given(st.lists(LINES, max_size=3))
def test_together_as_line_by_line(groups: list[list[str]]) -> None:
    counts, one_by_one = CharacterCounts(), Counter[str]()
    for lines in groups:
        counts.add(lines)
        for line in lines:
            one_by_one.update(to_pieces_form(nfc(without_slots(line))))
    assert counts.counter() == one_by_one


def test_a_lone_surrogate_is_named_in_its_line() -> None:
    with pytest.raises(InputError, match=r"U\+D800 at character 2"):
        CharacterCounts().add(["good", "a\ud800", "ende"])
