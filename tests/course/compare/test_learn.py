from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from regard.course.compare.entrants import TrainingRun
from regard.course.compare.learn import LEARNT, WORDS, LearningCost, data_fingerprint, learn_run, learn_words
from regard.course.word_based import WordBased
from regard.data.config import DataConfig
from regard.errors import InputError, RunError
from regard.recipe.read import recipe_from_tables
from regard.training.checkpoint import CURRENT, load_checkpoint
from support import TINY, write_lines

pytestmark = pytest.mark.long


def test_what_was_learnt_is_not_learnt_again_but_what_was_cut_short_is(tmp_path: Path) -> None:
    src, tgt = write_lines(tmp_path)
    data, folder = DataConfig(str(src), str(tgt), dev_size=0), tmp_path / "ibm"
    folder.mkdir()
    (folder / WORDS).write_bytes(b"cut short")  # no LEARNT beside it: it does not count
    cost = learn_words(data, folder)
    assert WordBased.load(folder / WORDS).translate(["The cat sleeps."]) == ["Le chat dort."]
    assert (cost.flops, cost.parameters, cost.steps) == (None, None, None)
    assert cost.peak_bytes is None or cost.peak_bytes > 10_000_000
    text = src.read_text(encoding="utf-8")
    src.write_text(text.replace("cat", "cow"), encoding="utf-8")
    with pytest.raises(RunError, match="of other training data"):
        learn_words(data, folder)
    src.unlink()
    assert learn_words(data, folder) == cost
    (folder / LEARNT).unlink()
    with pytest.raises(InputError, match=r"a\.en"):  # a mistake in the other process is as clear as in this one
        learn_words(data, folder)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    src, tgt = (str(path) for path in write_lines(tmp_path))
    return {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt}


def training(folder: Path, files: dict[str, str], **keys: Any) -> TrainingRun:
    train = {"steps": 6, "batch_tokens": 200, "eval_every": 6, "save_every": 1, "warmup": 1, "device": "cpu", **keys}
    tables = {"data": {**files, "max_length": 60}, "text": {"vocab_size": 340}, "model": TINY, "train": train}
    return TrainingRun("transformer", 1, recipe_from_tables(tables), folder / "run")


def test_a_diverged_run_is_no_result(tmp_path: Path, files: dict[str, str]) -> None:
    run = training(tmp_path, files, learning_rate=1e30)
    with pytest.raises(RunError, match="training transformer, seed 1: training diverged at step"):
        learn_run(run)
    assert 0 < load_checkpoint(run.folder).progress.step < 6
    with pytest.raises(RunError, match="diverged"):  # nor is it one when it is asked for again
        learn_run(run)
    assert not (run.folder / LEARNT).exists()


def test_a_run_whose_data_has_changed_is_no_result_and_one_that_was_stopped_goes_on(
    tmp_path: Path, files: dict[str, str]
) -> None:
    run = training(tmp_path, files)
    whole = learn_run(run)
    assert whole.steps == 6
    (run.folder / LEARNT).unlink()
    shutil.copy(run.folder / "training.previous.safetensors", run.folder / CURRENT)  # as stopped after step 5
    assert load_checkpoint(run.folder).progress.step == 5
    source = Path(files["src"])
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("cat", "cow"), encoding="utf-8")
    with pytest.raises(RunError, match="the training data is not what"):
        learn_run(run)
    assert not (run.folder / LEARNT).exists()
    source.write_text(text, encoding="utf-8")
    shutil.rmtree(run.folder / "last")  # killed between the checkpoint and the model beside it
    again = learn_run(run)
    assert (again.steps, again.flops, again.target_tokens) == (whole.steps, whole.flops, whole.target_tokens)

    (run.folder / LEARNT).unlink()
    shutil.rmtree(run.folder / "last")  # the same after the last checkpoint
    assert learn_run(run).steps == 6
    assert (run.folder / "last" / "model.safetensors").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**asdict(LearningCost(1.0, steps=3)), "data": "other"})])
def test_a_record_that_is_damaged_or_of_other_data_is_not_believed(
    tmp_path: Path, files: dict[str, str], text: str
) -> None:
    run = training(tmp_path, files)
    run.folder.mkdir()
    (run.folder / LEARNT).write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=LEARNT):
        learn_run(run)


def test_a_record_short_of_the_budget_is_not_believed(tmp_path: Path, files: dict[str, str]) -> None:
    run = training(tmp_path, files)
    run.folder.mkdir()
    record = {**asdict(LearningCost(1.0, steps=3)), "data": data_fingerprint(run.recipe.data)}
    (run.folder / LEARNT).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(RunError, match="says 3 steps, but the budget is 6"):
        learn_run(run)
