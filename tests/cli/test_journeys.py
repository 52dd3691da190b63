"""What a user does, from two files to a score: the real command line, its files and its exit codes."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard import __version__
from regard.bulk import chunks as bulk_chunks
from support import LINES, Call, regard, write_lines

SIZES = "--width 16 --heads 2 --inner 32 --encoder-layers 1 --decoder-layers 1 --vocab-size 320 --max-length 60"
PACE = "--batch-tokens 120 --steps 4 --save-every 2 --eval-every 4 --device cpu"
SMALL = f"{SIZES} {PACE}".split()
SOURCES, TARGETS = [s for s, _ in LINES], [t for _, t in LINES]


def good(*words: str | Path, input: bytes | None = None, **environment: str) -> str:
    """What the command printed, after it went well."""
    done = regard(*words, input=input, **environment)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def lines(text: str) -> list[str]:
    """Lines end at "\\n" and nowhere else, and the last one ends too."""
    assert text.endswith("\n")
    return text[:-1].split("\n")


# ------------------------------------------------------------------------------------------------ training


def as_gz(folder: Path) -> list[str]:
    for name, side in (("a.en.gz", 0), ("a.fr.gz", 1)):
        (folder / name).write_bytes(gzip.compress("".join(p[side] + "\n" for p in LINES * 4).encode()))
    return ["--src", str(folder / "a.en.gz"), "--tgt", str(folder / "a.fr.gz")]


def as_tsv(folder: Path) -> list[str]:
    (folder / "a.tsv").write_bytes("".join(f"{s}\t{t}\r\n" for s, t in LINES * 4).encode())
    return ["--pairs", str(folder / "a.tsv")]


def as_jsonl(folder: Path) -> list[str]:
    rows = (json.dumps({"translation": {"en": s, "fr": t}}) + "\n" for s, t in LINES * 4)
    (folder / "a.jsonl.xz").write_bytes(lzma.compress("".join(rows).encode()))
    return ["--pairs", str(folder / "a.jsonl.xz"), "--src-key", "translation.en", "--tgt-key=translation.fr"]


@pytest.mark.parametrize("form", [as_gz, as_tsv, as_jsonl])
def test_train_reads_every_form(tmp_path: Path, call: Call, form: Callable[[Path], list[str]]) -> None:
    words = [*form(tmp_path), "--dev-size", "0", *SMALL]
    code, out, err = call("train", *words, "--out", tmp_path / "run")
    assert code == 0, err
    assert out.startswith("finished")
    card = json.loads((tmp_path / "run" / "last" / "card.json").read_text(encoding="utf-8"))
    assert card["pairs"]["kept"] == len(LINES) * 4


@pytest.mark.long
def test_from_two_files_to_a_score_and_on(tmp_path: Path) -> None:
    """train, translate, bleu, resume, info, each a process of its own, in a folder that a shell would cut in two."""
    src, tgt = write_lines(tmp_path)
    run, hypotheses = tmp_path / "my [run]", tmp_path / "out.fr"
    out = good("train", "--src", src, "--tgt", tgt, *SMALL, "--out", run)
    assert "best dev BLEU" in out
    assert f"regard translate --model '{run}'" in out
    assert {p.name for p in run.iterdir()} >= {"recipe.toml", "best", "last", "metrics.jsonl", "training.safetensors"}

    assert good("translate", "--model", run, "--input", src, "--output", hypotheses) == ""
    assert len(lines(hypotheses.read_text(encoding="utf-8"))) == len(LINES) * 4
    assert good("bleu", hypotheses, "--ref", tgt).startswith("BLEU = ")

    assert "finished" in good("resume", run, "--set", "train.steps=6", "--override")
    about = json.loads(good("info", run / "last", "--json"))
    assert about["step"] == 6
    assert about["architecture"] == "transformer"


def test_a_recipe_with_flags_and_set_laid_over_it(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    src, tgt = write_lines(tmp_path)
    (tmp_path / "recipe.toml").write_text(
        f'[data]\nsrc = "{src}"\ntgt = "{tgt}"\nmax_length = 60\n[text]\nvocab_size = 320\n'
        "[model]\nwidth = 16\nheads = 2\ninner = 32\nencoder_layers = 1\ndecoder_layers = 1\n"
        '[train]\nbatch_tokens = 120\nsteps = 500\ndevice = "cpu"\n',
        encoding="utf-8",
    )
    words = "train recipe.toml --set train.steps=3 --set dropout=0 --no-joint --set tie=target --seed=7"
    code, _, err = call(*words.split())
    assert code == 0, err
    kept = (tmp_path / "runs" / "run" / "recipe.toml").read_text(encoding="utf-8")  # the default place
    for line in ("steps = 3", "dropout = 0.0", "joint = false", 'tie = "target"', "seed = 7", "width = 16"):
        assert f"\n{line}\n" in kept


TUNING = "--max-length 60 --batch-tokens 120 --steps 4 --save-every 2 --eval-every 4 --device cpu --learning-rate 1e-4"


@pytest.mark.parametrize(
    "objective", ["", *(pytest.param(one, marks=pytest.mark.long) for one in ("self-critical", "minimum-risk"))]
)
def test_going_on_from_a_trained_model(tmp_path: Path, run_folder: Path, call: Call, objective: str) -> None:
    """Tuned on other data, for likelihood or for rewards; the tuned run translates, says its origin and goes on."""
    src, tgt = write_lines(tmp_path, times=2)
    words = ["--src", src, "--tgt", tgt, "--start-from", run_folder, *TUNING.split()]
    words += ["--objective", objective, "--samples", "3"] if objective else []
    code, out, err = call("train", *words, "--out", tmp_path / "tuned")
    assert code == 0, err
    assert "vocabulary" not in err  # none is learnt
    assert f"start       {run_folder} (" in err.replace("\n", "")
    assert ("mean reward of the last translations drawn 0." in out) == bool(objective)
    assert call("translate", "--model", tmp_path / "tuned", *SOURCES).out.split("\n")[:-1] == TARGETS
    about = json.loads(call("info", tmp_path / "tuned", "--json").out)
    assert about["started_from"]["folder"] == str(run_folder)
    assert about["recipe"]["reward"]["objective"] == (objective or "likelihood")
    assert call("resume", tmp_path / "tuned", "--steps", "6", "--override").code == 0


# ------------------------------------------------------------------------------------------------ translating


@pytest.mark.usefixtures("quick_processes")
def test_standard_input_line_by_line(run_folder: Path) -> None:
    """Order and blank lines are kept; "\\r\\n", a BOM and a missing last "\\n" change nothing; a locale neither."""
    given = f"\ufeff{SOURCES[1]}\r\n\r\n{SOURCES[0]}\n   \n{SOURCES[2]}".encode()
    out = good("translate", "--model", run_folder, input=given, PYTHONIOENCODING="ascii")
    assert lines(out) == [TARGETS[1], "", TARGETS[0], "   ", TARGETS[2]]


def test_sentences_as_words(run_folder: Path, call: Call) -> None:
    assert lines(call("translate", "--model", run_folder, *SOURCES).out) == TARGETS
    assert call("translate", "--model", run_folder, "").out == "\n"
    assert call("translate", "--model", run_folder, "--", "- " + SOURCES[0]).code == 0


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_files_plain_and_compressed(run_folder: Path, tmp_path: Path, call: Call, suffix: str) -> None:
    opened: Any = {"": open, ".gz": gzip.open, ".xz": lzma.open}[suffix]
    given, wanted = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    with opened(given, "wt", encoding="utf-8") as file:
        file.write("\n".join(["", *SOURCES]))
    wanted.write_text("old")
    code, out, err = call("translate", "--model", run_folder, "--input", given, "--output", wanted)
    assert (code, out, err) == (0, "", "")
    with opened(wanted, "rt", encoding="utf-8", newline="\n") as file:
        assert lines(file.read()) == ["", *TARGETS]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([given.name, wanted.name])


def test_output_through_a_link_and_into_a_pipe(run_folder: Path, tmp_path: Path, call: Call) -> None:
    """The file that a link means is replaced, not the link; a pipe or a device stays what it is."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        for name in ("link", "pipe"):
            assert call("translate", "--model", run_folder, SOURCES[0], "--output", tmp_path / name).code == 0
        read, _ = reader.communicate(timeout=30)
    assert read.decode() == (tmp_path / "real").read_text(encoding="utf-8") == TARGETS[0] + "\n"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "pipe").is_fifo()


