"""The parts of a run: what building reports, what cards say of last and best, what is left of compilation, warnings."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

import regard.training.job as job_module
from regard.bundle.numpy_weights import pieces_from_card
from regard.errors import RunError
from regard.recipe.read import read_recipe
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.text.tokenizer import Tokenizer
from regard.training.checkpoint import Progress
from regard.training.folder import RunFolder
from regard.training.job import Job, new_bundle, prepare
from regard.training.log import RunLog, seconds_left
from regard.training.loop import evaluate_dev, save
from regard.training.rehearsal import Trial
from regard.training.run import resume, train
from support import TINY, write_lines

QUIET = Console(quiet=True)


def recipe_in(folder: Path, **keys: object) -> Recipe:
    src, tgt = write_lines(folder)
    settings: dict[str, object] = {"src": src, "tgt": tgt, "dev_src": src, "dev_tgt": tgt, "vocab_size": 340, **TINY}
    settings |= {"device": "cpu", "batch_tokens": 200, "max_length": 60, "steps": 3, "warmup": 2, **keys}
    return read_recipe(None, [(name, str(value)) for name, value in settings.items()])


def job_in(folder: Path, **keys: object) -> Job:
    return prepare(recipe_in(folder, **keys), RunFolder(folder / "run"), QUIET)


def card(run: Path, which: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / which / "card.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("problem", "wanted"),
    [
        (RuntimeError("CUDA error: an illegal memory access was encountered"), RuntimeError),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."), RunError),
        (RuntimeError("Storage size calculation overflowed with sizes=[9, 9]"), RunError),
        (MemoryError(), RunError),
    ],
)
def test_only_a_lack_of_memory_is_a_model_too_large(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, problem: Exception, wanted: type[Exception]
) -> None:
    def fail(*given: object) -> None:
        raise problem

    monkeypatch.setattr(job_module, "make_model", fail)
    with pytest.raises(wanted) as found:
        new_bundle("transformer", Recipe().model, tokenizer, torch.device("cpu"))
    assert ("the model is too large" in str(found.value)) == (wanted is RunError)


def test_the_last_model_has_its_own_bleu_in_its_card_or_none(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    job.folder.create()
    job.progress.loss = 1.0
    with RunLog(job.folder, QUIET, job.config, job.progress) as log:
        job.progress.step = 1
        bleu = evaluate_dev(job, log)
        assert bleu is not None
        save(job, log, bleu)
        assert card(job.folder.path, "last")["dev_bleu"] == card(job.folder.path, "best")["dev_bleu"]
        job.progress.step = 2
        save(job, log, None)
    assert card(job.folder.path, "best")["dev_bleu"] == {"score": bleu.score, "step": 1, "signature": bleu.signature}
    assert "dev_bleu" not in card(job.folder.path, "last")
    assert card(job.folder.path, "last")["step"] == 2


def test_the_bleu_of_the_last_model_is_that_of_its_step(tmp_path: Path) -> None:
    run = train(recipe_in(tmp_path, eval_every=1, save_every=1, learning_rate=1e-6), tmp_path / "run", QUIET).run
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    scores = {row["step"]: row["bleu"] for row in rows if row["kind"] == "dev"}
    assert sorted(scores) == [1, 2, 3]
    for which, step in (("best", max(scores, key=lambda step: (scores[step], -step))), ("last", 3)):
        found = card(run, which)["dev_bleu"]
        assert (found["step"], found["score"]) == (step, scores[step])


def test_a_run_without_compilation_leaves_the_compiler_as_it_was(tmp_path: Path) -> None:
    seen: list[str] = []

    def backend(module: Any, inputs: Any) -> Any:
        seen.append("compiled")
        return module.forward

    @torch.compile(backend=backend)
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x + x

    job = job_in(tmp_path, compile="no")
    job.update(Trial(job).micro_batches())
    with job.update.compilation():
        twice(torch.ones(2))
    assert seen == []
    twice(torch.ones(2))
    assert seen == ["compiled"]


def test_a_warm_up_longer_than_the_run_is_warned_of(tmp_path: Path) -> None:
    for warmup, warned in ((1000, True), (3, False)):
        text = StringIO()
        train(recipe_in(tmp_path, warmup=warmup), tmp_path / f"run{warmup}", Console(file=text, width=300))
        assert ("warm-up takes 1,000 steps, but the run has 3" in text.getvalue()) is warned


def test_the_time_left_is_that_of_steps_or_of_minutes() -> None:
    progress = Progress(step=100, seconds=90.0)
    assert seconds_left(TrainConfig(steps=400), progress, 2.0) == 600
    assert seconds_left(TrainConfig(steps=400, minutes=3), progress, 2.0) == 90
    assert seconds_left(TrainConfig(steps=400, minutes=30), progress, 2.0) == 600
    assert seconds_left(TrainConfig(steps=400, minutes=1), progress, 2.0) == 0


def test_a_rehearsal_and_the_dry_run_have_the_links_of_guided_attention(tmp_path: Path) -> None:
    job = job_in(tmp_path, guided_weight=0.5, guided_layer=1)
    assert Trial(job).micro_batches()[0].batch.links is not None
    assert job.data.largest().links is not None


def test_the_languages_of_a_model_are_found_in_its_development_set_if_that_is_large_enough(tmp_path: Path) -> None:
    src, tgt = write_lines(tmp_path, times=40)
    large = tmp_path / "dev.en", tmp_path / "dev.fr"
    for few, many in zip((src, tgt), large, strict=True):
        many.write_bytes(few.read_bytes())
    job = job_in(tmp_path, dev_src=large[0], dev_tgt=large[1])
    assert job.bundle.languages == ("en", "fr")
    assert "languages" not in job_in(tmp_path).bundle.card  # a guess from 32 lines could be wrong


def test_a_run_by_budget_ends_at_rate_zero_with_an_evaluation(tmp_path: Path) -> None:
    """Operations are the budget, because they do not depend on a clock; minutes are counted in the same way."""
    first = train(recipe_in(tmp_path, steps=1, eval_every=100), tmp_path / "one", QUIET)
    each = json.loads((first.run / "last" / "card.json").read_text(encoding="utf-8"))["training_flops"]
    budget = {"schedule": "linear", "schedule_by": "budget", "flops": 6 * each, "eval_every": 500, "log_every": 1}
    outcome = train(recipe_in(tmp_path, steps=1000, warmup=1, learning_rate=0.01, **budget), tmp_path / "run", QUIET)
    rows = [json.loads(line) for line in (outcome.run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    rates = [row["rate"] for row in rows if row["kind"] == "train"]
    assert outcome.ending == "out of operations"
    assert rates[0] == pytest.approx(0.01, rel=0.01)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.004
    assert outcome.best_step == outcome.step == len(rates)
    assert card(outcome.run, "best")["step"] == outcome.step

    more = resume(outcome.run, [("train.flops", str(12 * each))], override=True, console=QUIET)
    rows = [json.loads(line) for line in (outcome.run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    rates = [row["rate"] for row in rows if row["kind"] == "train"][outcome.step :]
    assert len(rates) == more.step - outcome.step
    assert rates[0] == pytest.approx(0.005, rel=0.2)  # laid over what there is now: half of it is spent
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.002


def test_the_card_of_a_model_with_tags_has_the_pieces_that_each_language_uses(tmp_path: Path) -> None:
    src, tgt = map(str, write_lines(tmp_path))
    ways = [{"src": src, "tgt": tgt, "tag": "<fr>"}, {"src": tgt, "tgt": src, "tag": "<en>", "weight": 2.0}]
    tables: dict[str, Any] = {
        "data": {"corpus": ways, "dev_src": src, "dev_tgt": tgt, "dev_tag": "<fr>"},
        "text": {"vocab_size": 340, "tags": ["<fr>", "<en>"]},
        "model": {"preset": "tiny"},
        "train": {"device": "cpu", "precision": "float32"},
    }
    job = prepare(read_recipe(tables), RunFolder(tmp_path / "run"), QUIET)
    tokenizer = job.bundle.tokenizer
    texts = {"<fr>": Path(tgt), "<en>": Path(src)}
    used = {tag: tokenizer.encode_target(path.read_text("utf-8").splitlines()) for tag, path in texts.items()}
    assert pieces_from_card(job.bundle.card, tokenizer.target_size) == {
        tag: sorted({i for ids in lines for i in ids}) for tag, lines in used.items()
    }
    tables["data"]["corpus"][1].pop("tag")
    assert "written_pieces" not in prepare(read_recipe(tables), RunFolder(tmp_path / "other"), QUIET).bundle.card
