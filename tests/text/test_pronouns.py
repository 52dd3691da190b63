"""text/pronouns.py: which sentences may refer to the one before, and which translations differ in a pronoun."""

from __future__ import annotations

import pytest

from regard.text.pronouns import differ_in_pronoun, has_pronoun


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "It is old."),
        ("en", "I like its colour."),
        ("fr", "Elle est vieille."),
        ("fr", "Je la vends."),
        ("fr", "Nous l’aimons."),
        ("de", "Sie ist alt."),
        ("de", "Ich verkaufe ihn."),
        ("es", "Es muy vieja."),
        ("es", "No la quiero."),
        ("es", "Mañana voy a venderla."),
    ],
)
def test_pronouns_are_found(language: str, text: str) -> None:
    assert has_pronoun(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The car is old."),
        ("fr", "Je vends la voiture."),
        ("de", "Haben Sie das Auto gesehen?"),
        ("es", "La casa es roja."),
        ("it", "È vecchia, la vendo."),
        (None, "It is old."),
    ],
)
def test_articles_forms_of_address_and_other_languages_are_not(language: str | None, text: str) -> None:
    assert not has_pronoun(text, language)


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("fr", "C'est très vieux.", "Elle est très vieille."),
        ("fr", "Je le vends.", "Je la vends."),
        ("fr", "Je l'ai vendu.", "Je l'ai vendue."),
        ("de", "Ich verkaufe es morgen.", "Ich verkaufe ihn morgen."),
        ("es", "Es muy viejo.", "Es muy vieja."),
        ("en", "He's very old.", "It's very old."),
    ],
)
def test_a_change_of_pronoun_or_form_is_seen(language: str, first: str, second: str) -> None:
    assert differ_in_pronoun(first, second, language)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Elle a dit cela.", "Elle a déclaré cela."),  # no pronoun
        ("Elle ferme la porte de la maison.", "Il ouvre une fenêtre avec ses amis."),  # much else
        ("Le chat dort.", "Le chat mange."),
    ],
)
def test_other_changes_are_not(first: str, second: str) -> None:
    assert not differ_in_pronoun(first, second, "fr")
    assert not differ_in_pronoun(first, second, "it")
