"""`regard translate` and its input: lines of a pipe as they come, and texts with line breaks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from regard.bulk.rows import OutputForm, formatted
from regard.translation.translation import Candidate, Translation
from support import LINES, Call


@contextmanager
def translating(model: Path | str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """A process that translates what is written to it."""
    command = [sys.executable, "-m", "regard", "translate", "--model", str(model), "--device", "cpu"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process, process.stdin, process.stdout
        finally:
            process.kill()


@pytest.mark.usefixtures("quick_processes")
def test_each_line_of_a_pipe_is_answered_before_the_next_is_written(run_folder: Path) -> None:
    with translating(run_folder) as (process, given, answered):
        for source, target in LINES[:3]:
            given.write(f"{source}\n".encode())
            given.flush()
            assert answered.readline().decode() == target + "\n"
        given.write(b"The cat sleeps.")  # a last line without an end
        given.close()
        assert answered.read().decode() == "Le chat dort.\n"
        assert process.wait(60) == 0


def test_an_error_ends_the_process_although_its_input_is_open(tmp_path: Path) -> None:
    with translating(tmp_path / "nothing") as (process, given, _):
        given.write(b"The cat sleeps.\n")
        given.flush()
        assert process.wait(60) == 2
        assert process.stderr is not None
        assert process.stderr.read().decode().count("\n") == 1


@pytest.mark.parametrize("text", ["The cat sleeps.\nThe cat sleeps.", "The cat sleeps.\r\n😀", "\n", "  "])
def test_the_line_breaks_of_a_text_stay_as_they_are(call: Call, run_folder: Path, text: str) -> None:
    code, out, _ = call("translate", "--model", run_folder, "--mend", text, LINES[0][0])
    assert code == 0
    assert out == f"{text.replace(LINES[0][0], LINES[0][1])}\n{LINES[0][1]}\n"


def test_json_has_no_nan() -> None:
    odd = Candidate("x", float("nan"), float("-inf"), ())
    row = formatted(0, Translation("a", "x", float("nan"), float("-inf"), (odd,)), OutputForm(as_json=True))
    found = json.loads(row, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    assert found["score"] is None
    assert found["nbest"] == [{"text": "x", "score": None, "log_prob": None}]
