"""`benchmarks/kinds.py`: what it leaves out, what it goes on with, and the page it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support import load_script

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def kinds() -> ModuleType:
    return load_script(FOLDER / "kinds.py")


def test_lines_of_another_language_are_no_reference(kinds: ModuleType) -> None:
    english = "They should be offered safe transit, and they cannot be expelled."
    assert kinds.is_translated((english, "Il faut leur offrir un passage sûr, et on ne peut pas les expulser."))
    assert not kinds.is_translated((english, english.upper()))
    assert not kinds.is_translated(
        (english, "Per la prima volta il Parlamento europeo ha deciso di pubblicare questo.")
    )


def test_what_is_measured_is_not_measured_again(kinds: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    calls: list[int] = []

    def make() -> object:
        calls.append(1)
        return kinds.SystemOutput(["Le chat dort."], "a note", 7.4)

    for _ in range(2):
        kinds.Record(path).system("one", ["Le chat dort."], make, learning=12.0)
    row = json.loads(path.read_text("utf-8"))["systems"]["one"]
    assert (len(calls), row["note"], row["translating"], row["learning"]) == (1, "a note", 7.4, 12.0)


def test_a_folder_of_other_settings_is_refused(
    kinds: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tatoeba").mkdir()
    settings = {"pairs": 5, "dev": 300, "test": 1000, "rounds": 4, "nbest": 10}
    (tmp_path / "tatoeba" / "record.json").write_text(json.dumps({"settings": settings}), "utf-8")
    monkeypatch.setattr(kinds, "read_texts", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["kinds.py", "--data", ".", "--work", str(tmp_path), "--pairs", "6"])
    with pytest.raises(SystemExit, match=r"was begun with .*'pairs': 5.* give another --work"):
        kinds.main()


def test_only_the_tables_of_the_page_are_replaced(kinds: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "europarl").mkdir()
    row = {"bleu": 18.953, "signature": "tok:13a", "learning": 1497.4, "note": "well"}
    known = {"sizes": {"train": 25000}, "nbest": 5, "systems": {"phrase-based": row}}
    (tmp_path / "europarl" / "record.json").write_text(json.dumps(known), "utf-8")
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n{kinds.MARKS[0]}\nold\n{kinds.MARKS[1]}\nAfter.\n", "utf-8")
    kinds.write_page(tmp_path, page)
    text = page.read_text("utf-8")
    assert (text[:8], text[-8:]) == ("Before.\n", "\nAfter.\n")
    assert "old" not in text
    assert "| phrase-based | 18.95 | 1,497 | – | well |" in text