def test_a_chunk_may_end_anywhere(run_folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_chunks, "MAX_CHUNK_LINES", 3)
    given = "".join(f"{source}\n" for source in SOURCES).encode()
    assert lines(call("translate", "--model", run_folder, input=given).out) == TARGETS
    listed = lines(call("translate", "--model", run_folder, "--nbest=2", input=given).out)
    numbers = [row.split(" ||| ")[0] for row in listed]
    assert numbers == [str(n) for n in range(len(SOURCES)) for _ in range(2)]


def test_nbest_is_ranked_and_keeps_a_place_for_an_empty_line(run_folder: Path, call: Call) -> None:
    out = call("translate", "--model", run_folder, "--nbest", "3", "--beam", "3", SOURCES[0], "", SOURCES[1]).out
    rows = [row.split(" ||| ") for row in lines(out)]
    assert [number for number, _, _ in rows] == ["0", "0", "0", "1", "2", "2", "2"]
    assert [rows[0][1], rows[3][1], rows[4][1]] == [TARGETS[0], "", TARGETS[1]]
    scores = [float(score) for _, _, score in rows]
    assert scores[0] > scores[1] > scores[2]


def test_json_lines(run_folder: Path, call: Call) -> None:
    out = call("translate", "--model", run_folder, "--json", "--nbest", "2", SOURCES[0], "").out
    full, empty = (json.loads(line) for line in lines(out))
    assert full["source"] == SOURCES[0]
    assert full["text"] == full["nbest"][0]["text"] == TARGETS[0]
    assert full["score"] == full["nbest"][0]["score"] > full["nbest"][1]["score"]
    assert empty == {"source": "", "text": "", "score": 0.0, "nbest": [], "sentences": [], "warnings": []}


