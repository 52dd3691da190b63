"""A learner's progress in a folder: what is written is read again, and what is unknown is dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.course.lessons.load import lesson
from regard.course.lessons.progress import FILE, read_progress, write_progress
from regard.errors import InputError
from regard.files import user_data


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert read_progress(folder) == {"lessons": {}}
    known = lesson(4).exercises[0].id
    given = {"lessons": {"4": {"done": True, "exercises": [known, "gone"]}, "99": {"done": True, "exercises": []}}}
    written = {"lessons": {"4": {"done": True, "exercises": [known]}}}
    assert write_progress(folder, given) == written
    assert read_progress(folder) == written


@pytest.mark.parametrize("damaged", ["{", "[]", '{"lessons": 3}', '{"lessons": {"4": true}}', ""])
def test_a_damaged_file_is_named(tmp_path: Path, damaged: str) -> None:
    (tmp_path / FILE).write_text(damaged, encoding="utf-8")
    with pytest.raises(InputError, match=r"course\.json cannot be read as progress in the course; remove it"):
        read_progress(tmp_path)


def test_the_folder_is_that_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_data() == tmp_path / "regard"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_data() == tmp_path / ".local" / "share" / "regard"
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "own"))
    assert user_data() == tmp_path / "own"
