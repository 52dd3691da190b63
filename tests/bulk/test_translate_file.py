"""Files in chunks: kills at every moment, other work in the way, several processes, compression, every format."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bulk.fakes import Shouting, make_dying, make_refusing, make_shouting
from regard.bulk import chunks
from regard.bulk.chunks import TranslationCounts
from regard.bulk.journal import read_journal
from regard.bulk.partial_output import PartialOutput, ProcessShare, partial_folder
from regard.bulk.rows import OutputForm
from regard.bulk.translate_file import FileJob, RunOptions, translate_file
from regard.data.compressed import COMPRESSED
from regard.errors import InputError
from regard.workers import WorkerKilledError

TEXT = "".join(f"line {i}{' odd' * (i % 7 == 0)}\n" for i in range(20))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 3)
    monkeypatch.setattr("regard.bulk.translate_file.MAX_CHUNK_LINES", 3)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.en"
    path.write_text(TEXT)
    return path


def translate(
    source: Path, out: Path, translator: Any = None, run: RunOptions | None = None, **job: Any
) -> TranslationCounts:
    return translate_file(translator or Shouting(), FileJob(source, **job), out, run or RunOptions())


def killed_at(call: int, source: Path, out: Path, report: Path) -> bool:
    """Translate in a process that is killed at the n-th call that syncs or renames, before or after it; whether it was
    killed before it had finished."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads: the child uses none of them
        child = os.fork()
    if child == 0:
        left = [call]

        def deadly(real: Any) -> Any:
            def done(*given: Any) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                found = real(*given)
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return found

            return done

        try:
            os.fsync, os.replace = deadly(os.fsync), deadly(os.replace)
            Path.replace = lambda self, to: os.replace(self, to)  # type: ignore # noqa: PTH105
            translate(source, out, report=report)
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 9)
    return code == 9


@pytest.mark.long
def test_a_kill_at_any_moment_loses_and_doubles_nothing(source: Path, tmp_path: Path) -> None:
    source.write_text("one\n" * 3 + "two\n" * 3 + "odd\n")
    whole, report = tmp_path / "whole.gz", tmp_path / "whole.jsonl"
    expected = translate(source, whole, report=report)
    out, rows = tmp_path / "out.gz", tmp_path / "rows.jsonl"
    call = 0
    while True:
        call += 1
        if not killed_at(call, source, out, rows):
            break
        assert not out.exists() or out.read_bytes() == whole.read_bytes()
        journal = read_journal(partial_folder(out) / "journal")
        lines = sum(entry.lines for entry in journal.entries) if journal else 0
        again = Shouting()
        assert translate(source, out, again, report=rows) == expected
        assert len(again.seen) == 7 - lines  # what was done is not done again
        assert out.read_bytes() == whole.read_bytes()
        assert rows.read_bytes() == report.read_bytes()
        assert not partial_folder(out).exists()
        out.unlink()
        rows.unlink()
    assert call > 30


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(cut=st.integers(0, 2000), garbage=st.binary(max_size=20), lost=st.integers(0, 60))
def test_any_state_of_the_files_that_a_stop_can_leave(
    source: Path, tmp_path: Path, cut: int, garbage: bytes, lost: int
) -> None:
    """The journal ends anywhere, the output holds more than it says, or less where the machine itself went down."""
    out = tmp_path / "out"

    def stop(texts: Any) -> None:
        if "line 13" in texts:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate(source, out, Shouting(before=stop), run=RunOptions(restart=True))
    folder = partial_folder(out)
    journal, output = folder / "journal", folder / "output"
    os.truncate(journal, min(cut, journal.stat().st_size))
    if lost:
        os.truncate(output, max(0, output.stat().st_size - lost))
    else:
        with output.open("ab") as file:
            file.write(garbage)
    translate(source, out)
    assert out.read_text() == TEXT.upper()


