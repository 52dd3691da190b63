"""Several processes are one run: the same updates as one process with larger batches, one stop, one checkpoint for any
number of them, and no process that waits for a dead one. All on CPUs, over gloo."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from regard.errors import RecipeError, RunError
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import CURRENT, Progress, load_checkpoint
from regard.training.distributed import ProcessGroup, join_processes, wrap_model
from regard.training.job import for_processes
from regard.training.run import resume
from support import write_lines

pytestmark = pytest.mark.long

SIZES = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 340 --max-length 60"
PACE = "--steps 12 --save-every 6 --eval-every 6 --warmup 5 --log-every 1 --device cpu --learning-rate 0.01"
PLAIN = "--dropout 0 --batch-tokens 100"  # four batches an epoch: two for each of two processes
ROWS = "--dropout 0 --share-rows on --average ema --batch-tokens"
NOISY = "--dropout 0.2 --average ema --accumulate 2 --batch-tokens 100"

# What torchrun does, without its seconds: processes that know their number, forks of one that has imported everything.
# Something may happen to one of them in the middle of a step. Given a run and a folder instead of words, that run as it
# was at its first checkpoint is copied there.
LAUNCH = """
import json, os, shutil, signal, socket, sys
import regard.training.loop as loop
import regard.training.run
from regard.cli import main

rate = loop.learning_rate

def happening(step, *others):
    rank, at, what = os.environ.get("HAPPENS", "0 0 -").split()
    if (rank, at, os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) == (os.environ["RANK"], str(step), "0"):
        if what == "fault":
            raise ValueError("something that happens to one process alone")
        os.kill(os.getpid(), signal.Signals[what])
    return rate(step, *others)

loop.learning_rate = happening

def launch(words, processes, happens="0 0 -"):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    world = {"WORLD_SIZE": processes, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "HAPPENS": happens}
    children = []
    for rank in range(processes):
        if not (child := os.fork()):
            os.environ |= {k: str(v) for k, v in {**world, "RANK": rank, "LOCAL_RANK": rank}.items()}
            main(words)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

def halfway(run, to):
    shutil.copytree(run, to, ignore=lambda folder, names: ["training.safetensors"] if folder == run else [])
    os.rename(f"{to}/training.previous.safetensors", f"{to}/training.safetensors")

if "RANK" in os.environ:  # started by torchrun itself
    main(sys.argv[1:])
