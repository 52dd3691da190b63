"""A text in pieces: each word's steps against the library's encoding, in every form."""

from __future__ import annotations

import json

import pytest

from regard.errors import InputError
from regard.explain.tokens import LONGEST, as_dict, tokens_learnt, tokens_of_vocabulary, tokens_output
from regard.report.deliver import contents
from regard.text.tokenizer import TextConfig, Tokenizer

LINES = ["the cat sat on the mat", "the hat of the cat", "that cat"]


def test_the_steps_of_a_word() -> None:
    found = tokens_learnt("the chat", LINES, 3, "three lines")
    assert [merge.piece for merge in found.learnt] == ["at", "th", "▁th"]
    assert [merge.times for merge in found.learnt] == [7, 5, 5]
    the, chat = found.words
    assert [" ".join(step.symbols) for step in the.steps] == ["▁ th e", "▁th e"]
    assert chat.pieces == ("▁", "c", "h", "at")
    assert found.used == [1, 2, 3]
    assert tokens_learnt("the", LINES, 10_000, "x").words[0].pieces == ("▁the",)


def test_a_models_merges_give_what_it_reads() -> None:
    tokenizer = Tokenizer.train(lambda: iter([(line, line) for line in LINES] * 3), TextConfig(vocab_size=300))
    text = "the fat cat, 12 été 😀"
    found = tokens_of_vocabulary(text, tokenizer.source, "a model")
    assert [i for word in found.words for i in word.ids or ()] == tokenizer.source.encode([text])[0]
    assert [piece for word in found.words for piece in word.pieces] == tokenizer.source.spelled([text])[0]
    assert "ids" in as_dict(found)["words"][0]


def test_every_form_has_the_pieces_and_is_safe() -> None:
    found = tokens_learnt("the <b>cat</b>\x1b", LINES, 5, "three lines")
    output = tokens_output(found)
    text, page, data = (contents(output, suffix).decode() for suffix in (".txt", ".html", ".json"))
    assert "▁ th e (2) → ▁th e (3)" in text
    assert "\x1b" not in text
    assert "<b>" not in page
    assert "<mark>cat</mark>" in page
    assert json.loads(data)["words"][0]["pieces"] == ["▁the"]


@pytest.mark.parametrize(
    ("text", "lines", "says"),
    [
        (" ", LINES, "the text is empty"),
        ("a" * (LONGEST + 1), LINES, "at most 2,000 are shown"),
        ("the cat", ["", " "], "no words to learn merges from"),
    ],
)
def test_nothing_to_show_is_refused(text: str, lines: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        tokens_learnt(text, lines, 5, "lines")


def test_a_vocabulary_without_merges_is_refused() -> None:
    words = Tokenizer.train(lambda: iter([("the cat", "le chat")] * 3), TextConfig(unit="word", vocab_size=100))
    with pytest.raises(InputError, match="not made by merges"):
        tokens_of_vocabulary("the cat", words.source, "a model")
