"""Damaged files of an unfinished translation: refused or translated again, never a wrong file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bulk.fakes import Shouting
from regard.bulk import chunks
from regard.bulk import translate_file as translate_module
from regard.bulk.chunks import TranslationCounts
from regard.bulk.partial_output import ProcessShare, partial_folder
from regard.bulk.translate_file import FileJob, RunOptions, translate_file
from regard.bulk.translate_file import finish as finish_file
from regard.errors import InputError

TEXT = "".join(f"line {i}{' odd' * (i % 7 == 0)}\n" for i in range(20))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 3)
    path = tmp_path / "a.en"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("journal", "said"),
    [
        ("no JSON\n", ""),  # a single incomplete line: there is nothing to lose
        ("{}\n", ""),
        ("{}\n" * 3, "was written by another version of regard; restart, which discards"),
        ('{"model": 1}\n[0,3,21,0,{"texts":3}]\n', "was written by another version of regard; restart"),
        ("[]\n3\n", "is damaged in line 1; restart"),
    ],
)
def test_a_journal_of_another_form(source: Path, tmp_path: Path, journal: str, said: str) -> None:
    folder = partial_folder(tmp_path / "out")
    folder.mkdir()
    (folder / "journal").write_text(journal)
    if said:
        with pytest.raises(InputError, match=said):
            translate_file(Shouting(), FileJob(source), tmp_path / "out")
    translate_file(Shouting(), FileJob(source), tmp_path / "out", RunOptions(restart=bool(said)))
    assert (tmp_path / "out").read_text() == TEXT.upper()


class Unfinished(NamedTuple):
    job: FileJob
    out: Path
    report: bytes
    folders: list[Path]  # OUT.partial of a run that was stopped, and of one that was killed before it moved the output


@pytest.fixture
def unfinished(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Unfinished:
    monkeypatch.setattr(os, "fsync", lambda file: None)
    job, out, folders = FileJob(source, report=tmp_path / "report"), tmp_path / "out", list[Path]()
    translate_file(Shouting(), job, out)

    def stop(texts: Any) -> None:
        if "line 13" in texts:
            raise KeyboardInterrupt

    def killed(*given: Any) -> TranslationCounts:
        raise KeyboardInterrupt

    for finish, before in ((finish_file, stop), (killed, None)):
        monkeypatch.setattr(translate_module, "finish", finish)
        with pytest.raises(KeyboardInterrupt):
            translate_file(Shouting(before=before), job, out)
        folders.append(partial_folder(out).rename(tmp_path / f"{len(folders)}"))
    monkeypatch.setattr(translate_module, "finish", finish_file)
    return Unfinished(job, out, (tmp_path / "report").read_bytes(), folders)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=75, deadline=None)
@given(
    ended=st.booleans(),
    name=st.sampled_from(["journal", "output", "report"]),
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
    change=st.sampled_from(["changed", "removed", "inserted", "line doubled", "line removed", "lines swapped"]),
)
def test_damage_is_refused_or_translated_again(
    unfinished: Unfinished, ended: bool, name: str, place: float, byte: int, change: str
) -> None:
    """Never a wrong file."""
    job, out, report, folders = unfinished
    folder = partial_folder(out)
    for path in (out, job.report):
        assert path is not None
        path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(folders[ended], folder)
    data = (folder / name).read_bytes()
    lines = data.splitlines(keepends=True)
    at, line = int(place * len(data)), int(place * len(lines))
    new = {
        "changed": data[:at] + bytes([byte]) + data[at + 1 :],
        "removed": data[:at] + data[at + 1 :],
        "inserted": data[:at] + bytes([byte]) + data[at:],
        "line doubled": b"".join([*lines[: line + 1], *lines[line:]]),
        "line removed": b"".join([*lines[:line], *lines[line + 1 :]]),
        "lines swapped": b"".join([*lines[:line], *lines[line : line + 2][::-1], *lines[line + 2 :]]),
    }
    (folder / name).write_bytes(new[change])
    refused = None
    try:
        translate_file(Shouting(), job, out)
    except InputError as problem:
        refused = problem
    if refused:
        assert "is damaged" in str(refused)
        assert refused.parameters == ("restart",)
        assert not out.exists()
        translate_file(Shouting(), job, out, RunOptions(restart=True))
    assert out.read_text() == TEXT.upper()
    assert job.report is not None
    assert job.report.read_bytes() == report


@pytest.mark.parametrize("lost", ["output", "report"])
def test_a_finished_file_that_is_gone_is_not_reported_as_done(unfinished: Unfinished, lost: str) -> None:
    job, out, _, folders = unfinished
    for path in (out, job.report):
        assert path is not None
        path.write_text("of an earlier run")
    shutil.copytree(folders[True], partial_folder(out))
    (partial_folder(out) / lost).unlink()
    with pytest.raises(InputError, match="is damaged; restart"):
        translate_file(Shouting(), job, out)


def test_a_journal_of_another_process_is_refused(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_file(Shouting(), FileJob(source), out, RunOptions(share=ProcessShare(1, 2)))
    folder = partial_folder(out)
    for name in ("journal", "output", "report"):
        shutil.copy(folder / f"1-of-2.{name}", folder / f"0-of-2.{name}")
    with pytest.raises(InputError, match=r"has 18 lines in 6 chunks, not all 20; restart"):
        translate_file(Shouting(), FileJob(source), out, RunOptions(share=ProcessShare(0, 2)))
    assert not out.exists()
