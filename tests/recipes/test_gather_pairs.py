"""recipes/box/gather_pairs.py: sources are read and mended; held-out parts are connected, and languages share them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regard.data.clean_rules import Row
from regard.data.splits import sentence_key
from support import load_script

BOX = Path(__file__).parents[2] / "recipes" / "box"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BOX))
    return load_script(BOX / "gather_pairs.py")


def test_sources_are_read_and_mended(script: Any, tmp_path: Path) -> None:
    folder = tmp_path / "general-pairs"
    folder.mkdir()
    (folder / "ui.en-fr.tsv").write_text("&Open\tOuvrir\nsaid Dr.\tdit le Dr.\n", encoding="utf-8")
    (folder / "ui.en-ja.tsv").write_text("Open\t開く\n", encoding="utf-8")
    assert script.sources(tmp_path, ("fr", "de")) == {"ui": ["fr"]}
    assert script.read_all(tmp_path, ("fr", "de"), 1) == {("ui", "fr"): [("Open", "Ouvrir")]}


def rows(language: str, count: int) -> list[Row]:
    """Every tenth sentence has a second translation, and every seventh is the same as the one before it."""
    found: list[Row] = []
    for n in range(count):
        found.append((f"Sentence {n - (n % 7 == 6)}.", f"{language} {n}."))
        if n % 10 == 0:
            found.append((f"Sentence {n}!", f"{language} other {n}."))
    return found


def everything(language: str, some: Sequence[Row]) -> list[bool]:
    return [True] * len(some)


def test_parts_share_no_sentence_and_languages_share_the_english(script: Any) -> None:
    given = {"fr": rows("fr", 300), "de": rows("de", 200)}
    held = script.hold_out(given, everything, part=20)
    assert held == script.hold_out(given, everything, part=20)
    keys = {
        (language, part, side): {sentence_key(row[side]) for row in some}
        for language, parts in held.items()
        for part, some in parts.items()
        for side in (0, 1)
    }
    assert all(len(some) == 20 for parts in held.values() for some in parts.values())
    for language in given:
        for side in (0, 1):
            assert not keys[language, "dev", side] & keys[language, "test", side]
    assert not keys["fr", "dev", 0] & keys["de", "test", 0]
    assert not keys["de", "dev", 0] & keys["fr", "test", 0]
    assert len(keys["fr", "test", 0] & keys["de", "test", 0]) > 10


def test_only_good_rows_are_held_out(script: Any) -> None:
    held = script.hold_out({"fr": rows("fr", 300)}, lambda _, some: ["other" in row[1] for row in some], part=10)
    assert all("other" in row[1] for some in held["fr"].values() for row in some)
    assert held["fr"]["test"]
