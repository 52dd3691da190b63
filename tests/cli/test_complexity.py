"""`regard complexity`: what it prints and writes, and one line for what it cannot do."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import typer

from regard.course.complexity.measure import MeasurementPlan
from regard.errors import InputError

command = importlib.import_module("regard.cli.course")

SMALL = ("--quick", "--lengths", "8,16,32", "--widths", "4,8,16")


def run(*words: str) -> None:
    """As the command line does, in an application of its own."""
    app = typer.Typer()
    app.command()(command.complexity)
    parsed = typer.main.get_command(app)
    with parsed.make_context("complexity", list(words)) as context:
        parsed.invoke(context)


def test_every_form_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, text = tmp_path / "c.html", tmp_path / "c.md"
    run(*SMALL, "--json", "--out", str(page), "--out", str(text), "--kernel", "2", "--window", "5")
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert (data["device"], data["threads"], data["kernel"], data["window"]) == ("cpu", 1, 2, 5)
    assert [row["over_n"]["sizes"] for row in data["rows"]] == [[8, 16, 32]] * 5
    assert data["rows"][3]["paths"]["dilated"]["counts"] == [3, 4, 5, 6]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert text.read_text(encoding="utf-8").startswith("# What a layer costs")
    assert f"regard: wrote {page}" in err


def test_plain_text_and_the_number_of_threads_is_set_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = torch.get_num_threads()
    quick = MeasurementPlan.quick  # its longest paths take seconds where two threads wait for each other
    monkeypatch.setattr(MeasurementPlan, "quick", lambda plan: replace(quick(plan), structure=(8, 16), repeats=1))
    run(*SMALL, "--threads", "2")
    out = capsys.readouterr().out
    assert out.startswith("What a layer costs: cpu, 2 threads, torch ")
    assert "Exponents of n (d = 32)" in out
    assert torch.get_num_threads() == before


def test_who_waits_is_told_what_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "QUIET_SECONDS", -1)
    run(*SMALL)
    assert "regard: recurrent: time and memory against n\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lengths", "64,32,128"), '--lengths must rise from one size to the next, but is "64,32,128"'),
        (("--widths", "8,8,16"), '--widths must rise from one size to the next, but is "8,8,16"'),
        (("--lengths", "8,16"), '--lengths needs 3 sizes or more to fit a line, but is "8,16"'),
        (
            ("--lengths", "8,x,32"),
            '--lengths must be whole numbers from 2 to 16,384 with commas between them, but is "8,x,32"',
        ),
        (
            ("--lengths", "1,2,4"),
            '--lengths must be whole numbers from 2 to 16,384 with commas between them, but is "1,2,4"',
        ),
        (
            ("--widths", "64,128,9000"),
            '--widths must be whole numbers from 2 to 8,192 with commas between them, but is "64,128,9000"',
        ),
        (("--device", "abacus"), 'device "abacus" is not available here; usable: auto, '),
        (("--threads", "0"), "--threads must be a whole number from 1 to 1,024, but is 0"),
        (("--kernel", "1"), "--kernel must be a whole number from 2 to 64, but is 1"),
        (("--window", "16"), "--window must be an odd number, but is 16"),
        (
            ("--out", "nowhere/at/all.html"),
            "nowhere/at/all.html cannot be written: nowhere/at is not a folder",
        ),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as caught:
        run("--quick", *words)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
