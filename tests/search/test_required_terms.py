"""Texts as constraints: what a tokenizer makes of them in a sentence is what the search is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.search.constraints import EOS, All, Constraint
from regard.search.required_terms import RequiredTerms, word_edges, wrong_translations
from regard.text.tokenizer import TextConfig, Tokenizer

PAIRS = [
    ("the cats sleep", "les chats dorment"),
    ("the man walks", "l'homme marche"),
    ("a castle", "un château fort"),
] * 4


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(lambda: iter(PAIRS), TextConfig(vocab_size=330))


def said(tokenizer: Tokenizer, constraint: Constraint | None, text: str) -> bool:
    assert constraint is not None
    for token in tokenizer.encode_target([text])[0]:
        constraint = constraint.after(token)
    return constraint.needs == 0


def test_a_text_is_found_where_it_stands_as_a_word(tokenizer: Tokenizer) -> None:
    required = RequiredTerms(tokenizer)
    for wanted, text, met in [
        ("chat", "un chat dort", True),
        ("chat", "un chat", True),
        ("chat", "(chat)", True),
        ("chat", "l'chat", True),
        ("chat", "Chat noir", False),
        ("chat", "un chateau", False),
        ("chat", "un achat", False),
        ("homme", "l'homme", True),
        ("homme", "un homme", True),
        ("homme", "gentilhomme", False),
        ("homme", "fin.homme", False),
        ("homme", "un (homme)", True),
        ("25", "le 25", True),
        ("25", "le 252", False),
        ("25 %", "à 25 %.", True),
        ("🍕", "pizza🍕!", True),
        ("Zürich", "à Zürich.", True),
    ]:
        assert said(tokenizer, required.of([[wanted]]).terms, text) == met, (wanted, text)


def test_a_capital_beside_the_small_form_is_for_the_beginning(tokenizer: Tokenizer) -> None:
    either = RequiredTerms(tokenizer).of([["chat", "Chat"]]).terms
    for text, met in [("Chat noir", True), ("un chat", True), ("un Chat", False)]:
        assert said(tokenizer, either, text) == met
    assert said(tokenizer, RequiredTerms(tokenizer).of([["Chat"]]).terms, "un Chat")


def test_as_often_as_asked_and_in_one_of_the_forms(tokenizer: Tokenizer) -> None:
    required = RequiredTerms(tokenizer)
    twice = required.of([["chat", "chats"], ["chat", "chats"]]).terms
    assert said(tokenizer, twice, "un chat et des chats")
    assert not said(tokenizer, twice, "un chat et un homme")


WORDS = st.text("abéñ🍕'- ", min_size=1, max_size=6)


@given(WORDS, WORDS, WORDS)
def test_any_text_between_spaces_is_found(tokenizer: Tokenizer, before: str, wanted: str, after: str) -> None:
    if wanted.strip() and " ".join([wanted.strip()]) == " ".join(wanted.split()):
        terms = RequiredTerms(tokenizer).of([[wanted]]).terms
        assert said(tokenizer, terms, f"{before.strip()}x {wanted.strip()} x{after.strip()}")


def test_a_vocabulary_of_words_cannot_say_every_text() -> None:
    words = Tokenizer.train(lambda: iter(PAIRS), TextConfig(unit="word", vocab_size=50))
    required = RequiredTerms(words)
    made = required.of([["chien"], ["chats"], ["chien", "château"], [" "]])
    assert made.unspellable == (0, 3)
    assert said(words, made.terms, "les chats dorment château")
    assert required.of([["chien"]]).terms is None


def test_slots_are_no_part_of_a_word(tokenizer: Tokenizer) -> None:
    edges = word_edges(tokenizer)
    assert not set(tokenizer.slot_ids) & (edges.continues | edges.ends_in_word)


def test_what_was_said_instead_is_forbidden_unless_the_term_begins_like_it(tokenizer: Tokenizer) -> None:
    links = [((0, 3), (0, 3)), ((4, 8), (4, 9)), ((4, 8), (0, 3)), ((9, 14), (10, 17))]
    own = wrong_translations([(4, 8), (9, 14)], links, "les chats dorment")
    assert own == ["chats", "dorment"]
    assert wrong_translations([(0, 3), (20, 25)], links, "les chats dorment") == []
    required = RequiredTerms(tokenizer)
    never = required.never(own)
    ids = tokenizer.encode_target(["des chats"])[0]
    for token in ids[:-1]:
        never = never.after(token)
    assert ids[-1] in never.forbidden()
    terms = required.of([["chats noirs"]]).terms
    assert terms is not None
    assert All((terms, required.never(["chats"]))).forbidden() == {EOS}


def test_a_fragment_of_a_forbidden_word_is_not_said_either(tokenizer: Tokenizer) -> None:
    """After "Le ch" a search that may not say "chou" would go on with the required word: "Le ch matou"."""
    first, second, *_ = tokenizer.encode_target(["chou"])[0]
    assert tokenizer.target.decode([first]).strip() in ("c", "ch", "cho")
    never = RequiredTerms(tokenizer).never(["chou"])
    assert first in never.forbidden()
    assert second not in never.after(first).forbidden()
