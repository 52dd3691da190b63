"""recipes/box/gather.py: what is held out beside the tests, sentences of running text, and the table at the end."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest

from regard.data.overlap import HeldOutText
from regard.errors import InputError
from support import load_script, write

BOX = Path(__file__).parents[2] / "recipes" / "box"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BOX))
    return load_script(BOX / "gather.py")


def test_its_examples(script: Any) -> None:
    assert doctest.testmod(script).failed == 0


@pytest.mark.parametrize(
    ("line", "language", "whole"),
    [
        ("— Je garde mon argent, voilà tout.", "fr", True),
        ("M. de Nossac tressaillit.", "fr", True),
        ("Je désire parler à M.", "fr", False),
        ("Der Ort wird erstmals im 14.", "de", False),
        ("Oxygen has atomic number 8.", "en", True),
        ("The desert (; Saraki: ) is dry.", "en", False),
        ("He was born (in 1959.", "en", False),
        ("C. por los romanos.", "es", False),
    ],
)
def test_whole_sentences(script: Any, line: str, language: str, whole: bool) -> None:
    assert script.whole_sentence(line, language) == whole


def test_every_fifth_row_of_the_register_set_is_held_out(script: Any, tmp_path: Path) -> None:
    files, data = tmp_path / "files", tmp_path / "data"
    for code in ("fr", "de", "es"):
        write(files / "register" / f"train.en-{code}.tsv", *(f"e{n}\tf{n}\ti{n}" for n in range(1, 13)))
    for name in ("scores.en-de.dev", "scores.en-de.test20", "critical.en-de.dev"):
        write(files / "judged" / f"{name}.tsv", "A cat.\tEine Katze.\t80\t0.5")
    script.gather_held_out(files, data)
    assert (data / "heldout" / "register.en-de.informal").read_text(encoding="utf-8") == "i5\ni10\n"
    trained_on = (data / "register-en-de" / "informal.de").read_text(encoding="utf-8").split()
    assert trained_on == [f"i{n}" for n in range(1, 13) if n not in (5, 10)]
    assert (data / "heldout" / "judged.scores.en-de.dev.de").read_text(encoding="utf-8") == "Eine Katze.\n"
    assert len(list((data / "heldout").iterdir())) == 9 + 6


def test_the_table_has_a_row_for_each_report(script: Any, tmp_path: Path) -> None:
    report = {"read": 9, "kept": 7, "rules": [{"rule": "loose", "dropped": 2}, {"rule": "short", "dropped": 0}]}
    write(tmp_path / "ui-en-fr" / "report.json", json.dumps(report))
    write(tmp_path / "mono" / "wiki.de.report.json", json.dumps(report | {"rules": []}))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in script.dropped_table(tmp_path).splitlines()]
    assert [rows[0], *rows[2:]] == [
        ["", "read", "loose", "kept"],
        ["ui-en-fr", "9", "2", "7"],
        ["mono wiki.de", "9", "0", "7"],
    ]


def test_further_sources_and_texts_are_added_to_what_is_there(script: Any, tmp_path: Path) -> None:
    data, more = tmp_path / "data", tmp_path / "more"
    gatherer = script.Gatherer(data, HeldOutText.of(["The door is held out.", "La puerta está fuera."]), 5, 1)
    with pytest.raises(InputError, match="not complete"):
        script.add_further(more, gatherer)
    for code, line in (("en", "Open the door"), ("fr", "Ouvrir la porte")):
        write(data / "ui-en-fr" / f"train.{code}", line)
    (data / "chosen").mkdir()
    write(data / "mono" / "wiki.en.txt", "It was there before all others.")
    write(more / "general-pairs" / "apps.en-fr.tsv", "Close it\tFermer", "close it\tFermer", "The door is held out!\tA")
    write(more / "general-pairs" / "ui.en-fr.tsv", "Save as\tEnregistrer sous")  # there already: not made again
    write(
        more / "general-text" / "wiki.en.txt",
        "A river rises in the north of it.",
        "It was there before all others.",
        "The door is held out.",
        "and a list",
    )
    script.add_further(more, gatherer)
    assert (data / "apps-en-fr" / "train.en").read_text(encoding="utf-8") == "Close it\n"
    assert (data / "ui-en-fr" / "train.en").read_text(encoding="utf-8") == "Open the door\n"
    text = (data / "mono" / "wiki.en.txt").read_text(encoding="utf-8")
    assert text == "It was there before all others.\nA river rises in the north of it.\n"
