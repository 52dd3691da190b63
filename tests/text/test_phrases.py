"""The phrase table: its rows are well formed, and the translation of a fragment keeps the fragment's shape."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import regard.text.phrases
from regard.text.phrases import LANGUAGES, phrase_edits, phrase_table
from regard.text.protected_spans import protected_spans

ROWS = [
    row.split("\t")
    for row in Path(regard.text.phrases.__file__).with_name("phrases.tsv").read_text(encoding="utf-8").splitlines()
]
PAIRS = list(permutations(LANGUAGES, 2))


def translated(text: str, source: str = "en", target: str = "fr", informal: bool = False) -> str | None:
    edits = phrase_edits(text, source, target, protected_spans(text), informal)
    if edits is None:
        return None
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize(
    ("text", "french", "german", "spanish"),
    [
        ("Settings", "Paramètres", "Einstellungen", "Configuración"),
        ("SETTINGS", "PARAMÈTRES", "EINSTELLUNGEN", "CONFIGURACIÓN"),
        ("settings:", "paramètres :", "Einstellungen:", "configuración:"),
        ("Save…", "Enregistrer…", "Speichern…", "Guardar…"),
        ("Cancel (Esc)", "Annuler (Échap)", "Abbrechen (Esc)", "Cancelar (Esc)"),
        ("Date / Time", "Date / Heure", "Datum / Uhrzeit", "Fecha / Hora"),
        ("Hello!", "Bonjour !", "Hallo!", "¡Hola!"),
        ("Kind regards,", "Cordialement,", "Mit freundlichen Grüßen,", "Un cordial saludo,"),
        ("Terms & Conditions", "Conditions générales", "Allgemeine Geschäftsbedingungen", "Términos y condiciones"),
        ("Phone: 555-0199", "Téléphone : 555-0199", "Telefon: 555-0199", "Teléfono: 555-0199"),
        ("First name: ______", "Prénom : ______", "Vorname: ______", "Nombre: ______"),
        ("Page 3", "Page 3", "Seite 3", "Página 3"),
        ("Fig. 3", "Fig. 3", "Abb. 3", "Fig. 3"),
        ("Chapter IV", "Chapitre IV", "Kapitel IV", "Capítulo IV"),
        ("Open file… (Ctrl+O)", "Ouvrir un fichier… (Ctrl+O)", "Datei öffnen… (Strg+O)", "Abrir archivo… (Ctrl+O)"),
        ("⚙ Settings", "⚙ Paramètres", "⚙ Einstellungen", "⚙ Configuración"),
    ],
)
def test_fragments_of_the_table(text: str, french: str, german: str, spanish: str) -> None:
    assert [translated(text, target=target) for target in ("fr", "de", "es")] == [french, german, spanish]


@pytest.mark.parametrize(
    ("text", "source", "english"),
    [
        ("¡Hola!", "es", "Hello!"),
        ("Êtes-vous sûr ?", "fr", "Are you sure?"),
        ("S’inscrire", "fr", "Sign up"),
        ("links", "de", "left"),
        ("Links", "de", "Links"),
        ("STRASSE", "de", "STREET"),
    ],
)
def test_fragments_into_english(text: str, source: str, english: str) -> None:
    assert translated(text, source, "en") == english


@pytest.mark.parametrize(
    "text",
    [
        "3 May",
        "May 3",
        "Monday 9:00",
        "1 page",
        "Delete {count}",
        "Settings of Tom",
        "Tom",
        "F5",
        "…",
        "“Help”",
        "Right!",
        "Settings.",
        "Good morning. Settings.",
    ],
)
def test_what_is_not_wholly_in_the_table_is_not_translated(text: str) -> None:
    assert translated(text) is None


def test_greetings_are_translated_before_a_full_stop() -> None:
    assert [translated(text) for text in ("Good morning.", "See you soon.")] == ["Bonjour.", "À bientôt."]
    assert translated("Buenos días.", "es", "en") == "Good morning."


def test_formal_rows_are_left_out_for_informal_text() -> None:
    assert translated("Please wait") == "Veuillez patienter"
    assert translated("Please wait", informal=True) is None
    assert translated("Settings", informal=True) == "Paramètres"


def test_other_languages_have_no_table() -> None:
    assert phrase_edits("Settings", "en", "it") is phrase_edits("Settings", None, "fr") is None
    assert phrase_edits("Settings", "en", "en") is None


def test_rows_have_five_clean_columns() -> None:
    assert ROWS[0] == ["kind", *LANGUAGES]
    for row in ROWS[1:]:
        assert [bool(cell) for cell in row] == [True] * 5, row
        for form in "|".join(row[1:]).split("|"):
            bare = form.strip("()")
            assert bare == " ".join(bare.replace("’", "'").split()) != "", row
        for cell in row[1:]:
            assert not re.search(r"[^.]\.$", cell.split("|")[0]), f"adds a full stop: {row}"
    assert len({tuple(row) for row in ROWS}) == len(ROWS)


def test_german_nouns_and_days_keep_their_capital() -> None:
    assert translated("paramètres", "fr", "de") == "Einstellungen"
    assert translated("lundi", "fr", "en") == "Monday"
    assert translated("Monday", "en", "fr") == "Lundi"


@given(st.data(), st.sampled_from(["", ":", "…", "...", " / OK", " (Esc)"]), st.sampled_from(PAIRS))
def test_end_and_case_are_kept_for_any_entry(data: st.DataObject, after: str, pair: tuple[str, str]) -> None:
    form = data.draw(st.sampled_from(sorted(phrase_table(*pair).entries)))
    if after and re.search(r"[/,\d]|\.$", form):
        return  # these separate parts, unless the table has the whole
    for text in (form, form.upper(), form[0].upper() + form[1:]):
        found = translated(text + after, *pair)
        assert found is not None
        assert found.rstrip(" .…:)") == found or found[-1] == (text + after)[-1]
        assert not text[0].isupper() or not found[0].islower()


@given(st.text(max_size=40), st.sampled_from(PAIRS))
def test_any_text_can_be_asked(text: str, pair: tuple[str, str]) -> None:
    found = translated(text, *pair)
    assert found is None or found
