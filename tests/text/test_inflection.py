"""Forms of known words, by their endings."""

from __future__ import annotations

import pytest

from regard.text.inflection import is_inflected_form

KNOWN = {"es": {"cantar", "comer", "vivir", "decir", "di", "lenta"}, "fr": {"chanter", "finir", "lente"}}
KNOWN |= {"de": {"kaufen", "neu", "rudern"}, "en": {"walk", "kind"}}


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("es", "canto cantaron cantaba cantaremos comió vivimos cantarían dímelo cantándolo lentamente"),
        ("fr", "chantons chanterez chantaient finissons finirait lentement"),
        ("de", "kaufte kaufst neues neuer rudert"),
        ("en", "walked walking kindness"),
    ],
)
def test_forms(language: str, forms: str) -> None:
    for form in forms.split():
        assert is_inflected_form(form, KNOWN[language], language), form
        assert not is_inflected_form(form, set(), language)


@pytest.mark.parametrize("language", ["en", "fr", "de", "es", "ja"])
def test_others(language: str) -> None:
    for word in ("maria", "zürich", "lo", "a", "", "obama"):
        assert not is_inflected_form(word, KNOWN.get(language, set()), language)