import torch._dynamo, torch.distributed.checkpoint.hf_storage, torch.distributed.fsdp, torch.utils.tensorboard
import rich._emoji_codes, sacrebleu.metrics.bleu, tabulate, typer.main
done = [halfway(*given) if isinstance(given[1], str) else launch(*given) for given in json.loads(sys.argv[1])]
print("codes", json.dumps([codes for codes in done if codes]))
"""


def words(folder: Path, run: str, flags: str) -> list[str]:
    src, tgt, dev_src, dev_tgt = (folder / name for name in ("a.en", "a.fr", "dev.en", "dev.fr"))
    data = f"--src {src} --tgt {tgt} --dev-src {dev_src} --dev-tgt {dev_tgt}"
    return f"train {data} {SIZES} {PACE} {flags} --out {folder / run}".split()


def write_corpus(folder: Path) -> None:
    for path in write_lines(folder):
        few = path.read_text(encoding="utf-8").splitlines(keepends=True)[:2]
        path.with_stem("dev").write_text("".join(few), encoding="utf-8")


def launch(*given: tuple[Any, ...]) -> tuple[list[list[int]], str]:
    """Exit codes of every scenario's processes, and all that they said."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LAUNCH, json.dumps(given)], capture_output=True, timeout=200, check=False
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, said
    return json.loads(
        next(line for line in said.splitlines() if line.startswith("codes ")).removeprefix("codes ")
    ), said


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """All runs that the tests look at, in one folder, and what they said."""
    home = tmp_path_factory.mktemp("distributed")
    write_corpus(home)

    def run(name: str) -> str:
        return str(home / name)

    codes, said = launch(
        (words(home, "one", f"{PLAIN} --accumulate 2"), 1),
        (words(home, "two", PLAIN), 2),
        (words(home, "one-rows", f"{ROWS} 128"), 1),
        (words(home, "two-rows", f"{ROWS} 64"), 2),
        (words(home, "spread", f"{ROWS} 64 --parallel fsdp"), 2),
        (words(home, "noisy", NOISY), 2),
        (words(home, "noisy-spread", f"{NOISY} --parallel fsdp"), 2),
        (run("two-rows"), run("two-rows-alone")),
        (run("two-rows"), run("two-rows-changed")),
        (run("spread"), run("spread-alone")),
        (run("noisy-spread"), run("resumed")),
        (["resume", run("resumed")], 2),
        (["resume", run("two-rows-changed"), "--parallel", "fsdp", "--override"], 2),
        (words(home, "stopped", PLAIN), 2, "1 4 SIGTERM"),
        (["resume", run("stopped")], 3),
        (words(home, "fault", PLAIN), 2, "1 9 fault"),
        (words(home, "fault", PLAIN), 2),  # the folder is taken: the first says so, the other leaves
        (["train", *words(home, "x", PLAIN)[1:-2]], 2),
    )
    fine = [[0], [0, 0], [0], *[[0, 0]] * 4, [0, 0], [0, 0]]
    assert codes == [*fine, [130, 130], [0, 0, 0], [2, 1], [2, 2], [2, 2]], said
    return home, " ".join(said.split())


@pytest.fixture(scope="module")
def home(ran: tuple[Path, str]) -> Path:
    return ran[0]


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "last" / "model.safetensors")


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def assert_alike(a: Path, b: Path, metrics_too: bool = True) -> None:
    """To rounding: sums are taken in another order. A key's bias has the gradient 0, of which Adam makes noise."""
    mine, others = ({n: t for n, t in weights(run).items() if not n.endswith("key.bias")} for run in (a, b))
    torch.testing.assert_close(mine, others, rtol=1e-3, atol=2e-5)
    if not metrics_too:
        return
    for one, other in zip(metrics(a), metrics(b), strict=True):
        assert one.keys() == other.keys()
        for name in one.keys() & {"loss", "norm", "flops", "tokens", "perplexity"}:
            assert other[name] == pytest.approx(one[name], rel=1e-4), (one["step"], name)


def assert_same(a: Path, b: Path) -> None:
    """To the last bit, random state included."""
    first, second = load_checkpoint(a), load_checkpoint(b)
    tensors, others = first.tensors, second.tensors
    assert tensors.keys() == others.keys()
    assert [name for name in tensors if not torch.equal(tensors[name], others[name])] == []
    first.progress.seconds = second.progress.seconds = 0.0
    assert first.progress == second.progress


@pytest.mark.parametrize(("one", "two"), [("one", "two"), ("one-rows", "two-rows"), ("two-rows", "spread")])
def test_two_processes_equal_one_with_twice_the_batch(home: Path, one: str, two: str) -> None:
    assert_alike(home / one, home / two)


def test_each_process_has_a_random_state_of_its_own(home: Path) -> None:
    states = {n: t for n, t in load_checkpoint(home / "noisy").tensors.items() if n.startswith("random:")}
    assert sorted(states) == ["random:cpu", "random:cpu.1"]
    assert not torch.equal(states["random:cpu"], states["random:cpu.1"])
    assert_alike(home / "noisy", home / "noisy-spread")  # the same states in both kinds


