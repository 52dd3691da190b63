"""The rule that a row breaks first."""

from __future__ import annotations

import pytest

from regard.data.clean_rules import REASONS, CleanConfig, Row, Rule, Rules, long_numbers
from regard.data.held_out import HeldOutText
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
        (("The sun shines.",), Rule.HELD_OUT),
        (("A house.",), Rule.NONE),
    ],
)
def test_the_first_rule_that_is_broken(row: Row, rule: Rule) -> None:
    rules = Rules(CleanConfig(shortest=2, longest=11, numbers=True), HELD, None)
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