def test_attention_stands_under_each_translation(run_folder: Path, call: Call) -> None:
    out = call("translate", "--model", run_folder, "--attention", SOURCES[1], "").out
    assert out.startswith(f"{TARGETS[1]}\n")
    for word in ("black", "noir", "AER not evaluated"):
        assert word in out
    assert out.endswith("\n\n")  # the empty line's translation has nothing to show


@pytest.mark.usefixtures("quick_processes")
def test_a_reader_that_leaves_early_is_no_error(run_folder: Path, tmp_path: Path) -> None:
    src, _ = write_lines(tmp_path, times=2000)
    words = f"translate --model {run_folder} --input {src} --beam 1".split()
    with subprocess.Popen(
        [sys.executable, "-m", "regard", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().decode() == TARGETS[0] + "\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.usefixtures("quick_processes")
def test_whoever_types_gets_an_answer_to_each_line(run_folder: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "regard", "translate", "--model", run_folder],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(theirs)
        assert process.stdout is not None
        for source, target in LINES[:2]:
            os.write(ours, f"{source}\n".encode())
            assert process.stdout.readline().decode() == target + "\n"  # before the next one is typed
        os.write(ours, b"\x04")
        out, err = process.communicate(timeout=30)
    os.close(ours)
    assert (process.returncode, out) == (0, b"")
    assert b"end with Ctrl-D" in err


# ------------------------------------------------------------------------------------------------ the other commands


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("the cat sat on the mat\nall is well here\n", encoding="utf-8")
    (tmp_path / "ref").write_text("the cat sat on a mat\nall is well here\n", encoding="utf-8")
    (tmp_path / "other").write_text("the cat sat on the mat\nall is good here\n", encoding="utf-8")
    return tmp_path


def test_bleu_of_a_file_and_of_standard_input(scored: Path, call: Call) -> None:
    by_file = call("bleu", scored / "hyp", "--ref", scored / "ref").out
    piped = good("bleu", "-", "--ref", scored / "ref", input=(scored / "hyp").read_bytes())
    assert by_file == piped
    score, signature = lines(by_file)
    assert score.startswith("BLEU = ")
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_bleu_with_several_references(scored: Path, call: Call) -> None:
    found = json.loads(call("bleu", scored / "hyp", "--ref", scored / "ref", "--ref", scored / "other", "--json").out)
    assert found["score"] == pytest.approx(100)
    assert found["signature"].startswith("nrefs:2|")
    one = json.loads(call("bleu", scored / "hyp", "--ref", scored / "ref", "--json", "--tokenize", "char").out)
    assert 0 < one["score"] < 100
    assert "tok:char" in one["signature"]


def test_corpus_is_ready_to_train_on(tmp_path: Path, call: Call) -> None:
    out = call("corpus", "--out", tmp_path / "corpus", "--size", "1000", "--seed", "3").out
    assert "train.en .fr .align .tags: 1,000 lines" in out
    for split in ("train", "dev", "test", "compositional"):
        counts = {
            len(lines((tmp_path / "corpus" / f"{split}.{kind}").read_text(encoding="utf-8"))) for kind in ("en", "fr")
        }
        assert len(counts) == 1
        assert f"{split}.en .fr .align .tags: {counts.pop():,} lines" in out


def test_info_says_where_a_model_comes_from(run_folder: Path, call: Call) -> None:
    rows = {line[:14].strip(): line[14:] for line in lines(call("info", run_folder).out)}
    assert rows["folder"] == str(run_folder / "best")
    assert rows["architecture"] == "transformer"
    assert "width 32, heads 2" in rows["sizes"]
    assert rows["test BLEU"].startswith("100.00  nrefs:1|")


@pytest.mark.parametrize("command", [["regard"], [sys.executable, "-m", "regard"]])
def test_version_and_the_way_in(command: list[str]) -> None:
    beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([*command, "--version"], capture_output=True, check=True, text=True, env=beside, timeout=60)
    assert done.stdout == f"regard {__version__}\n"


def test_alone_it_shows_the_way(call: Call) -> None:
    code, out, err = call()
    assert (code, err) == (0, "")
    for command in ("train", "resume", "translate", "bleu", "corpus", "info", "demo"):
        assert f"\n  {command} " in out
    assert call("--help").out == call("-h").out == out
