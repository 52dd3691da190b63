"""The mapped tables give what the packed model gives, and are made again where they are missing or damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from py3langid import modelio
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from regard.files import user_cache
from regard.text.language_tables import load_identifier

TEXTS = (
    "The cat is on the mat.",
    "Le chat est sur le tapis, n'est-ce pas ?",
    "Я никогда раньше не видел такого сада.",
    "こんなに美しい庭は",
    "zzz",
    "",
    "PLEASE DO NOT FEED",
    "\ud800 a",
)


@pytest.fixture(scope="module")
def packed() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: LanguageIdentifier) -> list[str]:
    """Notes each time that the packed model is read, which the tables of `packed` stand for."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    read: list[str] = []

    def load(path: Path) -> tuple[object, ...]:
        read.append(str(path))
        return packed.nb_ptc, packed.nb_pc, packed.nb_classes, packed.tk_nextmove, packed.tk_row, packed.tk_output

    monkeypatch.setattr(modelio, "load_model", load)
    return read


def test_mapped_tables_give_the_same(packed: LanguageIdentifier, unpacked: list[str]) -> None:
    for times in (1, 1):  # unpacked, then mapped
        identifier = load_identifier()
        assert [identifier.rank(text) for text in TEXTS] == [packed.rank(text) for text in TEXTS]
        assert len(unpacked) == times


def test_damaged_tables_are_made_again(packed: LanguageIdentifier, unpacked: list[str]) -> None:
    load_identifier()
    (folder,) = (user_cache() / "language").iterdir()
    table = folder / "nextmove.npy"
    table.write_bytes(table.read_bytes()[:1000])
    (folder.parent / "of-an-older-version").mkdir()
    assert load_identifier().rank(TEXTS[0]) == packed.rank(TEXTS[0])
    assert len(unpacked) == 2
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    load_identifier()
    assert len(unpacked) == 2


def test_where_nothing_can_be_written_it_works_all_the_same(
    packed: LanguageIdentifier, unpacked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file is in the way of the folder")
    assert load_identifier().rank(TEXTS[0]) == packed.rank(TEXTS[0])
