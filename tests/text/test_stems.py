"""Forms of known words, by their endings."""

from __future__ import annotations

import pytest

from regard.text.stems import has_known_stem

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
        assert has_known_stem(form, KNOWN[language], language), form
        assert not has_known_stem(form, set(), language)


@pytest.mark.parametrize("language", ["en", "fr", "de", "es", "ja"])
def test_others(language: str) -> None:
    for word in ("maria", "zürich", "lo", "a", "", "obama"):
        assert not has_known_stem(word, KNOWN.get(language, set()), language)
