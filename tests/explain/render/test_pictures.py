"""The pictures of the pages: the script that draws them knows them all, and what it draws is what is shown."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from support import load_script

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    return load_script(ROOT / "benchmarks" / "pictures.py")


def test_every_picture_of_the_pages_can_be_drawn_again(pictures: ModuleType) -> None:
    measured = {f"table2-{pair}{whose}" for pair in ("en-fr", "en-de") for whose in ("", "-paper")}  # by table2.py
    assert set(pictures.PICTURES) | measured == {path.stem for path in (ROOT / "docs" / "img").glob("*.svg")}


def test_the_first_picture_is_what_the_model_says(pictures: ModuleType, tmp_path: Path) -> None:
    """Its words, not its bytes: another processor may round a weight the other way."""

    def words(folder: Path) -> list[str]:
        root = ElementTree.parse(folder / "hero.svg").getroot()
        return ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]

    pictures.draw("hero", tmp_path)
    assert words(tmp_path) == words(pictures.HOME)
