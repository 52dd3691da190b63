"""The demo's way from end to end, cut short: a small corpus, a few steps, every section."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

import regard.course.demo as demo
from regard.course.grammar import MinimalPair
from regard.errors import RunError
from regard.translation.translation import Translation

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("demo") / "home"
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(demo, "PAIRS", 1000)
        patch.setattr(demo, "ALIGNED", 5)
        demo.run_demo(home, steps=40)
    (home / "printed.txt").write_text(printed.getvalue(), encoding="utf-8")
    return home


def test_the_time_is_said_first(home: Path) -> None:
    assert re.match(r"About \d+ minutes? on this machine", (home / "printed.txt").read_text(encoding="utf-8"))
    assert demo.expected_minutes(6000, 0.05) > demo.expected_minutes(3000, 0.05) > demo.expected_minutes(3000, 0.04)


def test_every_figure_is_kept(home: Path) -> None:
    figures = json.loads((home / "demo.json").read_text(encoding="utf-8"))
    assert set(figures) == {"test", "compositional", "pronoun", "polysemy", "notes", "attention", "seconds"}
    assert 0 <= figures["test"]["score"] <= 100
    assert figures["test"]["signature"].startswith("nrefs:1|case:mixed")
    assert figures["pronoun"]["pairs"] > 0
    assert figures["attention"]["row"] in ("predicting", "having-read")


def test_the_view_stays_with_the_model(home: Path) -> None:
    card = json.loads((home / "run" / "best" / "card.json").read_text(encoding="utf-8"))
    assert 0 <= card["attention_view"]["aer"] <= 1


def test_the_corpus_is_left_for_the_user(home: Path) -> None:
    assert len((home / "corpus" / "train.en").read_text(encoding="utf-8").splitlines()) == 1000
    assert (home / "corpus" / "test.align").exists()


def test_a_used_folder_is_not_touched(home: Path) -> None:
    before = sorted(home.rglob("*"))
    with pytest.raises(RunError, match="already holds something"):
        demo.run_demo(home)
    assert sorted(home.rglob("*")) == before


def test_a_pair_is_right_only_if_both_sentences_are() -> None:
    def said(text: str) -> Translation:
        return Translation("", text, 0.0, 0.0, ())

    pairs = [MinimalPair("pronoun", 0, 1, "il", "elle"), MinimalPair("pronoun", 0, 2, "il", "elle")]
    found = [said("Parce qu'il dort."), said("Parce qu'elle dort."), said("Parce qu'il dort, elle mange.")]
    assert demo.right_pairs(pairs, found) == pairs[:1]
