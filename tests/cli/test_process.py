"""A command as a process: exit codes, signals, streams, and no control characters on a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import ABOUT, Call, is_running, wait_for, write_lines

REGARD = [sys.executable, "-m", "regard"]
HOSTILE = "\x1b]0;title\x07\x9b2J\u202e\rX"


def test_ctrl_c_while_the_command_line_is_imported(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(10)\nraise SystemExit('not ended')\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [*REGARD, "--version"], env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr.decode(), done.stdout) == (130, "", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_class_is_made(tmp_path: Path, number: signal.Signals) -> None:
    """Dataclasses are made by `exec`, after which Python would end by SIGINT whatever code it was given."""
    stop = f"import os; os.kill(os.getpid(), {int(number)}); [None for _ in range(10**7)]"
    (tmp_path / "typer.py").write_text(f"from typing import Any\nexec({stop!r})\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    words = [*REGARD, "--version"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.decode(), done.stdout) == (130, "", b"")


def test_a_swallowed_signal_comes_again(tmp_path: Path) -> None:
    """A library's bare `except` may get the first one; what runs because of the interrupt is left in peace."""
    (tmp_path / "typer.py").write_text(
        "import os, signal, sys, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGHUP); time.sleep(9)\nexcept: pass\n"
        "try:\n    time.sleep(30)\nfinally:\n    time.sleep(1); print('cleared up', flush=True)\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    words = [*REGARD, "--version"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr.decode(), done.stdout) == (130, "", b"cleared up\n")


@pytest.mark.usefixtures("quick_processes")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGHUP))]
)
def test_a_stopped_command_leaves_no_temporary_file(tmp_path: Path, run_folder: Path, number: signal.Signals) -> None:
    out = tmp_path / "out.fr"
    words = ["translate", "--model", str(run_folder), "--output", str(out), "--device", "cpu"]
    with subprocess.Popen([*REGARD, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"The cat sleeps.\n" * 3)
        process.stdin.flush()
        assert wait_for(lambda: list(tmp_path.glob(".out.fr.*.tmp")))
        process.send_signal(number)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ("translate <&-", 2, "regard: standard input is empty; give texts, --input FILE, or pipe some text in\n"),
        ("--version >&-", 2, "regard: output cannot be written: Bad file descriptor\n"),
        ("corpus --out {out} --size 1000 <&- 2>&-", 0, ""),
        ("translate {out} --beam 0 2>&-", 2, ""),
    ],
)
def test_closed_streams(tmp_path: Path, words: str, code: int, line: str) -> None:
    command = f"{shlex.join(REGARD)} {words.format(out=tmp_path / 'out')}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.decode()) == (code, line)


def test_no_control_characters_in_error_lines(call: Call) -> None:
    answer = call("info", f"no{HOSTILE}model")
    assert answer.code == 2
    assert acting(answer.err) == []
    assert len(answer.err.splitlines()) == 1


@pytest.fixture
def hostile(tmp_path: Path, run_folder: Path) -> Path:
    folder = tmp_path / "hostile"
    shutil.copytree(run_folder / "best", folder)
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    card["about"] = {**tomllib.loads(ABOUT), "languages": [f"English{HOSTILE}", "French\nregard: all is well"]}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return folder


def test_a_card_cannot_act_on_a_terminal(hostile: Path, call: Call) -> None:
    answer = call("info", hostile)
    assert answer.code == 0, answer.err
    assert "English" in answer.out
    assert acting(answer.out) == []
    assert "regard: all is well" not in answer.out.splitlines()


@pytest.mark.usefixtures("quick_processes")
@pytest.mark.parametrize("to_terminal", [True, False])
def test_a_translation_cannot_act_on_a_terminal_but_is_kept_in_a_pipe(run_folder: Path, to_terminal: bool) -> None:
    """A line without letters is its own translation."""
    words = ["translate", "--model", str(run_folder), "--mend", "--device", "cpu", "12:30\x1b[2\x07"]
    done = on_terminal(*words) if to_terminal else subprocess.check_output([*REGARD, *words]).decode()
    assert done == ("12:30\ufffd[2\ufffd\r\n" if to_terminal else "12:30\x1b[2\x07\n")


def on_terminal(*words: str) -> str:
    """What a terminal gets, as a command's standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*REGARD, *words], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux reports the end
        while some := os.read(ours, 65536):
            shown += some
    os.close(ours)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    return shown.decode()


def acting(text: str) -> list[str]:
    return [c for c in text if (not c.isprintable()) and c != "\n"]


@pytest.mark.long
def test_a_killed_doctor_leaves_no_process(tmp_path: Path) -> None:
    src, tgt = write_lines(tmp_path, times=40)
    flags = "--preset tiny --vocab-size 360 --max-length 60 --steps 100000 --batch-tokens 300 --device cpu"
    words = ["doctor", "--src", str(src), "--tgt", str(tgt), *flags.split()]
    process = subprocess.Popen(
        [*REGARD, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    workers = wait_for(lambda: [pid for pid in session_of(process.pid) if pid != process.pid])
    assert workers
    process.kill()
    process.wait()
    assert wait_for(lambda: not any(is_running(pid) for pid in session_of(process.pid)))


def session_of(leader: int) -> list[int]:
    found = subprocess.check_output(["ps", "-A", "-o", "pid=,sess="], text=True)
    return [int(pid) for pid, session in map(str.split, found.splitlines()) if int(session) == leader]
