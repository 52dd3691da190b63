"""Lines in the wrong language: the identifier is asked wherever the words do not tell."""

from __future__ import annotations

import pytest

from regard.data import line_language
from regard.data.key_words import key_words
from regard.data.line_language import LineLanguage

ENGLISH = ["The house is near the old river.", "She was here with the children.", "They will come by train."] * 3
FRENCH = ["La maison est près de la rivière.", "Elle était ici avec les enfants.", "Ils viendront par le train."] * 3


def test_words_and_identifier() -> None:
    found = LineLanguage.learn(("en", "fr"), (ENGLISH, FRENCH))
    assert "the" in found.words[0]
    assert "les" in found.words[1]
    assert "train" not in found.words[0] | found.words[1]  # both sides have it
    wrong = "Le président a ouvert la séance ce matin."
    assert found.is_wrong(0, wrong, key_words(wrong))
    assert not found.is_wrong(1, wrong, key_words(wrong))


def test_only_lines_that_the_words_do_not_tell_are_shown_to_the_identifier(monkeypatch: pytest.MonkeyPatch) -> None:
    found = LineLanguage.learn(("en", "fr"), (ENGLISH, FRENCH))
    asked = []
    monkeypatch.setattr(line_language, "not_in", lambda text, language: asked.append((text, language)))
    for text in ("She was near the river.", "Quite another subject entirely.", "Yes."):
        assert not found.is_wrong(0, text, key_words(text))
    assert asked == [("Quite another subject entirely.", "en"), ("Yes.", "en")]


def test_one_language() -> None:
    found = LineLanguage.learn(("fr",), (FRENCH,))
    assert "train" in found.words[0]
