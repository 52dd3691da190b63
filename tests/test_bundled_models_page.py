"""The page about the shipped model: its example of a card is one that can be read."""

from __future__ import annotations

import re
from pathlib import Path

from regard.bundle.card import read_about

PAGE = Path(__file__).parent.parent / "docs" / "bundled-models.md"


def test_the_example_of_what_to_say_is_complete(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "about.toml").write_text(found[1], encoding="utf-8")
    assert read_about(tmp_path / "about.toml")["data"][0]["name"] == "Tatoeba"
