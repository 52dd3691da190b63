"""`regard bench` as a user runs it; what it prints adds up, and no run is made."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch

from regard.bulk.speed import Clock
from regard.training.cost import measured_peak, peak_flops
from regard.training.rehearsal import BACKWARD, FORWARD, OPTIMIZER, WAITING, what_bounds
from support import Call, write_lines

SMALL = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --device cpu --max-length 60"


def test_the_figures_add_up(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    src, tgt = write_lines(tmp_path)
    words = f"--src {src} --tgt {tgt} --vocab-size 340 --batch-tokens 200 {SMALL} --accumulate 2 --updates 4 --json"
    done = call("bench", "train", *words.split())
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["precision"] == "float32"
    assert found["threads"] == 1
    assert found["updates"] == 4
    assert found["tokens_per_second"] == pytest.approx(found["target_tokens"] / found["seconds"])
    assert found["share_of_peak"] == pytest.approx(found["flops_per_second"] / found["peak_flops"])
    assert 0 < found["share_of_peak"] < 1
    assert 0.3 < found["filled"] <= 1
    assert set(found["parts"]) == {WAITING, FORWARD, BACKWARD, OPTIMIZER}
    assert sum(found["parts"].values()) == pytest.approx(found["seconds"], rel=2)
    assert found["peak_bytes"] > 50e6
    assert {p.name for p in tmp_path.iterdir()} == {"a.en", "a.fr", "cache"}


@pytest.mark.long
def test_without_data_the_embedded_corpus_is_used(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    done = call("bench", "train", *f"--vocab-size 600 {SMALL} --updates 1".split())
    assert done.code == 0, done.err
    assert "target tokens/s" in done.out
    assert "bound by" in done.out
    kept = {path.name for path in tmp_path.glob("cache/*")}  # in an own process, the tables of the language check
    assert kept <= {"language"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("translate nothing.en", "nothing.en"),
        ("train a.toml b.toml", "bench train takes one recipe, but got 2 words without a flag"),
        ("train --updates 0", "--updates must be a whole number from 1 to 10,000, but is 0"),
        ("train nothing.toml", "no recipe at nothing.toml"),
        ("train --stepz 3", 'unknown key "stepz"; did you mean "steps"'),
    ],
)
def test_bad_input_is_one_line(call: Call, words: str, line: str) -> None:
    done = call("bench", *words.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert line in done.err


def test_what_bounds_is_named() -> None:
    parts = {WAITING: 0.0, FORWARD: 1.0, BACKWARD: 2.0, OPTIMIZER: 0.1}
    assert what_bounds({**parts, WAITING: 3.0}, 0.1, 0.9).startswith("data: 49% of the time")
    assert what_bounds({**parts, OPTIMIZER: 3.0}, 0.1, 0.9).startswith("the optimizer")
    assert what_bounds(parts, 0.6, 0.9).startswith("arithmetic")
    assert what_bounds(parts, 0.1, 0.5).startswith("padding: only 50%")
    assert what_bounds(parts, 0.1, 0.9).startswith("memory and small operations")


def test_a_peak_is_measured_where_none_is_known() -> None:
    assert measured_peak(torch.device("cpu"), torch.float32, 256) > 1e8
    assert peak_flops(torch.device("cpu"), torch.float32)[1] == "a product of 1024 × 1024 matrices"


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_translation_is_measured_with_and_without_checks(tmp_path: Path, call: Call, workers: int) -> None:
    text = tmp_path / "a.en"
    text.write_text("The cat sleeps. Thank you!\n\nI have 3 apples.\n")
    words = f"translate {text} --model en-fr-classic --repeat 1 --beam 2 --workers {workers} --json".split()
    done = call("bench", *words)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["lines"], found["words"], found["beam"], found["workers"]) == (2, 9, 2, workers)
    assert list(found["speeds"]) == ["all checks", "no checks", "engine"]
    for speed in found["speeds"].values():
        assert speed["sentences"] == 3
        assert speed["sentences_per_second"] == pytest.approx(3 / speed["seconds"])
    rates = [speed["sentences_per_second"] for speed in found["speeds"].values()]
    assert found["ratios"]["engine"] == pytest.approx(rates[0] / rates[2])
    stages = ["preparation", "checks", "first search", "assembly"] if workers == 1 else []
    assert [name for name in found["stages"] if name in stages] == stages


def test_stages_do_not_overlap() -> None:
    clock = Clock()
    clock.timed("outer", lambda: clock.timed("inner", time.sleep, 0.05))
    assert clock.seconds["outer"] < 0.05 <= clock.seconds["inner"]


def test_an_empty_text_is_refused(tmp_path: Path, call: Call) -> None:
    (tmp_path / "a.en").write_text("\n")
    done = call("bench", "translate", tmp_path / "a.en")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "has no line to translate" in done.err
