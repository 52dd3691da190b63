"""The arithmetic of a prediction, the advice, and, slowly, a prediction beside what the run then took."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from damage import clean
from regard.data.config import DataConfig
from regard.doctor.machine import Device, read_machine
from regard.doctor.predict import CorpusSummary, advise, predict
from regard.doctor.rehearse import Rehearsal, spread_order
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.training.cost import Time

SEEN = Rehearsal(
    device="cpu",
    half=False,
    parameters=1000,
    imports=Time(2, 2),
    preparing=Time(3, 3),
    first=Time(1, 1),
    update=Time(0.5, 0.4),
    timed=20,
    noise=0.01,
    flops=1e9,
    target_tokens=1000,
    filled=0.95,
    per_epoch=50,
    parts=1,
    evaluation=Time(10, 8),
    keeping=Time(1, 1),
    saving=Time(2, 1),
    test=Time(30, 25),
    peak_bytes=2**30,
    disk=2**20,
)
CORPUS = CorpusSummary(50_000, 500_000, Time(40, 40), True, {"empty": 0}, 0.1, 5000, {})
MACHINE = replace(read_machine(DataConfig()), memory_free=2**33, disk_free=2**40, devices=(), load=0.0, cores=2)


def recipe(**train: object) -> Recipe:
    return Recipe(train=TrainConfig(**{"steps": 1000, "warmup": 100, "eval_every": 300, **train}))  # type: ignore[arg-type]


def test_parts_add_up() -> None:
    found = predict(recipe(save_every=250), CORPUS, SEEN)
    assert found.parts == {
        "start": Time(6, 6),
        "updates": Time(500, 400),
        "evaluations": Time(44, 36),  # at 300, 600, 900 and at the end
        "checkpoints": Time(8, 4),
        "test": Time(30, 25),
    }
    assert found.total == Time(588, 471)
    assert found.flops == 1e12
    assert found.epochs == 20


def test_what_ends_a_run_early() -> None:
    short = predict(recipe(minutes=1), CORPUS, SEEN)
    assert (short.steps, short.evaluations, "test" in short.parts) == (121, 0, False)
    assert predict(recipe(flops=1e11), CORPUS, SEEN).steps == 101


def test_encoding_is_counted_where_it_is_still_to_be_done() -> None:
    assert predict(recipe(), replace(CORPUS, prepared=False), SEEN).parts["vocabulary and encoding"] == Time(40, 40)
    anew = replace(recipe(), data=DataConfig(recase=0.1))
    assert predict(anew, CORPUS, SEEN).parts["encoding of each epoch"] == Time(800, 800)


def said(*, corpus: CorpusSummary = CORPUS, seen: Rehearsal = SEEN, machine: object = MACHINE, **train: object) -> str:
    given = recipe(**train)
    return "\n".join(
        f"{'!' * advice.serious}{advice.message}"
        for advice in advise(given, corpus, predict(given, corpus, seen), machine)  # type: ignore[arg-type]
    )


def test_a_sound_recipe_needs_no_advice() -> None:
    assert said() == ""


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"machine": replace(MACHINE, memory_free=2**29)}, "!memory: the run needs 1.0 GiB, and 512 MiB are free"),
        ({"machine": replace(MACHINE, disk_free=2**10)}, "!disk: a run writes 1 MiB"),
        ({"seen": replace(SEEN, parts=4)}, "memory: the largest batch must be learnt from in 4 parts"),
        ({"corpus": replace(CORPUS, dropped={"too long": 20_000})}, "!filters: 20,000 of 70,000 pairs are dropped"),
        ({"corpus": replace(CORPUS, rare=0.8, often=1244)}, "try text.vocab_size 1500"),
        ({"corpus": replace(CORPUS, unknown={"dev": 0.05})}, "vocabulary: 5.0% of the source's pieces are bytes"),
        ({"seen": replace(SEEN, parameters=10**8)}, "model: 100,000,000 parameters for 500,000 target tokens"),
        ({"steps": 20, "warmup": 2}, "steps: 20 updates see only 40% of the data"),
        ({"steps": 20_000}, "steps: 20,000 updates go through the data 400 times"),
        ({"warmup": 1000}, "!rate: the warm-up of 1,000 updates does not end within 1,000; try train.warmup 100"),
        ({"schedule": "wsd"}, "rate: decay is 2,000 of 1,000 updates; try train.decay 200"),
        ({"eval_every": 10}, "time: evaluations take 67% of it; try train.eval_every 20"),
        ({"seen": replace(SEEN, target_tokens=100)}, "batches: an update has 100 target tokens"),
        ({"seen": replace(SEEN, filled=0.5)}, "batches: only 50% of positions hold a token"),
        ({"machine": replace(MACHINE, devices=(Device("cuda:0 X", 1, 2),))}, "but cuda:0 X is here; train.device auto"),
        ({"machine": replace(MACHINE, load=9.0)}, "machine: 9.0 processes want its 2 cores"),
    ],
)
def test_advice(changes: dict[str, object], line: str) -> None:
    assert line in said(**changes)  # type: ignore[arg-type]


def test_an_order_that_is_spread_out_holds_all() -> None:
    for count in (1, 2, 3, 10, 33):
        assert sorted(spread_order(count)) == list(range(count))


@pytest.mark.slow
def test_a_prediction_and_the_run(tmp_path: Path) -> None:
    """By the processor's time, which other work on the machine changes little; and memory and operations."""
    data = clean().write(tmp_path)
    keys = ("src", "tgt", "dev_src", "dev_tgt", "test_src", "test_tgt")
    words = [word for key in keys for word in (f"--{key.replace('_', '-')}", str(getattr(data, key)))]
    train = "--steps 600 --warmup 60 --eval-every 300 --save-every 300 --batch-tokens 600 --learning-rate 4e-3"
    words += f"--vocab-size 1500 --preset tiny --dropout 0 --device cpu --optimizer muon {train}".split()
    environment = {**os.environ, "REGARD_CACHE": str(tmp_path / "cache")}

    def run(*command: str) -> bytes:
        command = (sys.executable, "-m", "regard", *command)
        return subprocess.run(command, check=True, capture_output=True, env=environment, timeout=280).stdout

    foreseen = json.loads(run("doctor", *words, "--json"))["prediction"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("train", *words, "--out", str(tmp_path / "run"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best, card = (json.loads((tmp_path / "run" / f"{n}/card.json").read_text("utf-8")) for n in ("best", "last"))
    assert foreseen["total"]["processor"] == pytest.approx(took, rel=0.25)
    assert foreseen["flops"] == pytest.approx(card["training_flops"], rel=0.05)
    assert foreseen["peak_bytes"] == pytest.approx(best["test_peak_bytes"], rel=0.25)
