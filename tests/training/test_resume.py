"""Going on is exactly going on: bit for bit after kill −9, politely after SIGTERM, never over a damaged checkpoint."""

from __future__ import annotations

import fcntl
import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from regard.data.config import DataConfig
from regard.errors import RunError, RunFinishedError
from regard.recipe.recipe import Recipe
from regard.training.checkpoint import CURRENT, PREVIOUS, Checkpoint, Progress, load_checkpoint
from regard.training.run import check_changes, resume
from support import Call, regard, write_lines

pytestmark = pytest.mark.long

FLAGS = {
    "plain": "--dropout 0.1",
    "shared rows": "--dropout 0.1 --share-rows on --batch-tokens 256",
    "everything": "--dropout 0.1 --average ema --accumulate 2 --bpe-dropout 0.1 --schedule wsd --decay 5",
    "snapshots": "--average last --average-last 2 --optimizer muon --weight-decay 0.01 --schedule cosine "
    "--schedule-by budget --flops 1e9",
    "regularised": "--dropout 0.1 --r-drop 2 --word-dropout 0.1 --layer-drop 0.2 --optimizer adafactor",
    "regularised rows": "--share-rows on --batch-tokens 256 --word-dropout 0.1 --layer-drop 0.2 --r-drop 2 "
    "--sampling-rate 0.5 --schedule linear --embedding-rate 0.5",
    "guided": "--dropout 0.1 --guided-weight 0.5 --sampling-rate 0.3",
    "a mixture": "{folder}/more.toml --tags <bt> --recase 0.3 --join-pairs 0.3 --slips 0.2 --drop-words 0.1",
    "low rank": "--start-from {base} --lora-rank 2 --average ema --dropout 0.1",
    "self-critical": "--start-from {base} --objective self-critical --samples 3 --dropout 0.1 --accumulate 2",
    "greedy baseline": "--start-from {base} --objective self-critical --samples 3 --dropout 0 --baseline greedy",
    "minimum-risk": "--start-from {base} --objective minimum-risk --samples 3 --average ema --reward bleu",
}
SIZES = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 340 --batch-tokens 120"
PACE = "--max-length 60 --steps 20 --save-every 10 --eval-every 4 --warmup 5 --log-every 1 --device cpu"

# The real command line, but each process sends itself SIGKILL in the middle of step 14. They are forks of one that has
# imported everything, which takes longer than the steps.
SUICIDE = """
import json, os, signal, sys
import regard.training.loop as loop
import regard.training.run, tabulate, torch._dynamo, torch.utils.tensorboard
rate = loop.learning_rate
def deadly(step, *rest):
    if step == 14:
        os.kill(os.getpid(), signal.SIGKILL)
    return rate(step, *rest)
loop.learning_rate = deadly
from regard.cli import main
for words in json.loads(sys.argv[1]):
    if not (child := os.fork()):
        main(words)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == -signal.SIGKILL, (words, code)
"""


def words(folder: Path, run: str, flags: str) -> list[str]:
    src, tgt = folder / "a.en", folder / "a.fr"
    data = f"--src {src} --tgt {tgt} --dev-src {src} --dev-tgt {tgt}"
    return f"train {data} {SIZES} {PACE} --learning-rate 0.01 {flags} --out {folder / run}".split()


def metrics(run: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{k: v for k, v in row.items() if k != "tokens_per_second"} for row in rows]


