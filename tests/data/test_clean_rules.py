"""The rule that a row breaks first.

---

Lines in the wrong language: the identifier is asked wherever the words do not tell."""

from __future__ import annotations

import pytest

from regard.data import clean_rules
from regard.data.clean_rules import REASONS, CleanConfig, LineLanguage, Row, Rule, Rules, long_numbers
from regard.data.overlap import HeldOutText, key_words
from regard.errors import RecipeError

HELD = HeldOutText.of(["The sun shines.", "One two three four five six seven eight nine ten."])


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (("A house.", "Une maison."), Rule.NONE),
        (("A house.", " "), Rule.EMPTY),
        (("the SUN shines", "Il fait beau."), Rule.HELD_OUT),
        (("Il fait beau.", "the SUN shines"), Rule.HELD_OUT),
        (("So one two three four five six seven eight nine ten.", "Et voilà."), Rule.HELD_OUT_INSIDE),
        (("One two three four five six seven eight nine nothing.", "Et voilà."), Rule.NEAR_HELD_OUT),
        (("Taxi, please!", "taxi please"), Rule.IDENTICAL),
        (("Yes.", "Mais oui."), Rule.SHORT),
        (("word " * 12, "mot mot"), Rule.LONG),
        (("A5-0045/2004 C5", "Rapport numéro un"), Rule.LETTERS),
        (("In the year 1999.", "En cette année."), Rule.NUMBERS),
        (("Copy %1 to {name}.", "Copier %1."), Rule.PLACEHOLDERS),
        (("Copy %1 to {name}.", "Vers {name}, copier %1."), Rule.NONE),
        (("The sun shines.",), Rule.HELD_OUT),
        (("A house.",), Rule.NONE),
    ],
)
def test_the_first_rule_that_is_broken(row: Row, rule: Rule) -> None:
    rules = Rules(CleanConfig(shortest=2, longest=11, numbers=True, same_placeholders=True), HELD, None)
    assert rules.judge([row]).rules.tolist() == [rule]


def test_rules_can_be_left_out() -> None:
    rules = Rules(CleanConfig(identical=False, letters=0, near=False), HELD, None)
    rows = [("Taxi", "taxi"), ("1", "2"), ("One two three four five six seven eight nine nothing.", "Et voilà.")]
    assert rules.judge(rows).rules.tolist() == [Rule.NONE] * 3


def test_equal_rows_have_equal_hashes_whatever_their_spelling() -> None:
    judged = Rules(CleanConfig(), HELD, None).judge([("A b", "C"), ("a, B", "c!"), ("C", "A b"), ("A", "b C")])
    assert judged.hashes[0] == judged.hashes[1]
    assert len(set(judged.hashes.tolist())) == 3


def test_every_rule_has_a_reason() -> None:
    assert {*REASONS, Rule.NONE} == set(Rule)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("12 and 12", ["12", "12"]), ("1,250 or 1.250 or 1 250", ["1250"] * 3), ("5 p.m., 15.45", ["15", "45"]), ("", [])],
)
def test_numbers(text: str, numbers: list[str]) -> None:
    assert long_numbers(text) == numbers


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shortest": 0}, "shortest must be at least 1 word"),
        ({"shortest": 5, "longest": 4}, "longest must be at least shortest"),
        ({"letters": 2}, "letters is a share"),
        ({"deviations": -1}, "deviations must be 0 or more"),
        ({"least_score": -1}, "least_score must be 0 or more"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, float], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        CleanConfig(**settings)  # type: ignore[arg-type]


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
    monkeypatch.setattr(clean_rules, "foreign_language", lambda text, language: asked.append((text, language)))
    for text in ("She was near the river.", "Quite another subject entirely.", "Yes."):
        assert not found.is_wrong(0, text, key_words(text))
    assert asked == [("Quite another subject entirely.", "en"), ("Yes.", "en")]


def test_one_language() -> None:
    found = LineLanguage.learn(("fr",), (FRENCH,))
    assert "train" in found.words[0]
