"""Spanish with usted instead of tú: nothing of the second person is left, or the sentence is left out."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from regard.text.register import register_of
from support import load_script

script = load_script(Path(__file__).parents[2] / "recipes" / "box" / "formal_spanish.py")


def test_examples() -> None:
    assert doctest.testmod(script).failed == 0


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("hiciste", "hizo"),
        ("construiste", "construyó"),
        ("obtuviste", "obtuvo"),
        ("leíste", "leyó"),
        ("conseguiste", "consiguió"),
        ("pagaste", "pagó"),
        ("existe", None),  # the third person of existir
        ("triste", None),
        ("detrás", None),
    ],
)
def test_forms(verb: str, form: str | None) -> None:
    assert script.third_person(verb) == form


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("Espera, ¿quieres que te llames Ana?", "Espere, ¿quiere que se llame Ana?"),
        ("Está detrás de ti.", "Está detrás de usted."),
        ("¿Terminaste de vestirte?", None),  # an object or a reflexive pronoun
        ("Es parte de tu trabajo.", "Es parte de su trabajo."),
        ("La casa es grande.", None),  # addresses nobody
    ],
)
def test_sentences(text: str, rewritten: str | None) -> None:
    found = script.with_usted(text)
    assert found == rewritten
    assert found is None or register_of(f"{found} Usted.", "es") == "formal"
