"""`regard translate --input FILE --out FILE`: kills, workers, shares, forms of output, and what is refused."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.bulk import chunks
from regard.cli.progress import FileProgress
from regard.translator import Translator
from support import LINES, Call

SOURCES = [source for source, _ in LINES]
TARGETS = [target for _, target in LINES]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.en"
    path.write_text("".join(f"{line}\n" for line in SOURCES * 3))
    return path


KILLED = """
import os, sys
from regard.bulk import chunks, partial_output
from regard.cli import main

add = partial_output.PartialOutput.add
chunks.MAX_CHUNK_LINES = 5

def add_and_die(self, *given):
    add(self, *given)
    if self.done == 2:
        os.kill(os.getpid(), 9)

partial_output.PartialOutput.add = add_and_die
main(sys.argv[1:])
"""


@pytest.mark.usefixtures("quick_processes")
def test_a_process_that_is_killed_goes_on(
    run_folder: Path, source: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.gz"
    words = ["translate", "--model", run_folder, "--input", source, "--out", out, "--device", "cpu"]
    killed = subprocess.run([sys.executable, "-c", KILLED, *map(str, words)], capture_output=True, check=False)
    assert killed.returncode == -9
    assert not out.exists()
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 5)
    done = call(*words)
    assert done.code == 0
    assert done.err.startswith("regard: resuming after line 10 of 24, where an earlier run stopped\n")
    assert gzip.decompress(out.read_bytes()).decode().splitlines() == TARGETS * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "out.gz"]


@pytest.mark.usefixtures("quick_processes")
def test_workers_and_shares_give_what_one_process_gives(
    run_folder: Path, source: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 5)
    given = ["translate", "--model", run_folder, "--input", source, "--device", "cpu"]
    assert call(*given, "--out", tmp_path / "two", "--workers", "2").code == 0
    for rank in "10":
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "2")
        assert call(*given, "--out", tmp_path / "shared").code == 0
    assert (tmp_path / "two").read_text().splitlines() == TARGETS * 3
    assert (tmp_path / "shared").read_bytes() == (tmp_path / "two").read_bytes()


def test_alignments_and_token_scores(run_folder: Path, translator: Translator, call: Call) -> None:
    given = ["translate", "--model", run_folder, "--device", "cpu", "--split", "lines"]
    plain = call(*given, "--alignments", *SOURCES, "").out.splitlines()
    assert [line.partition(" ||| ")[0] for line in plain] == [*TARGETS, ""]
    assert plain[0].partition(" ||| ")[2] == str(translator.align(SOURCES[0]))
    listed = call(*given, "--alignments", "--nbest", "2", "--beam", "2", SOURCES[0]).out.splitlines()
    assert all(len(row.split(" ||| ")) == 4 for row in listed)
    assert listed[0].endswith(plain[0].partition(" ||| ")[2])
    (row,) = (
        json.loads(line)
        for line in call(*given, "--json", "--alignments", "--token-scores", SOURCES[0]).out.splitlines()
    )
    assert row["alignment"] == row["nbest"][0]["alignment"] == plain[0].partition(" ||| ")[2]
    assert row["target_words"] == ["Le", "chat", "dort", "."]
    tokens = row["sentences"][0]["tokens"]
    assert tokens == row["nbest"][0]["tokens"]
    assert tokens[-1][0] == "</s>"
    assert sum(value for _, value in tokens) == pytest.approx(row["nbest"][0]["log_prob"], abs=1e-4)


def test_a_table_goes_to_standard_output_in_chunks(
    run_folder: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 3)
    (tmp_path / "a.tsv").write_text("".join(f"{i}\t{line}\n" for i, line in enumerate(SOURCES)))
    report = tmp_path / "r.jsonl"
    answer = call(
        "translate", "--model", run_folder, "--input", tmp_path / "a.tsv", "--column", "2", "--report", report
    )
    assert answer.code == 0
    assert answer.out == "".join(f"{i}\t{line}\n" for i, line in enumerate(TARGETS))
    assert json.loads(report.read_text().splitlines()[-1])["place"] == "line 8, column 2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--workers", "2", "a"], "--workers is for a file that is translated into another"),
        (["--restart", "a"], "--restart is for a file"),
        (["--token-scores", "a"], "ask for JSON too (--token-scores, --json)"),
        (["--alignments", "--nbest", "2", "a"], "split must be \"lines\" for them, but is 'sentences'"),
        (["--workers", "0", "a"], "--workers must be a whole number from 1 to 256, but is 0"),
    ],
)
def test_what_is_refused(words: list[str], said: str, call: Call) -> None:
    answer = call("translate", *words)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_former_journal_names_the_flag(run_folder: Path, source: Path, tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "out.partial"
    folder.mkdir()
    (folder / "journal").write_text('{"version of regard": "0.2.0"}\n[0,1,5,0,{"texts":1}]\n')
    given = ["translate", "--model", run_folder, "--input", source, "--out", tmp_path / "out", "--device", "cpu"]
    answer = call(*given)
    assert answer.code == 2
    assert "was written by another version of regard; restart" in answer.err
    assert "(--restart)" in answer.err
    assert answer.err.count("\n") == 1
    assert call(*given, "--restart").code == 0
    assert not folder.exists()


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    monkeypatch.setattr("regard.cli.progress.time.monotonic", lambda: now[0])
    progress = FileProgress(True, terminal=False)
    for second in range(0, 1800, 10):
        now[0] = second
        progress.lines(100 * second, 200_000)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "regard: 7,000 of 200,000 lines, 100 lines/s, 32:10 left"
    assert len(said) == 10  # every minute, then every ten
