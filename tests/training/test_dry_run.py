"""A CPU's precision is chosen by trying, once; the trial leaves no trace, and a run keeps to what was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from rich.console import Console

import regard.training.dry_run as precision
from regard.training.checkpoint import load_checkpoint
from regard.training.run import resume, train
from regard.training.training_data import TrainingData
from regard.training.update import Update
from support import TINY, write_lines

QUIET = Console(quiet=True)


def recipe_in(folder: Path, **keys: object):  # type: ignore[no-untyped-def]
    from regard.recipe.read import read_recipe

    src, tgt = write_lines(folder)
    settings = {
        "src": src,
        "tgt": tgt,
        "vocab_size": 340,
        "device": "cpu",
        "batch_tokens": 100,
        "max_length": 60,
        **TINY,
    }
    settings |= {"steps": 4, "save_every": 2, "dev_size": 0, "warmup": 2, "log_every": 1, "dropout": 0.1, **keys}
    return read_recipe(None, [(name, str(value)) for name, value in settings.items()])


def speeds(monkeypatch: pytest.MonkeyPatch, wide: float, half: float) -> None:
    """Passes take as long as a clock of our own says."""
    now, real = [0.0], Update.accumulate_gradients

    def timed(self: Update, batches: list[object], scale: float) -> torch.Tensor:
        now[0] += half if self.loss.autocast._enabled else wide
        return real(self, batches, scale)  # type: ignore[arg-type]

    monkeypatch.setattr(Update, "accumulate_gradients", timed)
    monkeypatch.setattr(precision.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(precision, "LEAST_STEPS", 1)
    monkeypatch.setattr(precision, "LEAST_FLOPS", 1)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)


@pytest.mark.parametrize(("wide", "half", "chosen"), [(1.0, 0.5, True), (1.0, 0.95, False)])
def test_the_faster_is_chosen_where_there_is_something_to_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wide: float, half: float, chosen: bool
) -> None:
    speeds(monkeypatch, wide, half)
    train(recipe_in(tmp_path, steps=2), tmp_path / "run", QUIET)
    assert load_checkpoint(tmp_path / "run").progress.half is chosen


@pytest.mark.parametrize("chosen", ["float32", "bfloat16"])
def test_the_trial_leaves_no_trace_and_a_run_keeps_to_the_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    train(recipe_in(tmp_path, precision=chosen), tmp_path / "named", QUIET)
    wanted = load_checkpoint(tmp_path / "named")
    assert wanted.progress.half is None  # nothing was left open
    speeds(monkeypatch, 1.0, 0.5 if chosen == "bfloat16" else 2.0)
    train(recipe_in(tmp_path, steps=2), tmp_path / "open", QUIET)
    speeds(monkeypatch, 1.0, 2.0 if chosen == "bfloat16" else 0.5)  # another machine
    resume(tmp_path / "open", [("steps", "4")], override=True, console=QUIET)
    found = load_checkpoint(tmp_path / "open")
    assert found.progress.trajectory == wanted.progress.trajectory
    assert all(torch.equal(found.tensors[name], wanted.tensors[name]) for name in wanted.tensors)


def test_a_short_run_and_a_small_model_do_not_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(update: Update, data: TrainingData) -> bool:
        raise AssertionError

    monkeypatch.setattr(precision, "bfloat16_is_faster", never)
    recipe = recipe_in(tmp_path, steps=2)
    for number, (steps, flops) in enumerate([(1, 1e10), (100, 1)]):
        monkeypatch.setattr(precision, "LEAST_STEPS", steps)
        monkeypatch.setattr(precision, "LEAST_FLOPS", flops)
        train(recipe, tmp_path / f"run{number}", QUIET)
        assert load_checkpoint(tmp_path / f"run{number}").progress.half is False