def settings(flags: str, folder: Path) -> str:
    return FLAGS[flags].format(base=folder / "base", folder=folder)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, finished: Path) -> dict[str, Path]:
    """For all of FLAGS a folder with data, a model to start from, and the run that was killed."""
    folders = {flags: tmp_path_factory.mktemp("killed") for flags in FLAGS}
    for folder in folders.values():
        write_lines(folder)
        shutil.copytree(finished / "run", folder / "base")
        table = f'[[data.corpus]]\nsrc = "{folder}/a.fr"\ntgt = "{folder}/a.en"\nweight = 0.6\ntag = "<bt>"\n'
        (folder / "more.toml").write_text(table, encoding="utf-8")
    all_words = [words(folder, "killed", settings(flags, folder)) for flags, folder in folders.items()]
    done = subprocess.run([sys.executable, "-c", SUICIDE, json.dumps(all_words)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return folders


@pytest.mark.parametrize("flags", FLAGS)
def test_ten_steps_a_kill_and_ten_more_equal_twenty(killed: dict[str, Path], call: Call, flags: str) -> None:
    folder = killed[flags]
    whole = call(*words(folder, "whole", settings(flags, folder)))
    assert whole.code == 0, whole.err
    assert load_checkpoint(folder / "killed").progress.step == 10
    shutil.rmtree(folder / "base")
    resumed = call("resume", folder / "killed")
    assert resumed.code == 0, resumed.err

    for part in (CURRENT, "last/model.safetensors", "best/model.safetensors"):
        a, b = load_file(folder / "whole" / part), load_file(folder / "killed" / part)
        assert a.keys() == b.keys()
        assert all(torch.equal(a[name], b[name]) for name in a), part
    assert metrics(folder / "whole") == metrics(folder / "killed")
    a, b = load_checkpoint(folder / "whole").progress, load_checkpoint(folder / "killed").progress
    a.seconds = b.seconds = 0.0
    assert a == b
    assert (a.reward is not None) == ("--objective" in FLAGS[flags])
    assert (a.started_from is not None) == ("--start-from" in FLAGS[flags])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_polite_stop_saves_and_can_be_resumed(tmp_path: Path, call: Call, number: signal.Signals) -> None:
    write_lines(tmp_path)
    long = [*words(tmp_path, "run", ""), "--steps", "100000", "--save-every", "100000", "--eval-every", "100000"]
    process = subprocess.Popen([sys.executable, "-m", "regard", *long], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    recorded = tmp_path / "run" / "tensorboard"
    deadline = time.monotonic() + 60
    while not (recorded.exists() and any(recorded.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    step = load_checkpoint(tmp_path / "run").progress.step
    assert step > 0
    assert f"regard resume {tmp_path / 'run'}" in out.decode()
    done = call("resume", tmp_path / "run", "--steps", step + 3, "--override")
    assert done.code == 0, done.err
    assert load_checkpoint(tmp_path / "run").progress.step == step + 3


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 20 steps with two checkpoints."""
    home = tmp_path_factory.mktemp("finished")
    write_lines(home)
    done = regard(*words(home, "run", ""))
    assert done.returncode == 0, done.stderr.decode()
    return home


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", str(finished / "run"), str(tmp_path / "run")], check=True)
    return tmp_path / "run"


@pytest.mark.parametrize("damage", ["truncated", "flipped", "emptied"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_serves(run: Path, call: Call, damage: str) -> None:
    path = run / CURRENT
    raw = bytearray(path.read_bytes())
    if damage == "flipped":
        raw[-100] ^= 1
    path.write_bytes({"truncated": raw[: len(raw) // 2], "flipped": raw, "emptied": b""}[damage])
    failed = call("resume", run, "--steps", "24", "--override")
    assert failed.code == 2
    assert "damaged" in failed.err
    assert "--previous" in failed.err
    assert load_checkpoint(run, previous=True).progress.step == 10
    went_on = call("resume", run, "--previous", "--steps", "12", "--override")
    assert went_on.code == 0, went_on.err
    assert load_checkpoint(run).progress.step == 12


def test_a_changed_recipe_needs_override(run: Path, call: Call) -> None:
    before = (run / "recipe.toml").read_text()
    refused = call("resume", run, "--steps", "25", "--learning-rate", "0.5")
    assert refused.code == 2
    assert "train.steps: 20 → 25" in refused.err
    assert "train.learning_rate: 0.01 → 0.5" in refused.err
    assert "--override" in refused.err
    assert (run / "recipe.toml").read_text() == before


def test_what_cannot_change_is_refused_even_with_override(run: Path) -> None:
    with pytest.raises(RunError, match=r"model.width cannot change within a run"):
        resume(run, [("width", "32"), ("steps", "30")], override=True)
    with pytest.raises(RunError, match=r"train.share_rows cannot change within a run"):
        resume(run, [("share_rows", "on"), ("steps", "30")], override=True)


def test_changed_data_is_noticed(run: Path, finished: Path) -> None:
    source = finished / "a.en"
    text = source.read_text(encoding="utf-8")
    try:
        source.write_text(text.replace("cat", "cow"), encoding="utf-8")
        (run / PREVIOUS).replace(run / CURRENT)  # back at step 10, with something left to do
        with pytest.raises(RunError, match="data is not what"):
            resume(run)
    finally:
        source.write_text(text, encoding="utf-8")


def test_a_finished_run_says_so_with_an_exit_code_of_its_own(run: Path, call: Call) -> None:
    with pytest.raises(RunFinishedError, match="has done its 20 steps"):
        resume(run)
    done = call("resume", run)
    assert (done.code, done.out) == (4, "")
    assert "has done its 20 steps" in done.err


def test_a_run_killed_after_its_last_checkpoint_saves_its_last_model(run: Path, call: Call) -> None:
    wanted = load_file(run / "last" / "model.safetensors")
    before = load_checkpoint(run).progress
    shutil.rmtree(run / "last")
    done = call("resume", run)
    assert done.code == 0, done.err
    found = load_file(run / "last" / "model.safetensors")
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert load_checkpoint(run).progress == before
    assert call("resume", run).code == 4


def test_two_runs_in_one_folder_are_refused(run: Path, call: Call) -> None:
    with (run / ".lock").open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = call("resume", run, "--steps", "30", "--override")
    assert refused.code == 2
    assert "another process is training" in refused.err


def test_no_room_for_a_checkpoint_keeps_the_last_good_one(run: Path) -> None:
    before = (run / CURRENT).read_bytes()
    smaller = len(before) // 2  # bytes a file may grow to: enough for the bundle's parts, not for the checkpoint
    failed = subprocess.run(
        [sys.executable, "-m", "regard", "resume", str(run), "--steps", "30", "--override"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (smaller, smaller)),
    )
    assert failed.returncode == 2, failed.stderr.decode()
    last = failed.stderr.decode().strip().splitlines()[-1]
    assert "could not be written" in last
    assert (run / CURRENT).read_bytes() == before
    assert not list(run.glob("*.new"))
    assert not list(run.glob(".*.tmp"))


def test_divergence_is_an_error_and_destroys_nothing(run: Path) -> None:
    before = (run / CURRENT).read_bytes()
    with pytest.raises(RunError, match=r"diverged at step 2[1-9]"):
        resume(run, [("steps", "40"), ("learning_rate", "1e38"), ("clip", "0"), ("warmup", "1")], override=True)
    assert (run / CURRENT).read_bytes() == before


def test_there_is_nothing_to_resume_in_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run in"):
        resume(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_recipe_cannot_act_on_a_terminal() -> None:
    shown = StringIO()
    stored = Recipe(data=DataConfig(src="a\x1b]0;title\x07"))
    checkpoint = Checkpoint(Progress(), stored.to_toml(), "", {})
    with pytest.raises(RunError, match="the recipe differs"):
        check_changes(checkpoint, Recipe(), Path("run"), False, Console(file=shown, force_terminal=True))
    assert "data.src: a" in shown.getvalue()
    assert "\x1b" not in shown.getvalue()
