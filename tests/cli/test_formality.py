"""regard translate --formality: lines, documents and large files; a model without it ends the command with code 2."""

from __future__ import annotations

from pathlib import Path

from support import Call

TEXT = "You sleep.\n\nI see you.\n"


def test_lines(call: Call, registers: Path) -> None:
    for formality, said in (("formal", "Vous dormez."), ("informal", "Tu dors.")):
        answer = call("translate", "--model", registers / "en-fr", "--formality", formality, "You sleep.")
        assert (answer.code, answer.out) == (0, f"{said}\n")


def test_a_document_agrees(call: Call, registers: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(TEXT, encoding="utf-8")
    asked = ("translate", "--model", registers / "en-fr", "--input", page)
    assert call(*asked).out == "Vous dormez.\n\nJe vous vois.\n"
    assert call(*asked, "--formality", "informal").out == "Tu dors.\n\nJe te vois.\n"


def test_a_large_file_is_not_resumed_with_another_formality(call: Call, registers: Path, tmp_path: Path) -> None:
    lines, out = tmp_path / "lines.en", tmp_path / "lines.fr"
    lines.write_text("You sleep.\nI see you.\n", encoding="utf-8")
    asked = ("translate", "--model", registers / "en-fr", "--input", lines, "--out", out)
    assert call(*asked).code == 0
    assert out.read_text(encoding="utf-8") == "Vous dormez.\nJe te vois.\n"  # each line is a text
    assert call(*asked, "--formality", "informal").code == 0
    assert out.read_text(encoding="utf-8") == "Tu dors.\nJe te vois.\n"


def test_a_model_without_it(call: Call, registers: Path) -> None:
    answer = call("translate", "--model", registers / "fr-en", "--formality", "formal", "Tu dors.")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "formality is formal, but this model has no tags for it" in answer.err


def test_what_it_does_not_go_with(call: Call, registers: Path) -> None:
    asked = ("translate", "--model", registers / "en-fr", "--formality", "formal", "You sleep.")
    assert call(*asked, "--attention").code == 2
    assert call(*asked, "--alternatives", "3").code == 2
