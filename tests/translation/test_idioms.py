"""Idioms translated word by word, and the table of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.translation import idioms
from regard.translation.idioms import IdiomPattern, literal_idioms, rarest_word

ROWS = [
    line.split("\t") for line in Path(idioms.__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
]


@pytest.mark.parametrize(
    ("languages", "source", "literal", "right"),
    [
        (("fr", "en"), "Ne tourne pas autour du pot !", "Don't turn around the pot!", "Don't beat around the bush!"),
        (("es", "en"), "¿Me estás tomando el pelo?", "Are you taking my hair?", "Are you pulling my leg?"),
        (("de", "en"), "Ich verstehe nur Bahnhof.", "I only understand the station.", "It's all Greek to me."),
        (("en", "fr"), "Don't let the cat out of the bag.", "Ne sors pas le chat du sac.", "Ne vends pas la mèche."),
        (("en", "de"), "It's a piece of cake.", "Es ist ein Stück Kuchen.", "Das ist ein Kinderspiel."),
        (("en", "es"), "He kicked the bucket.", "Pateó el cubo.", "Estiró la pata."),
    ],
)
def test_a_literal_translation_is_a_reason_and_a_right_one_is_not(
    languages: tuple[str, str], source: str, literal: str, right: str
) -> None:
    assert [reason.name for reason in literal_idioms(source, literal, languages)] == ["idiom"]
    assert not literal_idioms(source, right, languages)


def test_the_words_of_an_idiom_are_near_each_other_and_in_order() -> None:
    pattern = IdiomPattern("pos* un lapin")
    assert pattern.search("Elle lui a posé encore une fois un petit lapin") is not None
    assert pattern.search("Un lapin posé") is None
    assert pattern.search("poser la table puis aller chercher dans le pré un lapin") is None


def test_other_languages_have_no_idioms() -> None:
    assert literal_idioms("Es regnet Bindfäden.", "Il pleut des ficelles.", ("de", "fr")) == []
    assert literal_idioms("It's a piece of cake.", "x", (None, None)) == []


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_every_row_can_be_found_and_has_literal_words(step: int) -> None:
    assert len(ROWS) > 2_000
    assert len({tuple(row[:4]) for row in ROWS}) == len(ROWS)
    for source, target, words, literal, meaning in ROWS[::step]:
        assert "en" in (source, target)
        assert source != target
        spoken = " ".join(word.split("|")[0].replace("*", "") for word in words.split())
        said = " ".join(word.split("|")[0] for word in literal.split())
        assert literal_idioms(spoken, said, (source, target)), words
        assert rarest_word(words)
        assert meaning


def test_a_long_text_takes_no_long_time() -> None:
    assert not literal_idioms("poser " * 3_000 + "un " * 3_000, "rabbit", ("fr", "en"))
