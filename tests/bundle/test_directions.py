"""The translator for two languages, by the names of the bundled models."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.bundle import bundled_models
from regard.bundle.bundled_models import (
    Choice,
    Direction,
    NoDirectionError,
    choose,
    directions,
    find_models,
    known_language,
)
from regard.errors import BundleError, InputError

FRENCH = "Le chat dort sur le tapis."
SIX = ("en-fr", "fr-en", "en-de", "de-en", "en-es", "es-en")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bundled models of six directions and a model of another name; nothing but names is looked at here."""
    for name in (*SIX, "en-fr-classic"):
        (tmp_path / "bundled" / name).mkdir(parents=True)
        (tmp_path / "bundled" / name / "config.json").touch()
    monkeypatch.setattr(bundled_models, "HOME", tmp_path / "bundled")
    return tmp_path


@pytest.mark.usefixtures("names")
def test_a_name_of_two_codes_is_a_direction() -> None:
    assert sorted(map(str, directions())) == sorted(SIX)
    assert find_models("de", "en") == ("de-en",)
    assert find_models("de", "en", through="en") == ("de-en",)  # the direct one is better


@pytest.mark.usefixtures("names")
def test_by_way_of_english_only_if_it_is_asked_for() -> None:
    with pytest.raises(NoDirectionError) as refused:
        find_models("fr", "de")
    assert str(refused.value) == (
        'there is no translator from French to German; through="en" translates by way of English, which loses more'
    )
    assert find_models("fr", "de", through="en") == ("fr-en", "en-de")
    with pytest.raises(NoDirectionError, match="from Italian to German; bundled are de-en, en-de"):
        find_models("it", "de")
    with pytest.raises(NoDirectionError, match="and none for fr-es on the way; bundled are"):
        find_models("fr", "de", through="es")


@pytest.mark.usefixtures("names")
def test_the_source_is_found_among_what_can_be_translated() -> None:
    assert choose([FRENCH], "en") == Choice(("fr-en",), "fr", "en")
    assert choose([FRENCH], "fr") == Choice((), "fr", "fr")
    assert choose([FRENCH], "de", through="en") == Choice(("fr-en", "en-de"), "fr", "de")
    assert choose([FRENCH], "en", source="de").models == ("de-en",)  # as it is told
    with pytest.raises(NoDirectionError, match="from French to German") as refused:
        choose([FRENCH], "de")
    assert refused.value.found
    with pytest.raises(NoDirectionError, match="no translator to Italian"):
        choose([FRENCH], "it")


@pytest.mark.usefixtures("names")
def test_a_doubtful_text_is_never_taken_for_one_in_the_target_language() -> None:
    for target in ("en", "fr", "de", "es"):
        found = choose(["OK"], target)
        assert found.models
        assert not found.sure


@pytest.mark.parametrize("name", ["de", "DE", "deu", "ger", "de-AT", "German", " german ", "Deutsch"])
def test_a_language_has_many_names(name: str) -> None:
    assert known_language(name) == "de"


@pytest.mark.parametrize("name", ["", "klingon", "x", "d e", "qq"])
def test_what_is_no_language_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match=r"is not a language that is known; .* such as .*en, .* or "):
        known_language(name)


def test_models_of_ones_own_go_before_those_of_the_package(names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en-it", "en-fr"):
        (names / "own" / name).mkdir(parents=True)
        (names / "own" / name / "config.json").touch()
    monkeypatch.setenv("REGARD_BOX", str(names / "own"))
    assert Direction("en", "it") in directions()
    assert bundled_models.folder_of("en-fr") == names / "own" / "en-fr"
    assert bundled_models.folder_of("de-en") == names / "bundled" / "de-en"
    assert bundled_models.is_bundled(names / "own" / "en-it")
    monkeypatch.setenv("REGARD_BOX", str(names / "nowhere"))
    with pytest.raises(BundleError, match="REGARD_BOX must name a folder of models"):
        directions()
