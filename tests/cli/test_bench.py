"""`regard bench train` as a user runs it; what it prints adds up, and no run is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

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
        ("translate", "bench measures training; type: regard bench train"),
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
