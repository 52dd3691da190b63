"""`regard explain evidence | importance | lab` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support import LINES, Call, regard, write_lines


def test_evidence_in_the_terminal_and_in_files(run_folder: Path, tmp_path: Path, call: Call) -> None:
    source, target = LINES[2]
    code, text, err = call("explain", "evidence", source, "--model", run_folder, "--cut", "cross:1:1,cross:1:2")
    assert code == 0, err
    assert text.startswith(target)
    assert "Spearman ρ" in text
    assert "blanked as mean" in text
    assert "cross:1:1 cross:1:2" in text
    for suffix in ("json", "html", "svg"):
        out = tmp_path / f"e.{suffix}"
        words = ("explain", "evidence", source, "--model", run_folder, "--blank", "removed", "--out", out)
        assert call(*words).code == 0
        assert out.stat().st_size > 500
    data = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert data["blank"] == "removed"
    assert len(data["drops"]) == len(data["target_words"]) == 6


def test_importance_of_own_files(run_folder: Path, tmp_path: Path, call: Call) -> None:
    src, tgt = write_lines(tmp_path, times=1)
    out = tmp_path / "i.json"
    words = (
        "explain",
        "importance",
        "--model",
        run_folder,
        "--src",
        src,
        "--tgt",
        tgt,
        "--draws",
        "2",
        "--cut-heads",
        "1",
    )
    assert call(*words, "--out", out).code == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert list(found["drops"].values()) == sorted(found["drops"].values(), reverse=True)
    assert len(found["random_drops"]) == 2


@pytest.mark.slow
def test_a_lab_on_a_few_pairs(run_folder: Path) -> None:
    done = regard(
        "explain", "lab", "pronoun", "--model", run_folder, "--minimal-pairs", "1", "--draws", "1", "--cut-heads", "1"
    )
    assert done.returncode == 0, done.stderr
    assert b"pairs right" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evidence", "The cat.", "--blank", "unk"), "'unk' is not one of 'mean', 'removed'"),
        (("evidence", "The cat.", "--cut", "cross"), "KIND:LAYER:HEAD"),
        (("evidence", "The cat.", "--cut", "cross:9:1"), "no head cross:9:1 in this model"),
        (("evidence", "The cat.", "--how", "half", "--cut", "each"), "'half' is not one of 'zero', 'uniform'"),
        (("evidence", " "), "empty"),
        (("evidence", "The cat.", "--out", "a.xyz"), "must end in"),
        (("importance", "--src", "a"), "--src and --tgt together"),
        (("importance", "--cut-heads", "0"), "--cut-heads must be a whole number of at least 1"),
        (("lab", "irony"), "'irony' is not one of 'pronoun', 'polysemy' (regard explain lab --help"),
        (("lab", "pronoun", "--minimal-pairs", "0"), "--minimal-pairs must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str, run_folder: Path, call: Call) -> None:
    code, _, errors = call("explain", *words, "--model", run_folder)
    assert code == 2
    assert said in errors
    assert errors.count("\n") == 1
