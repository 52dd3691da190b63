"""The benchmark of files at scale, with few lines: real processes, killed at random moments."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import LINES, load_script

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "files_at_scale.py"


@pytest.mark.long
def test_restarts_give_the_output_of_one_run(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "a.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in LINES))
    words = [
        str(data),
        "--lines",
        "20000",
        "--kills",
        "2",
        "--speed-lines",
        "0",
        "--suffix",
        ".zst",
        "--kill-after",
        "2",
        "5",
    ]
    load_script(SCRIPT).main([*words, "--", "--model", str(run_folder), "--device", "cpu"])
    said = capsys.readouterr().out
    assert "output identical: True; report identical: True" in said
    assert "left over: []" in said
