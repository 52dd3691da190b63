"""A run proves itself: its last stretch, trained once more, gives the same; anything changed since is noticed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import save_file

import regard as library
from regard.errors import RunError
from regard.training.checkpoint import CURRENT, PREVIOUS, Checkpoint, _checksum, load_checkpoint
from regard.training.loop import extend_trajectory
from regard.training.verify import verify
from support import Call, write_lines

QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("verified")
    src, tgt = (str(path) for path in write_lines(home))
    recipe = {
        "data": {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt, "max_length": 60},
        "text": {"vocab_size": 340, "bpe_dropout": 0.1},
        "model": {"width": 16, "heads": 2, "inner": 32, "encoder_layers": 1, "decoder_layers": 1},
        "train": {
            "steps": 20,
            "batch_tokens": 120,
            "warmup": 5,
            "save_every": 8,
            "eval_every": 6,
            "log_every": 3,
            "average": "ema",
            "accumulate": 2,
            "device": "cpu",
            "schedule": "cosine",
        },
    }
    library.train(recipe, home / "run")
    return home


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished / "run", tmp_path / "run"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rewrite(path: Path, name: str, change: float) -> None:
    """A forger's work: another tensor, with a checksum that fits."""
    with safe_open(path, framework="pt") as file:
        about = json.loads(file.metadata()["about"])
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    tensors[name] = tensors[name] + change
    about["checksums"][name] = _checksum(tensors[name])
    save_file(tensors, path, metadata={"about": json.dumps(about)})


def test_a_good_run_is_verified_and_not_touched(run: Path, call: Call) -> None:
    before, dice = contents(run), torch.get_rng_state()
    done = call("resume", run, "--verify")
    assert done.code == 0, done.err
    assert done.out.startswith(f"verified: trained once more, steps 17 to 20 of {run} give the same losses")
    assert len(done.out.splitlines()) == 1
    assert contents(run) == before
    assert torch.equal(torch.get_rng_state(), dice)


@pytest.mark.parametrize("which", ["model:encoder.0.feed_forward.expand.bias", "optimizer:encoder_norm.bias/exp_avg"])
def test_a_changed_last_checkpoint_is_noticed(run: Path, which: str) -> None:
    rewrite(run / CURRENT, which, 1e-6)
    verdict = verify(run, QUIET)
    assert not verdict.good
    assert f"lead to another checkpoint than it has ({which} differ)" in verdict.line


def test_a_changed_previous_checkpoint_departs_at_once(run: Path) -> None:
    rewrite(run / PREVIOUS, "model:encoder.0.feed_forward.expand.bias", 1e-2)
    verdict = verify(run, QUIET)
    assert not verdict.good
    assert "depart between steps 17 and 18 (loss or gradient differs)" in verdict.line


def test_changed_losses_are_noticed(run: Path) -> None:
    """The log says what the losses were; one of step 20 is not in it, but in the checkpoint's fingerprint."""
    with safe_open(run / CURRENT, framework="pt") as file:
        about = json.loads(file.metadata()["about"])
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    about["progress"]["trajectory"] = extend_trajectory(about["progress"]["trajectory"], 20, 1.0, 1.0)
    save_file(tensors, run / CURRENT, metadata={"about": json.dumps(about)})
    assert "(trajectory differ)" in verify(run, QUIET).line


def test_other_data_is_noticed(run: Path, finished: Path, call: Call) -> None:
    source = finished / "a.en"
    text = source.read_text(encoding="utf-8")
    try:
        source.write_text(text.replace("cat", "cow"), encoding="utf-8")
        done = call("resume", run, "--verify")
    finally:
        source.write_text(text, encoding="utf-8")
    assert done.code == 3
    assert done.out == f"not verified: the training data is not what {run} was trained with\n"


def test_what_cannot_be_verified_is_one_clear_line(run: Path, call: Call) -> None:
    refused = call("resume", run, "--verify", "--steps", "30")
    assert refused.code == 2
    assert "--verify takes no other flags, but got --steps" in refused.err
    shutil.copy(run / CURRENT, run / PREVIOUS)
    with pytest.raises(RunError, match="is not after the one before it"):
        verify(run, QUIET)
    (run / PREVIOUS).unlink()
    with pytest.raises(RunError, match="has only one checkpoint"):
        verify(run, QUIET)


def test_a_fingerprint_is_of_every_step_and_every_bit() -> None:
    once = extend_trajectory("", 1, 2.0, 3.0)
    assert once == extend_trajectory("", 1, 2.0, 3.0)
    others = [
        extend_trajectory("", 2, 2.0, 3.0),
        extend_trajectory("", 1, 2.0 + 2**-50, 3.0),
        extend_trajectory("", 1, 2.0, 4.0),
        extend_trajectory("x", 1, 2.0, 3.0),
    ]
    assert len({once, *others}) == 5


def test_the_log_and_the_checkpoint_agree(run: Path) -> None:
    last = load_checkpoint(run).progress
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    logged = [row["trajectory"] for row in rows if row["kind"] == "train"]
    assert len(set(logged)) == len(logged) == 6
    assert last.trajectory not in logged  # step 20 is not a multiple of 3
    assert last.threads == torch.get_num_threads()


def test_a_rate_that_followed_the_clock_cannot_be_repeated(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def by_clock(folder: Path, previous: bool = False) -> Checkpoint:
        found = load_checkpoint(folder, previous)
        return replace(
            found, recipe=found.recipe.replace('schedule_by = "steps"', 'schedule_by = "budget"\nminutes = 5')
        )

    monkeypatch.setattr("regard.training.verify.load_checkpoint", by_clock)
    with pytest.raises(RunError, match="followed the clock"):
        verify(run, QUIET)
