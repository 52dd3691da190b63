"""`regard course` lists the lessons, and serves one to this machine alone."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path

import pytest

from regard.cli.lessons import has_screen, is_free
from regard.course.lessons.load import lesson, lessons
from regard.course.lessons.progress import write_progress
from server_process import running
from support import Call


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_lessons_are_listed_with_what_is_done(call: Call, folder: Path) -> None:
    solved = [exercise.id for exercise in lesson(4).exercises][:1]
    write_progress(folder, {"lessons": {"4": {"done": True, "exercises": solved}}})
    code, out, _ = call("course")
    assert code == 0
    assert out.startswith("1 of 12 lessons done. To open one: regard course N\n")
    of_four = (
        f"✓  4  {lesson(4).title} · {lesson(4).minutes} minutes to read · 1 of {len(lesson(4).exercises)} exercises\n"
    )
    assert of_four in out
    assert len(re.findall(r"^[ ✓] [ 1]\d  ", out, re.MULTILINE)) == len(lessons())


def test_there_is_no_lesson_13(call: Call) -> None:
    code, _, err = call("course", 13)
    assert (code, err) == (2, "regard: there are lessons 1 to 12, but not 13\n")


def test_damaged_progress_is_one_line(call: Call, folder: Path) -> None:
    folder.mkdir()
    (folder / "course.json").write_text("{", encoding="utf-8")
    code, _, err = call("course")
    assert code == 2
    assert err.count("\n") == 1


def test_a_lesson_is_served_to_this_machine_and_progress_is_kept(folder: Path) -> None:
    words = ("course", "4", "--no-browser", "--port", "0")
    with running(words=words, env=os.environ | {"REGARD_DATA": str(folder)}) as server:
        assert f"lesson 4, {lesson(4).title}: http://127.0.0.1:{server.port}/#/lesson?lesson=4" in server.lines[-1]
        assert server.ask("/api/lessons").body["can"]["line"] is True
        assert server.ask("/api/progress").body == {"lessons": {}}
        done = {"lessons": {"4": {"done": True, "exercises": []}}}
        assert server.ask("/api/progress", done, method="PUT").body == done
        assert server.stop(signal.SIGTERM) == 0
    assert (folder / "course.json").exists()
    assert len(server.lines) == 1  # no line for each request


def test_a_port_in_use_is_found() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert not is_free("127.0.0.1", other.getsockname()[1])


def test_no_text_browser_takes_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_screen()
