"""`regard compare` as a user runs it, interrupted and given again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support import regard, write_lines

MODELS = "rnn,transformer"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    src, tgt = write_lines(tmp_path)
    files = f"--src {src} --tgt {tgt} --dev-src {src} --dev-tgt {tgt} --test-src {src} --test-tgt {tgt}"
    small = "--preset tiny --vocab-size 300 --batch-tokens 300 --device cpu --warmup 5 --eval-every 8 --save-every 2"
    return [*files.split(), *small.split(), "--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]


def test_two_models_two_seeds_one_report(tmp_path: Path, words: list[str]) -> None:
    done = regard("compare", "--models", MODELS, "--seeds", "2", "--budget", "8 steps", *words)
    assert done.returncode == 0, done.stderr.decode()
    out = done.stdout.decode()
    assert "BLEU by source length" in out
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert [row["model"] for row in report["rows"]] == ["rnn", "transformer"]
    assert all(len(row["bleu"]) == 2 and row["flops"] > 0 and row["parameters"] > 0 for row in report["rows"])
    assert {row["steps"] for row in report["rows"]} == {8}
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "| rnn | " in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    again = regard("compare", "--models", MODELS, "--seeds", "2", "--budget", "8 steps", *words)
    assert again.stdout.decode().count("done before") == 4
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == report


def test_a_killed_comparison_goes_on(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "regard", "compare", "--models", "transformer", "--budget", "60 steps", *words]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    checkpoint = tmp_path / "out" / "runs" / "transformer.seed1" / "training.safetensors"
    until = time.monotonic() + 90
    while not checkpoint.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert checkpoint.exists()
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert not (checkpoint.parent / "compared.json").exists()
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"going on with" in done.stderr
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["rows"][0]["steps"] == 60


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("--models rnnn", 'unknown model "rnnn" in --models; did you mean "rnn"'),
        ("--models transformer:hug", "unknown model.preset 'hug'"),
        ("--budget nothing", '--budget must be like "2000 steps"'),
        ("--seeds none", '--seeds must be a whole number, but is "none"'),
        ("--seeds 0", "--seeds must be 1 or more"),
        ("--steeps 5", 'unknown key "steeps"'),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, call: Any, words: list[str], extra: str, says: str) -> None:
    code, out, err = call("compare", *words, *extra.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert says in err
    assert not (tmp_path / "out").exists()


def test_a_comparison_needs_a_test(tmp_path: Path, call: Any) -> None:
    src, tgt = write_lines(tmp_path)
    code, _, err = call("compare", "--src", src, "--tgt", tgt, "--models", "transformer", "--out", tmp_path / "out")
    assert code == 2
    assert "a comparison needs a test: give --test-src FILE --test-tgt FILE" in err
