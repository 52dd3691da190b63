"""`regard explain`: from a model and a sentence to a picture, and one line where that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from regard.cli.explain import app
from regard.report.deliver import PICTURES
from support import need_font

SENTENCE = "The dog sees the cat."
FLAGS = {
    "attention": [
        *("--model", "--sentence", "--target", "--beam", "--kind", "--layer", "--head", "--row", "--subwords"),
        "--specials",
        *("--arrows", "--out", "--font", "--device", "--help"),
    ],
    "heads": [
        "--model",
        "--target",
        "--beam",
        "--kind",
        "--row",
        "--subwords",
        "--out",
        "--font",
        "--device",
        "--help",
    ],
    "arcs": [
        *("--word", "--model", "--target", "--beam", "--kind", "--layer", "--head", "--side", "--row"),
        *("--out", "--font", "--device", "--help"),
    ],
}


@pytest.mark.parametrize("command", FLAGS)
def test_help_names_every_flag(call, command):
    said = call("explain", command, "--help")
    assert said.code == 0
    for flag in FLAGS[command]:
        assert flag in said.out.split(), flag
    assert call("explain", command, "-h").out == said.out


def test_help_names_every_command(call):
    said = call("explain", "--help").out
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"\n  {command.name or command.callback.__name__} " in said


def test_a_map_in_the_terminal(call, run_folder):
    said = call("explain", "attention", "--model", run_folder, SENTENCE)
    assert said.code == 0
    lines = said.out.rstrip("\n").split("\n")
    assert lines[0] == "Le chien voit le chat."
    assert lines[2].split() == ["The", "dog", "sees", "the", "cat", "."]
    assert "AER not evaluated · EOS mass" in said.out
    assert "digits are tenths" in said.out
    arrows = call("explain", "attention", "--model", run_folder, "--arrows", SENTENCE).out
    assert "chien ← " in arrows


@pytest.mark.parametrize("suffix", PICTURES)
def test_every_command_writes_every_form(call, run_folder, tmp_path, suffix):
    if suffix in (".png", ".pdf"):
        need_font()
    for command in (["attention"], ["heads"], ["arcs", "--word", "dog"]):
        path = tmp_path / f"{command[0]}{suffix}"
        said = call("explain", *command, "--model", run_folder, "--out", path, SENTENCE)
        assert (said.code, said.err) == (0, f"regard: wrote {path}\n")
        assert path.stat().st_size > 100
        if suffix == ".svg":
            ElementTree.parse(path)
        if suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))


def test_layers_and_heads_count_from_1(call, run_folder, tmp_path):
    out = tmp_path / "map.json"
    words = ("--kind", "decoder", "--layer", "1", "--head", "2", "--subwords", "--specials", "--row", "having-read")
    call("explain", "attention", "--model", run_folder, *words, "--out", out, SENTENCE)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["caption"].startswith("decoder self-attention · layer 1 · head 2 · having read")
    assert found["columns"][-1] == "<bos>"


def test_a_word_in_two_sentences(call, run_folder, tmp_path):
    out = tmp_path / "arcs.json"
    given = ("--word", "cat", "--head", "2", "--head", "1", "--head", "2", "--model", run_folder, "--out", out)
    assert call("explain", "arcs", *given, SENTENCE, "The cat sleeps.").code == 0
    found = json.loads(out.read_text(encoding="utf-8"))["arcs"]
    assert [arcs["word"]["number"] for arcs in found] == [5, 2]
    assert [view["head"] for view in found[0]["heads"]] == [2, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["attention"], "missing argument 'TEXT'"),
        (["attention", ""], "the text is empty"),
        (
            ["attention", SENTENCE, "--kind", "self"],
            "invalid value for '--kind': 'self' is not one of 'cross', 'encoder', 'decoder'",
        ),
        (["attention", SENTENCE, "--row", "reading"], "'reading' is not one of 'predicting', 'having-read'"),
        (["attention", SENTENCE, "--layer", "0"], "--layer must be a whole number of at least 1, but is 0"),
        (["attention", SENTENCE, "--layer", "99"], "--layer counts from 1 to"),
        (["attention", SENTENCE, "--head", "99"], "--head counts from 1 to"),
        (["attention", SENTENCE, "--head", "x"], "--head"),
        (["attention", SENTENCE, "--specials"], "add --subwords"),
        (["attention", SENTENCE, "--out", "map.gif"], "must end in .svg, .html, .json, .png, .pdf, .txt"),
        (["attention", SENTENCE, "--target", "Le chat.", "--beam", "2"], "not both"),
        (["arcs", SENTENCE, "--word", "horse"], 'there is no word "horse"; the words are: The dog'),
        (["arcs", SENTENCE, "--word", "dog", "--head", "1;2"], "--head must be a whole number of at least 1"),
        (["arcs", SENTENCE, "--word", "dog", "--side", "left"], "'left' is not one of 'source', 'target'"),
        (["arcs", SENTENCE, SENTENCE, "--word", "dog", "--target", "x"], "give one sentence"),
        (["attention", SENTENCE, "--font", "none.ttf", "--out", "x.png"], "cannot be read as a font"),
        (["maps"], "regard explain --help"),
    ],
)
def test_one_line_says_what_is_wrong(call, run_folder, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    model = ["--model", str(run_folder)] if words != ["maps"] else []
    answer = call("explain", *words, *model)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert said in answer.err
    assert list(Path().iterdir()) == []


TEXT = "The cat sleeps. 12:30! The dog sees the cat."


@pytest.mark.parametrize("command", ["attention", "heads", "evidence", "lattice", "step"])
def test_all_sentences_of_a_text_or_one(call, run_folder, command):
    words = ["explain", command, "--model", run_folder, TEXT]
    code, out, err = call(*words)
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith("Sentence ")] == [
        f"Sentence {n} of 3" for n in (1, 2, 3)
    ]
    assert "Le chat dort." in out
    assert "Le chien voit le chat." in out
    assert err.startswith("regard: sentence 2: there is nothing to explain")
    assert err.count("\n") == 1
    third = call(*words, "--sentence", "3")
    assert (third.code, third.err) == (0, "")
    assert third.out == call("explain", command, "--model", run_folder, SENTENCE).out
    assert out.endswith(third.out)


def test_a_file_and_a_target_are_of_one_sentence(call, run_folder, tmp_path):
    for command in (["attention"], ["heads"], ["arcs", "--word", "cat"], ["evidence"], ["lattice"], ["step"]):
        words = ["explain", *command, "--model", run_folder, TEXT]
        path = tmp_path / f"{command[0]}.json"
        refused = call(*words, "--out", path)
        assert (refused.code, refused.err.count("\n"), path.exists()) == (2, 1, False)
        assert "has 3 sentences, but a file shows one; choose it: --sentence 1 to 3" in refused.err
        assert call(*words, "--sentence", "3", "--out", path).code == 0
        assert path.exists()
        assert "--sentence counts from 1 to 3 in this text, but is 4" in call(*words, "--sentence", "4").err
    forced = ["explain", "attention", "--model", run_folder, TEXT, "--target", "Le chat dort."]
    assert "--target translates one sentence, but the text has 3; choose one: --sentence 1 to 3" in call(*forced).err
    assert call(*forced, "--sentence", "1").code == 0


def test_arcs_are_shown_where_the_word_stands(call, run_folder):
    said = call("explain", "arcs", "--word", "dog", "--model", run_folder, "The cat sleeps. The dog sees the cat.")
    assert said.code == 0
    assert "“dog” in: The dog sees the cat." in said.out
    assert 'sentence 1: there is no word "dog"' in said.err
    nowhere = call("explain", "arcs", "--word", "bird", "--model", run_folder, "The cat sleeps. The dog sees the cat.")
    assert nowhere.code == 2
    two = call("explain", "arcs", "--word", "dog", "--model", run_folder, TEXT, SENTENCE)
    assert (two.code, "give each sentence as a text of its own" in two.err) == (2, True)
    both = call("explain", "arcs", "--word", "dog", "--model", run_folder, SENTENCE, SENTENCE, "--sentence", "1")
    assert "--sentence is of one text, but there are 2" in both.err
