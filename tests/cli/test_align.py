"""`regard align`: links out, one table with the baselines, the view kept in the card."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from regard.explain.alignment import parse_links
from regard.translator import Translator
from support import LINES

if TYPE_CHECKING:
    from conftest import Answer, Call

GOLD = {
    "The cat sleeps.": "0-0 1-1 2-2 3-3",
    "The black cat sleeps.": "0-0 1-2 2-1 3-3 4-4",
    "The dog sees the cat.": "0-0 1-1 2-2 3-3 4-4 5-5",
    "A small dog eats.": "0-0 1-1 2-2 3-3 4-4",
    "The cat does not eat.": "0-0 1-1 3-2 4-3 3p4 5-5",
    "I see the black dog.": "0-0 1-1 2-2 3-4 4-3 5-5",
    "The small cat sees me.": "0-0 1-1 2-2 3-4 4-3 5-5",
    "The dog sleeps and the cat eats.": "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7",
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, lines in (("a.en", [s for s, _ in LINES]), ("a.fr", [t for _, t in LINES]), ("a.gold", GOLD.values())):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return ["--src", str(tmp_path / "a.en"), "--tgt", str(tmp_path / "a.fr")]


def refused(answer: Answer, *parts: str) -> None:
    assert answer.code == 2, answer.err
    assert answer.err.count("\n") == 1
    assert all(part in answer.err for part in parts), answer.err


def test_links_of_every_line(call: Call, run_folder: Path, files: list[str], tmp_path: Path) -> None:
    answer = call("align", "--model", run_folder, *files)
    assert answer.code == 0, answer.err
    assert "layer 2 · mean of heads · predicting (not measured" in answer.err
    lines = answer.out.splitlines()
    for (_, target), line in zip(LINES, lines, strict=True):
        links, _ = parse_links(line)
        assert {j for _, j in links} == set(range(len(target.replace(".", " .").split())))
    assert call("align", "--model", run_folder, *files, "--out", tmp_path / "out").out == ""
    assert (tmp_path / "out").read_text() == answer.out


def test_the_table_and_the_kept_view(call: Call, run_folder: Path, files: list[str], tmp_path: Path) -> None:
    shutil.copytree(run_folder, tmp_path / "run")
    model = ["--model", str(tmp_path / "run")]
    with_gold = [*files, "--gold", str(tmp_path / "a.gold")]
    answer = call("align", *model, *with_gold, "--json", "--save-view")
    assert answer.code == 0, answer.err
    text, _, kept = answer.out.rpartition("kept in ")
    found = json.loads(text)
    rows = {row["name"]: row for row in found["rows"]}
    assert (found["chosen_on"], found["measured_on"], found["aligners_learnt_from"]) == (4, 4, 8)
    assert {"diagonal", "random", "IBM model 1", "HMM, both, grow-diag", "untrained model, chosen view"} < rows.keys()
    assert all(0 <= row[name] <= 1 for row in rows.values() for name in ("precision", "recall", "aer"))
    chosen = rows["attention, chosen view"]
    assert chosen["view"] in {rows[f"attention, best {row}"]["view"] for row in ("predicting", "having read")}
    stored = json.loads((tmp_path / "run" / "best" / "card.json").read_text(encoding="utf-8"))["attention_view"]
    assert stored["aer"] == chosen["aer"]
    assert chosen["view"] in kept
    assert call("align", *model, *with_gold, "--json", "--save-view").out == answer.out  # chance is seeded
    again = call("align", *model, *files)
    assert f"AER {stored['aer']:.1%}" in again.err  # the card chooses now
    assert Translator.load(tmp_path / "run", "cpu").translate([LINES[0][0]])[0].text == LINES[0][1]


def test_chosen_elsewhere(call: Call, run_folder: Path, files: list[str], tmp_path: Path) -> None:
    gold = str(tmp_path / "a.gold")
    dev = ["--dev-src", files[1], "--dev-tgt", files[3], "--dev-gold", gold]
    answer = call(
        "align", "--model", run_folder, *files, "--gold", gold, *dev, "--train-src", files[1], "--train-tgt", files[3]
    )
    assert answer.code == 0, answer.err
    assert "chosen on 8 pairs, all measured on 8 others; the aligners learnt from 16 pairs" in answer.out


def test_words_between_spaces(call: Call, run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("The dog's cat sleeps .\n" * 2)
    (tmp_path / "t").write_text("Le chat dort .\n" * 2)
    (tmp_path / "g").write_text("1-1 3p2 4-3 5-4\n" * 2)
    words = ["align", "--model", run_folder, "--src", tmp_path / "s", "--tgt", tmp_path / "t", "--gold", tmp_path / "g"]
    assert call(*words, "--gold-first", "1", "--words", "spaces").code == 0
    refused(call(*words), "line 1", "links words 5 and 4", "have 5 and 4 words", "--words spaces", "--gold-first 1")


def test_bad_input(call: Call, run_folder: Path, files: list[str], tmp_path: Path) -> None:
    def aligned(*more: str | Path) -> Answer:
        return call("align", "--model", run_folder, *files, *more)

    gold = tmp_path / "a.gold"
    refused(aligned("--save-view"), "known links", "--gold FILE")
    refused(aligned("--words", "mine"), "invalid value for '--words': 'mine' is not one of 'regard', 'spaces'")
    refused(aligned("--gold", gold, "--gold-first", "2"), "--gold-first must be a whole number from 0 to 1, but is 2")
    refused(aligned("--gold", gold, "--dev-src", files[1]), "--dev-src, --dev-tgt and --dev-gold")
    refused(aligned("--gold", gold, "--train-src", files[1]), "--train-src and --train-tgt")
    refused(aligned("--out", tmp_path), "is a folder")
    (tmp_path / "short").write_text("0-0\n")
    refused(aligned("--gold", tmp_path / "short"), "as many as sentences, but are 1 for 8")
    (tmp_path / "odd").write_text("0-0\n" * 7 + "0:0\n")
    refused(aligned("--gold", tmp_path / "odd"), "line 8 of the gold alignments", '"0:0"')
    refused(call("align", "--model", run_folder, "--src", files[1], "--tgt", tmp_path / "short"), "8 lines", "has 1")
    (tmp_path / "none").write_text("")
    refused(call("align", "--model", run_folder, "--src", tmp_path / "none", "--tgt", tmp_path / "none"), "is empty")
