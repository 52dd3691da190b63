"""`regard pack`: what it writes, what it says of it, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from regard.bundle import LEXICON, PARTS
from support import ABOUT, LINES

if TYPE_CHECKING:
    from conftest import Call

CAT, CHAT = LINES[0]


@pytest.fixture
def run(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder, tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("weights", ["int8", "float16", "float32"])
def test_a_packed_model_translates_as_before(call: Call, run: Path, tmp_path: Path, weights: str) -> None:
    answer = call("pack", run, "--out", tmp_path / "new" / "small", "--weights", weights)
    assert answer.code == 0, answer.err
    before, after, error, difference = answer.out.splitlines()
    assert [line.split()[2:] for line in (before, after)] == [
        ["float32", str(run / "best")],
        [weights, str(tmp_path / "new" / "small")],
    ]
    percent = float(re.search(r"([\d.]+)%", error)[1])  # type: ignore[index]
    assert percent == 0 if weights == "float32" else 0 < percent < 2
    assert difference.endswith(": 0") == (weights == "float32")
    assert sorted(p.name for p in (tmp_path / "new" / "small").iterdir()) == sorted(PARTS)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["small"]
    assert all(p.stat().st_mode & 0o044 == 0o044 for p in (tmp_path / "new" / "small").iterdir())
    shutil.rmtree(run)  # it needs nothing else
    sources, targets = zip(*LINES, strict=True)
    assert call("translate", "--model", tmp_path / "new" / "small", *sources).out.splitlines() == list(targets)


def test_scores_of_other_weights_and_places_of_this_machine_are_dropped(call: Call, run: Path, tmp_path: Path) -> None:
    assert "test_bleu" in json.loads((run / "best" / "card.json").read_text(encoding="utf-8"))
    for weights, there in (("int8", False), ("float32", True)):
        assert call("pack", run, "--out", tmp_path / weights, "--weights", weights).code == 0
        text = (tmp_path / weights / "card.json").read_text(encoding="utf-8")
        assert ("test_bleu" in json.loads(text), "dev_bleu" in json.loads(text)) == (there, there)
        assert json.loads(text)["recipe"]["data"]["src"] == "a.en"
        assert str(tmp_path.parent) not in text


def test_a_lexicon_comes_along_unless_it_is_dropped(call: Call, run: Path, tmp_path: Path) -> None:
    assert call("lexicon", "--model", run).code == 0
    assert call("pack", run, "--out", tmp_path / "with").code == 0
    assert call("pack", run, "--out", tmp_path / "without", "--lexicon", "drop").code == 0
    assert (tmp_path / "with" / LEXICON).read_bytes() == (run / "best" / LEXICON).read_bytes()
    assert not (tmp_path / "without" / LEXICON).exists()
    assert call("translate", "--model", tmp_path / "with", "--steer", "0.2", CAT).out == CHAT + "\n"


def test_what_is_said_of_it_is_in_its_card_and_printed(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text(ABOUT, encoding="utf-8")
    assert call("pack", run, "--out", tmp_path / "small", "--about", tmp_path / "about.toml").code == 0
    out = call("info", tmp_path / "small").out
    for line in (
        "title         English to French",
        "data          Tatoeba, CC BY 2.0 FR, https://tatoeba.org",
        "              the contributors of tatoeba.org",
        "limits        Short sentences.",
        "              No names.",
    ):
        assert line in out.splitlines()
    assert "stored as int8" in out


def test_nothing_is_written_where_something_is_wrong(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "bad.toml").write_text("title = 3", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    for words, says in (
        (("--out", tmp_path / "taken"), "is there already"),
        (("--out", tmp_path / "new", "--weights", "int4"), "--weights must be one of float32, float16, int8, but is"),
        (("--out", tmp_path / "new", "--lexicon", "maybe"), '--lexicon must be one of keep, drop, but is "maybe"'),
        (("--out", tmp_path / "new", "--about", tmp_path / "bad.toml"), "about.title must be text"),
        (("--out", tmp_path / "new", "--about", tmp_path / "nix.toml"), "cannot be read"),
        ((), "--out"),
    ):
        answer = call("pack", run, *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert says in answer.err
    assert "no model at" in call("pack", tmp_path / "nix", "--out", tmp_path / "new").err
    assert sorted(tmp_path.rglob("*")) == before