def test_what_was_done_is_not_done_again(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def stop(texts: Any) -> None:
        if "line 13" in texts:
            raise KeyboardInterrupt

    said: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        translate(source, out, Shouting(before=stop))
    again = Shouting()
    translate(source, out, again, RunOptions(resumed=lambda *lines: said.append(lines)))
    assert again.seen == TEXT.splitlines()[12:]
    assert said == [(12, 20)]


def test_an_interruption_before_the_first_chunk_leaves_nothing(source: Path, tmp_path: Path) -> None:
    def stop(texts: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate(source, tmp_path / "out", Shouting(before=stop))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en"]


@pytest.mark.parametrize("changed", ["input", "option", "form", "model", "report"])
def test_other_work_is_refused_and_restart_discards_it(source: Path, tmp_path: Path, changed: str) -> None:
    out, model = tmp_path / "out", tmp_path / "model"
    model.mkdir()
    (model / "weights").write_text("1")

    def stop(texts: Any) -> None:
        if "line 9" in texts:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate(source, out, Shouting([model], stop), options={"beam": 4})
    job: dict[str, Any] = {"options": {"beam": 4}}
    if changed == "input":
        source.write_text(TEXT.replace("line 1\n", "line one\n"))
    elif changed == "option":
        job["options"] = {"beam": 5}
    elif changed == "form":
        job["form"] = OutputForm(as_json=True)
    elif changed == "model":
        (model / "weights").write_text("2")
    else:
        job["report"] = tmp_path / "r.jsonl"
    with pytest.raises(InputError, match=r"contains an unfinished translation with another .*restart") as error:
        translate(source, out, Shouting([model]), **job)
    assert error.value.parameters == ("restart",)
    assert not out.exists()
    tally = translate(source, out, Shouting([model]), RunOptions(restart=True), **job)
    assert tally.texts == 20
    assert out.exists()
    assert not partial_folder(out).exists()


def test_a_second_process_is_refused(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with PartialOutput(out, ProcessShare(), {}):
        for restart in (False, True):
            with pytest.raises(InputError, match=rf"another process \(pid {os.getpid()}\) is writing .*out"):
                translate(source, out, run=RunOptions(restart=restart))
    translate(source, out, run=RunOptions(restart=True))


def test_a_folder_of_someone_else_is_left_alone(source: Path, tmp_path: Path) -> None:
    folder = partial_folder(tmp_path / "out")
    folder.mkdir()
    (folder / "thesis.tex").write_text("x")
    for restart in (False, True):
        with pytest.raises(InputError, match=r"holds thesis\.tex, which is not of a translation; rename it"):
            translate(source, tmp_path / "out", run=RunOptions(restart=restart))
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]


def test_an_input_that_changes_meanwhile_is_not_finished(source: Path, tmp_path: Path) -> None:
    def change(texts: Any) -> None:
        source.write_text(TEXT + "more\n")

    with pytest.raises(InputError, match="has changed while it was translated"):
        translate(source, tmp_path / "out", Shouting(before=change))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", sorted(COMPRESSED))
def test_compressed_in_and_out(tmp_path: Path, suffix: str) -> None:
    source, out = tmp_path / f"a.en{suffix}", tmp_path / f"a.fr{suffix}"
    with COMPRESSED[suffix](source, "wb") as file:
        file.write(TEXT.encode())
    translate(source, out)
    with COMPRESSED[suffix](out, "rb") as file:
        assert file.read().decode() == TEXT.upper()


@pytest.mark.long
def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MAX_CHUNK_LINES", 200)
    peaks = []
    for lines in (1_000, 1_000, 5_000):
        (tmp_path / "a.en").write_text("an odd line of some words\n" * lines)
        tracemalloc.start()
        translate(tmp_path / "a.en", tmp_path / "out", Shouting(keep=False), report=tmp_path / "r.jsonl")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


# ── several processes ────────────────────────────────────────────────────────────────────────────────────────────────


def test_workers_keep_the_order_and_the_report(source: Path, tmp_path: Path) -> None:
    one = translate(source, tmp_path / "one", report=tmp_path / "one.jsonl")
    done: list[int] = []
    run = RunOptions(2, make_shouting, progress=lambda lines, total: done.append(lines))
    two = translate(source, tmp_path / "two", run=run, report=tmp_path / "two.jsonl")
    assert one == two
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert done == [3, 6, 9, 12, 15, 18, 20]


def test_a_killed_worker_names_its_lines_and_leaves_what_can_go_on(tmp_path: Path) -> None:
    source, out = tmp_path / "a.en", tmp_path / "out"
    source.write_text(TEXT.replace("line 16\n", "die\n"))
    with pytest.raises(WorkerKilledError, match=r"had lines 16 to 18, was killed by SIGKILL.*lines are kept"):
        translate(source, out, run=RunOptions(2, make_dying))
    again = Shouting()
    translate(source, out, again)
    assert out.read_text() == source.read_text().upper()
    assert "line 0" not in again.seen


def test_an_error_of_a_worker_comes_when_its_turn_comes(tmp_path: Path) -> None:
    source, out = tmp_path / "a.en", tmp_path / "out"
    source.write_text(TEXT.replace("line 10\n", "bad\n"))
    with pytest.raises(InputError, match="this text is bad"):
        translate(source, out, run=RunOptions(2, make_refusing))
    journal = read_journal(partial_folder(out) / "journal")
    assert journal is not None
    assert [entry.number for entry in journal.entries] == [0, 1, 2]


@pytest.mark.parametrize("world", [2, 3, 9])
def test_processes_that_share_a_file(source: Path, tmp_path: Path, world: int) -> None:
    one, out = tmp_path / "one.gz", tmp_path / "out.gz"
    expected = translate(source, one, report=tmp_path / "one.jsonl")
    for rank in reversed(range(world)):  # the first one joins, so it comes last
        run = RunOptions(share=ProcessShare(rank, world))
        tally = translate(source, out, run=run, report=tmp_path / "out.jsonl")
        assert out.exists() == (rank == 0)
    assert tally == expected
    assert out.read_bytes() == one.read_bytes()
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert not partial_folder(out).exists()


def test_another_number_of_processes_is_refused(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate(source, out, run=RunOptions(share=ProcessShare(1, 2)))
    with pytest.raises(InputError, match="another number of processes"):
        translate(source, out)
    for wrong in (RunOptions(2, share=ProcessShare(0, 2)), RunOptions(restart=True, share=ProcessShare(0, 2))):
        with pytest.raises(InputError):
            translate(source, out, run=wrong)


# ── formats ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_wrapped_lines(tmp_path: Path) -> None:
    source, out = tmp_path / "a.en", tmp_path / "out"
    source.write_text("one\ntwo\n\nthree\n" * 5)
    tally = translate(source, out, options={"split": "wrapped"})
    assert out.read_text() == source.read_text().upper()
    assert tally.texts == 15 - 4  # "three" and the next "one" and "two" are a paragraph


def test_a_text_keeps_its_bytes(tmp_path: Path) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "out"
    data = b"\xef\xbb\xbfone\r\n\r\n two\n\x0bthree\n" * 1 + b"four\r\n" * 9 + b"odd"
    source.write_bytes(data)
    tally = translate(source, out, format="text")
    assert out.read_bytes() == b"\xef\xbb\xbf" + data[3:].upper()
    assert tally.named == ["line 13"]


def test_tables(tmp_path: Path) -> None:
    source, out = tmp_path / "a.tsv", tmp_path / "out"
    rows = [["id", "text"], *([str(i), f"odd {i}" if i == 10 else f"row {i}" if i % 4 else "42"] for i in range(12))]
    source.write_text("\r\n".join("\t".join(row) for row in rows))
    tally = translate(source, out, format="tsv", columns=("text",), report=tmp_path / "r.jsonl")
    new = [rows[0], *([number, text.upper()] for number, text in rows[1:])]
    assert out.read_bytes().decode() == "\r\n".join("\t".join(row) for row in new)
    assert tally.kept == 3
    assert tally.named == ["line 12, column 2"]
    assert json.loads((tmp_path / "r.jsonl").read_text().splitlines()[-2])["place"] == "line 12, column 2"


def test_rows_of_several_lines(tmp_path: Path) -> None:
    """Chunks hold three rows here, and a row has two lines."""
    source, out = tmp_path / "a.csv", tmp_path / "out.gz"
    source.write_bytes(b"\xef\xbb\xbfid;Some text\r\n" + b'1;"a row;\r\nodd ""two"""\r\n2;7\r\n' * 5)
    tally = translate(source, out, format="csv")
    assert gzip.decompress(out.read_bytes()) == source.read_bytes().upper().replace(b"ID", b"id")
    assert (tally.texts, tally.kept) == (11, 1)
    assert tally.named == [f"row {number}, column 2" for number in range(2, 12, 2)]


def test_records(tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    rows = [f'{{"id": {i}, "text":"caf\\u00e9 {i}", "other": "x"}}' for i in range(8)]
    source.write_text("\n".join(rows))
    translate(source, out, format="jsonl", columns=("text",))
    assert out.read_text() == "\n".join(row.replace("caf\\u00e9", "CAF\\u00c9") for row in rows)


@pytest.mark.parametrize(
    ("name", "data", "job", "said"),
    [
        ("a.en", b"", {}, "is empty"),
        ("a.en", b"a\n" * 9 + b"\xff\n", {}, "line 10 is not UTF-8"),
        ("a.en.gz", gzip.compress(b"a\n" * 999, mtime=0)[:-5], {}, "is damaged or not gz"),
        ("a.txt", b"a\n" * 9 + b"\xff\n", {"format": "text"}, "line 10 is not UTF-8"),
        ("a.tsv", b"a\tb\n", {"format": "tsv", "columns": ("3",)}, "'3' is none of them"),
        ("a.csv", b"a,b\n" * 9 + b'1,"2\n', {"format": "csv"}, "row 10 has a cell that begins with a quotation mark"),
        ("a.csv", b"a,b\n" * 9 + b"1,\xff\n", {"format": "csv"}, "line 10 is not UTF-8"),
        ("a.jsonl", b'{"a": "b"}\n' * 9, {"format": "jsonl", "columns": ("c",)}, "there are: a"),
        ("a.jsonl", b'{"a": "b"}\n' * 9 + b"{", {"format": "jsonl", "columns": ("a",)}, "in line 10, column 2"),
        ("a.parquet", b"no", {"format": "parquet", "columns": ("a",)}, "is no Parquet file"),
        ("a.en", b"a\n", {"form": OutputForm(2, alignments=True)}, "split must be"),
        ("a.en", b"a\n", {"format": "html"}, "format must be one of"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    tmp_path: Path, name: str, data: bytes, job: dict[str, Any], said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=said) as error:
        translate(tmp_path / name, tmp_path / "out", **job)
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]
