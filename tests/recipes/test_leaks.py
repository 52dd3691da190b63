"""recipes/box/leaks.py: held-out sentences in training files are counted, and end the script with 1."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support import load_script, write

SCRIPT = Path(__file__).parents[2] / "recipes" / "box" / "leaks.py"
LONG = "One two three four five six seven eight nine ten."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / "tests" / "flores.en", "The sun shines.", LONG)
    write(tmp_path / "en-fr" / "dev.fr", "Le soleil brille.")
    write(tmp_path / "en-fr" / "train.en", "A house.", f"So: {LONG}")
    write(tmp_path / "mono" / "fr.txt", "Une maison.")
    write(tmp_path / "mono" / "fr.report.txt", "the sun shines")  # no training file
    return tmp_path


class OneProcess:
    """Stands for a pool of processes."""

    map = staticmethod(map)

    def __enter__(self) -> OneProcess:
        return self

    def __exit__(self, *_: object) -> None: ...


def run(data: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> object:
    leaks = load_script(SCRIPT)
    monkeypatch.setattr(leaks, "ProcessPoolExecutor", OneProcess)
    monkeypatch.setattr(sys, "argv", ["leaks.py", str(data), *more])
    with pytest.raises(SystemExit) as end:
        leaks.main()
    return end.value.code


def test_no_sentence_leaks(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert not run(data, monkeypatch)
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "|" in line]
    cells = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}
    assert cells["tests/flores.en"] == ["2", "0", "1"]
    assert cells["en-fr/dev.fr"] == ["1", "0", "0"]
    assert cells["en-fr/train.en"] == ["2", "0", "1", "0"]
    assert "mono/fr.report.txt" not in cells


def test_a_leak_on_the_other_side(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path / "made.txt", "le soleil BRILLE")
    assert run(data, monkeypatch, str(tmp_path / "made.txt")) == 1
    assert "| en-fr/dev.fr | 1 | 1 | 0 |" in capsys.readouterr().out