def test_spread_weights_are_in_every_process_file(home: Path) -> None:
    files = sorted((home / "spread" / CURRENT).glob("*.safetensors"))
    assert len(files) == 2
    parts = [load_file(file) for file in files]
    name = next(n for n in parts[1] if n.startswith("model:") and parts[1][n].dim() == 2)
    whole = load_checkpoint(home / "spread").tensors[name]
    torch.testing.assert_close(torch.cat([part[name] for part in parts]), whole, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["two-rows", "spread"])
def test_a_checkpoint_of_two_goes_on_in_one(home: Path, name: str) -> None:
    alone = home / f"{name}-alone"
    assert load_checkpoint(alone).progress.step == 6
    resume(alone, [("batch_tokens", "128")], override=True)  # the batches of both together
    assert_alike(alone, home / name, metrics_too=False)
    assert (alone / CURRENT).is_file()


def test_a_checkpoint_of_two_goes_on_in_two_exactly_and_in_three(home: Path) -> None:
    assert_same(home / "resumed", home / "noisy-spread")
    assert_alike(home / "two-rows-changed", home / "two-rows")  # a whole checkpoint, spread on its way in
    progress = load_checkpoint(home / "stopped").progress
    assert (progress.step, progress.processes) == (12, 3)


def test_a_stop_asked_of_one_stops_all(ran: tuple[Path, str]) -> None:
    home, said = ran
    assert said.count("interrupted after step 4, saved; to continue: regard resume") == 1
    assert f"resuming {home / 'stopped'} after step 4" in said


def test_only_the_first_process_speaks(ran: tuple[Path, str]) -> None:
    assert ran[1].count("finished; to use it") == 10
    assert ran[1].count("already holds a run") == 1


def test_a_fault_in_one_hangs_none(ran: tuple[Path, str]) -> None:
    home, said = ran
    assert load_checkpoint(home / "fault").progress.step == 6
    assert "lost contact with another process" in said
    assert "add --out FOLDER" in said


def test_torchrun_starts_a_killed_run_again_and_it_goes_on_exactly(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH, encoding="utf-8")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    flags = words(home, "noisy", NOISY)[:-1]  # the same data, another folder
    done = subprocess.run(
        [*torchrun, "--max-restarts", "1", str(script), *flags, str(tmp_path / "killed")],
        env={**os.environ, "HAPPENS": "1 9 SIGKILL"},
        capture_output=True,
        timeout=200,
        check=False,
    )
    said = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, said
    assert "after step 6" in " ".join(said.split())
    assert_same(tmp_path / "killed", home / "noisy")
    same = [{k: v for k, v in row.items() if k != "tokens_per_second"} for row in metrics(tmp_path / "killed")]
    assert same == [{k: v for k, v in row.items() if k != "tokens_per_second"} for row in metrics(home / "noisy")]


def test_a_damaged_part_is_named(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "spread", tmp_path / "run")
    part = sorted((tmp_path / "run" / CURRENT).glob("*.safetensors"))[1]
    raw = bytearray(part.read_bytes())
    raw[-50] ^= 1
    part.write_bytes(raw)
    with pytest.raises(RunError, match=f"checksum of {part.name}.*--previous"):
        load_checkpoint(tmp_path / "run")
    assert load_checkpoint(tmp_path / "run", previous=True).progress.step == 6


def test_positions_for_another_number_of_processes() -> None:
    assert for_processes(Progress(index=9, processes=2), 3) == Progress(index=6, processes=3)
    assert for_processes(Progress(index=9, processes=2, shared_rows=True), 3) == Progress(
        index=9, processes=3, shared_rows=True
    )


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Transformer(TransformerConfig(width=8, heads=2, inner=8, encoder_layers=1, decoder_layers=1), 9, 9, True)
    with pytest.raises(RecipeError, match=r"fsdp, which shards matrices, but train\.optimizer muon needs them whole"):
        wrap_model(model, TrainConfig(parallel="fsdp", optimizer="muon"), ProcessGroup(0, 2))
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(RunError, match="RANK is not set; start it with torchrun"), join_processes(TrainConfig()):
        pass
