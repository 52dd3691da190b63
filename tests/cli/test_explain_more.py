"""`regard explain lattice`, `step` and `positions`, as a user types them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

SENTENCE = "The dog sees the cat."
FLAGS = {
    "lattice": ["--model", "--beam", "--length-penalty", "--out", "--font", "--device", "--help"],
    "step": [
        *("--position", "--layer", "--head", "--kind", "--target", "--model", "--beam", "--out", "--device", "--help"),
    ],
    "positions": ["--width", "--length", "--model", "--notes", "--out", "--font", "--device", "--help"],
}


@pytest.mark.parametrize("command", FLAGS)
def test_help_names_every_flag(call, command):
    said = call("explain", command, "--help")
    assert said.code == 0
    for flag in FLAGS[command]:
        assert flag in said.out.split(), flag


def test_a_search_in_every_form(call, run_folder, tmp_path):
    words = ("explain", "lattice", SENTENCE, "--model", run_folder, "--beam", "3")
    shown = call(*words)
    assert shown.code == 0
    assert "1. score" in shown.out
    assert "Le chien voit le chat." in shown.out
    for suffix in ("svg", "html", "json", "dot", "txt"):
        said = call(*words, "--out", tmp_path / f"x.{suffix}")
        assert (said.code, said.out, said.err) == (0, "", f"regard: wrote {tmp_path / f'x.{suffix}'}\n")
    data = json.loads((tmp_path / "x.json").read_text())
    assert data["beam"] == 3
    assert data["nbest"][0]["text"] == "Le chien voit le chat."
    assert {"kept", "finished", "crowded out"} <= {node["fate"] for node in data["nodes"]}
    ElementTree.parse(tmp_path / "x.svg")
    assert (tmp_path / "x.txt").read_text() == shown.out
    assert (tmp_path / "x.dot").read_text().count(" -> ") == len(data["nodes"])


def test_a_step_in_the_terminal_and_in_full(call, run_folder, tmp_path):
    words = ("explain", "step", SENTENCE, "--model", run_folder, "--position", "2", "--layer", "2", "--head", "1")
    shown = call(*words)
    assert shown.code == 0
    for part in ("q·k", "÷√d", "mask", "α", "W_O c", "held against the model's own forward pass"):
        assert part in shown.out
    assert call(*words, "--out", tmp_path / "x.json").code == 0
    data = json.loads((tmp_path / "x.json").read_text())
    terms = {term["name"]: term["values"] for term in data["terms"]}
    assert len(terms["q"]) == 16  # in full: 32 numbers in two heads
    assert sum(terms["α"]) == pytest.approx(1, abs=1e-5)
    assert max(data["largest_differences"].values()) <= 1e-5
    forced = call(*words, "--target", "Un petit chien mange.")
    assert "Un petit chien mange." in forced.out


def test_positions(call, run_folder, tmp_path):
    shown = call("explain", "positions", "--width", "32", "--length", "20")
    assert shown.code == 0
    assert "no two positions share a vector" in shown.out
    assert call("explain", "positions", "--model", run_folder, "--out", tmp_path / "p.svg").code == 0
    assert "width 32" in (tmp_path / "p.svg").read_text()
    assert call("explain", "positions", "--out", tmp_path / "p.json").code == 0
    assert len(json.loads((tmp_path / "p.json").read_text())["requirements"]) == 5
    notes = call("explain", "positions", "--notes")
    assert notes.code == 0
    assert "sin(p / 10000^(4/5))" in notes.out
    assert call("explain", "positions", "--notes", "--out", tmp_path / "n.html").code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lattice", ""], "the text is empty"),
        (["lattice", SENTENCE, "--beam", "0"], "--beam must be a whole number from 1 to 1,000"),
        (["lattice", SENTENCE, "--beam", "12", "--out", "x.svg"], "too many to draw"),
        (["lattice", SENTENCE, "--out", "x.gif"], "must end in .svg, .html, .json, .png, .pdf, .txt, .dot"),
        (["lattice", "cat " * 200], "give a shorter sentence"),
        (["step", SENTENCE, "--position", "99"], "--position counts from 1 to"),
        (["step", SENTENCE, "--head", "0"], "--head must be a whole number of at least 1, but is 0"),
        (["step", SENTENCE, "--kind", "self"], "'self' is not one of 'cross', 'encoder', 'decoder'"),
        (["step", SENTENCE, "--out", "x.csv"], "must end in .svg, .html, .json"),
        (["positions", "--width", "1"], "--width must be a whole number from 2 to 8,192"),
        (["positions", "--width", "7", "--notes"], "give no --width or --model"),
        (["positions", "--width", "8", "--model", "m"], "give --width or --model, not both"),
    ],
)
def test_what_cannot_be_is_one_line(call, run_folder, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    more = [] if "--model" in words or words[0] == "positions" else ["--model", run_folder]
    said = call("explain", *words, *more)
    assert said.code == 2
    assert said.err.startswith("regard: ")
    assert said.err.count("\n") == 1
    assert says in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [["attention"], ["heads"], ["evidence"], ["lattice"], ["step", "--position", "1"]])
@pytest.mark.parametrize(("text", "says"), [("", "the text is empty"), ("12:30", "has no words")])
def test_nothing_to_explain_is_one_line(call, command, text, says):
    """With a model in the box, which copies a text without letters."""
    said = call("explain", *command, text, "--model", "en-fr-classic", "--device", "cpu")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("regard: there is nothing to explain")
    assert said.err.count("\n") == 1
    assert says in said.err


def test_all_commands_explain_what_translate_prints(call):
    text = "PLEASE DO NOT FEED THE ANIMALS."
    small = ("--model", "en-fr-classic", "--device", "cpu")
    translation = call("translate", text, *small).out.strip()
    assert "ANIMAUX" in translation
    for command in (["attention"], ["heads"], ["arcs", "--word", "animals"], ["evidence"], ["step"], ["lattice"]):
        said = call("explain", *command, text, *small)
        assert said.code == 0, said.err
        assert translation.lower() in said.out.lower()
