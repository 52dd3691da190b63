"""Files appear whole or not at all, and what killed processes left half written does not stay."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from regard.errors import BundleError
from regard.files import write_atomically


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_leftovers_of_dead_processes_are_removed_and_those_of_others_are_not(tmp_path: Path, dead: int) -> None:
    path = tmp_path / "a[1].json"
    gone = tmp_path / f".a[1].json.{dead}.tmp"
    kept = [
        tmp_path / f".a[1].json.{os.getppid()}.tmp",  # its process lives
        tmp_path / f".b.json.{dead}.tmp",  # another file's
        tmp_path / ".a[1].json.tmp",
        tmp_path / ".a[1].json.mine.tmp",
    ]
    for leftover in [gone, *kept]:
        leftover.write_text("half")
    write_atomically(path, lambda place: place.write_text("whole"))
    assert path.read_text() == "whole"
    assert not gone.exists()
    assert all(leftover.exists() for leftover in kept)


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def fail(place: Path) -> None:
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(BundleError, match="No space left"):
        write_atomically(path, fail)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.json", "before")]
