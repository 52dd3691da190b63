"""Agreement of determiners with the noun that replaces another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.agreement import agreeing, function_words, gender_of

BEFORE = {
    "fr": [
        "le",
        "la",
        "l'",
        "les",
        "du",
        "de la",
        "de l'",
        "des",
        "au",
        "aux",
        "à l'",
        "ce",
        "cette",
        "ma",
        "un nouvel",
    ],
    "de": ["der", "die", "das", "den", "dem", "des", "ein", "einer", "im", "zur", "kein roter", "der rote", "dieses"],
    "es": ["el", "la", "los", "del", "al", "a la", "una", "este", "la nueva", "y", "o"],
    "en": ["a", "an", "the"],
}
NOUNS = {
    "fr": ["archive", "routeur", "options", "héros", "connexion internet", "bouton marche/arrêt", "écrou"],
    "de": ["Taste", "Knopf", "Heizung", "Kabel", "Vermieters", "Xyz"],
    "es": ["tecla de encendido", "botón", "conexiones", "iglesia", "hora", "otro"],
    "en": ["office", "user", "hour", "router", "unit"],
}


@pytest.mark.parametrize(
    ("language", "before", "noun", "wanted"),
    [
        ("fr", "le ", "option", ["l'"]), ("fr", "l’", "routeur", ["le "]), ("fr", "du ", "écran", ["de l'"]),
        ("fr", "de l'", "bouton", ["du "]), ("fr", "au ", "connexion", ["à la "]), ("fr", "d'", "routeur", ["de "]),
        ("fr", "à l'", "routeurs", ["aux ", "au "]), ("fr", "lors des ", "élection", ["lors une ", "lors de l'"]),
        ("fr", "ma ", "option", ["mon "]), ("fr", "Le nouveau ", "connexion", ["La nouvelle "]),
        ("de", "den ", "Taste", ["die "]), ("de", "des ", "Heizung", ["der "]), ("de", "im ", "Datei", ["in der "]),
        ("de", "ein kleiner ", "Brett", ["ein kleines "]), ("de", "den roten ", "Taste", ["die rote "]),
        ("es", "del ", "tecla", ["de la "]), ("es", "a la ", "botón", ["al "]), ("es", "Tom y ", "Inés", ["Tom e "]),
        ("en", "an ", "router", ["a "]), ("en", "A ", "hour", ["An "]), ("en", "a ", "user", ["a "]),
        ("it", "il ", "opzione", ["il "]), (None, "le ", "option", ["le "]), ("fr", "", "option", [""]),
    ],
)  # fmt: skip
def test_what_stands_before_the_noun(language: str | None, before: str, noun: str, wanted: list[str]) -> None:
    assert sorted(agreeing(before, noun, language)) == sorted(wanted)


@given(st.data())
def test_what_agrees_stays(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(sorted(BEFORE)))
    word = data.draw(st.sampled_from(BEFORE[language]))
    head = data.draw(st.sampled_from(["", "x ", "Il y a, ", "(", "« "]))
    first = word if data.draw(st.booleans()) else word.capitalize()
    before = head + first + ("" if word.endswith("'") else " ")
    noun = data.draw(st.sampled_from(NOUNS[language]))
    for text in agreeing(before, noun, language):
        assert text.startswith(head)
        assert text in agreeing(text, noun, language)
        if language == "fr" and noun[0] in "aeoé":
            assert not text.lower().endswith((" le ", " la ", " de ", " du ", " au ", " ce "))
        if language == "fr" and noun[0] in "rb":
            assert not text.endswith(("'", "’"))
            assert not text.lower().endswith((" les ", " des ", " aux ")) or noun.endswith("s")


def test_gender_is_told_only_by_some_endings() -> None:
    assert [gender_of(noun, "fr") for noun in ("option", "Options", "bouton", "table")] == ["f", "f", "m", None]
    assert [gender_of(noun, "de") for noun in ("Ein-/Aus-Taste", "Mädchen", "Haus")] == ["f", "n", None]
    assert gender_of("option", "en") is None


def test_function_words() -> None:
    assert {"le", "l'", "de"} <= function_words("fr")
    assert "bouton" not in function_words("fr")
    assert not function_words("xx")
