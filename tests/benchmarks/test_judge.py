"""benchmarks/judge.py: verdicts are counted for the model that each translation is of."""

from pathlib import Path

import pytest

from support import load_script

judge = load_script(Path(__file__).parents[2] / "benchmarks" / "judge.py")
ROWS = [
    {"number": "1", "direction": "en-fr", "kind": "label", "source": "Help", "A": "Aide", "B": "=", "a": "g", "b": ""},
    {"number": "2", "direction": "en-fr", "kind": "label", "source": "Snooze", "A": "Sieste", "B": "Répéter", "a": "w",
     "b": "g"},
    {"number": "3", "direction": "de-en", "kind": "news", "source": "Es regnet.", "A": "It", "B": "It rains.", "a": "w",
     "b": "m"},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judge.write(tmp_path / "sheet.tsv", judge.COLUMNS, ROWS)
    sides = [{"number": "1", "A": "old", "B": "new"}, {"number": "2", "A": "new", "B": "old"},
             {"number": "3", "A": "old", "B": "new"}]  # fmt: skip
    judge.write(tmp_path / "key.tsv", ["number", "A", "B"], sides)
    return tmp_path


def test_verdicts_are_counted_by_model(folder: Path) -> None:
    counts = {row[0]: row[1:] for row in judge.count(folder).rows}
    assert counts["labels"] == ["2", "2", "0", "0", "1", "0", "1"]  # old: good, minor, wrong; new
    assert counts["news"] == ["1", "0", "0", "1", "0", "1", "0"]
    assert set(counts) == {"labels", "labels en-fr", "sentences", "news", "sentences de-en"}


def test_texts_of_the_training_text_are_counted_apart(folder: Path) -> None:
    (folder / "ui-en-fr").mkdir()
    (folder / "ui-en-fr" / "train.en").write_text("help\nEs regnet.\n", encoding="utf-8")  # not German text
    counts = {row[0]: row[1] for row in judge.count(folder, folder).rows}
    assert counts["labels, in the training text"] == counts["labels, not in the training text"] == "1"
    assert counts["sentences, not in the training text"] == "1"


def test_a_missing_verdict_is_named(folder: Path) -> None:
    judge.write(folder / "sheet.tsv", judge.COLUMNS, [{**ROWS[0], "a": ""}])
    with pytest.raises(SystemExit, match='row 1: the verdict is ""'):
        judge.count(folder)
