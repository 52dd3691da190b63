"""recipes/box/register.py: the pairs whose target shows a register, in files of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regard.errors import InputError
from support import load_script

SCRIPT = Path(__file__).parents[2] / "recipes" / "box" / "register.py"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["register.py", *map(str, arguments)])
    load_script(SCRIPT).main()


def test_pairs_are_split_by_the_register_of_their_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "en-fr", tmp_path / "out"
    folder.mkdir()
    (folder / "train.en").write_text("Your dog.\nYou sleep.\nA dog.\nYour cat.\n", encoding="utf-8")
    (folder / "train.fr").write_text("Votre chien.\nTu dors.\nUn chien.\nTon chat.\n", encoding="utf-8")
    run(monkeypatch, folder, out)
    assert {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()} == {
        "train.formal.en": "Your dog.\n",
        "train.formal.fr": "Votre chien.\n",
        "train.informal.en": "You sleep.\nYour cat.\n",
        "train.informal.fr": "Tu dors.\nTon chat.\n",
    }
    assert "| informal | 2 |" in capsys.readouterr().out


def test_the_english_side_decides_about_spanish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.en").write_text("Your dog.\nHis dog.\n", encoding="utf-8")
    (tmp_path / "train.es").write_text("Su perro.\nSu perro.\n", encoding="utf-8")
    run(monkeypatch, tmp_path, tmp_path, "--languages", "en", "es")
    assert (tmp_path / "train.formal.en").read_text(encoding="utf-8") == "Your dog.\n"


def test_a_language_without_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="there are rules for fr, de, es, but the target language is en"):
        run(monkeypatch, tmp_path, tmp_path, "--languages", "fr", "en")
