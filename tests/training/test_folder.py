"""A run's folder: one process at a time, nothing left behind, and a stop that loses nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from regard.errors import RunError
from regard.training.checkpoint import load_checkpoint
from regard.training.folder import LOCK, RunFolder
from support import Call, wait_for, write_lines

SIZES = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 340 --batch-tokens 120"
PACE = "--max-length 60 --steps 100000 --save-every 100000 --eval-every 100000 --device cpu"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    src, tgt = write_lines(tmp_path)
    return f"train --src {src} --tgt {tgt} {SIZES} {PACE} --dev-size 2 --out {tmp_path / 'run'}".split()


def is_training(run: Path) -> bool:
    return (run / "tensorboard").exists() and any((run / "tensorboard").iterdir())


@pytest.mark.long
def test_the_loser_of_two_is_told_of_the_other(tmp_path: Path, words: list[str], call: Call) -> None:
    run = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-m", "regard", *words], stderr=subprocess.PIPE) as first:
        assert wait_for(lambda: is_training(run))
        second = call(*words)
        verified = call("resume", run, "--verify")
        first.terminate()
        first.communicate(timeout=60)
    assert second.code == 2
    assert f"another process (pid {first.pid}) is training in {run}; wait for it, stop it, or choose" in second.err
    assert "remove" not in second.err
    assert "--out" in second.err
    assert verified.code == 2
    assert not (run / LOCK).exists()
    assert "already holds a run; continue it: regard resume" in call(*words).err


@pytest.mark.long
def test_a_closed_terminal_loses_nothing(tmp_path: Path, words: list[str]) -> None:
    """The terminal that a run was started in is closed: SIGHUP, and all that is written to it fails."""
    run = tmp_path / "run"
    pid, terminal = pty.fork()
    if not pid:
        os.execv(sys.executable, [sys.executable, "-m", "regard", *words])
    os.set_blocking(terminal, False)

    def training() -> bool:
        with contextlib.suppress(BlockingIOError):
            os.read(terminal, 65536)  # or the process waits for its reader
        return is_training(run)

    assert wait_for(training)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert load_checkpoint(run).progress.step > 0


def test_verifying_a_folder_that_is_no_run_leaves_it_as_it_was(tmp_path: Path, call: Call) -> None:
    done = call("resume", tmp_path, "--verify")
    assert done.code == 2
    assert "has only one checkpoint, or none" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_lock_holds_while_it_is_held_and_then_is_gone(tmp_path: Path) -> None:
    folder, other = RunFolder(tmp_path), RunFolder(tmp_path)
    with folder.locked():
        folder.check_unlocked()  # it is its own
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
        for refused in (other.check_unlocked, other.check_free, lambda: other.locked().__enter__()):
            with pytest.raises(RunError, match=rf"another process \(pid {os.getpid()}\) is training"):
                refused()
    assert list(tmp_path.iterdir()) == []
    with other.locked():
        pass


def test_half_written_files_of_killed_runs_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    folder = RunFolder(tmp_path)
    folder.best.mkdir()
    left = [tmp_path / f".training.safetensors.new.{ended.pid}.tmp", folder.best / f".card.json.{os.getpid()}.tmp"]
    kept = [tmp_path / f".card.json.{os.getppid()}.tmp", tmp_path / "notes.tmp"]
    for path in [*left, *kept]:
        path.write_text("half")
    with folder.locked():
        assert not any(path.exists() for path in left)
        assert all(path.exists() for path in kept)
