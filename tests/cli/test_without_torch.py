"""Commands where PyTorch, an extra, is not installed: what works without it, and what says so. A process whose import
system does not find torch stands for such an environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli import NEED_TORCH
from regard.cli.app import NAMES
from support import HIDE_TORCH, Answer, Call, write_lines

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
RUN = f"""{HIDE_TORCH}
import contextlib, io, json
from regard.cli import main

for words in json.load(sys.stdin):
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""
LINE = "regard: {} needs PyTorch, which is not installed: pip install 'regard[torch]'\n"
NATIVE = "the native engine, which this request calls for,"
# A line for each command that works without torch, {run} being a model of the user's own.
WORK = {
    "translate": ["--model", "{run}", "The cat sleeps."],
    "serve": ["keys", "add", "anna", "--state", "{folder}/state"],
    "info": ["{run}"],
    "lexicon": ["--model", "{run}", "--src", "{folder}/a.en", "--tgt", "{folder}/a.fr"],
    "export": ["{run}", "--out", "{folder}/converted"],
    "fetch": ["--help"],  # data sets; a network is needed
    "clean": ["--src", "{folder}/a.en", "--tgt", "{folder}/a.fr", "--out", "{folder}/clean"],
    "bench": ["translate", "{folder}/a.en", "--model", "{run}", "--lines", "2", "--repeat", "1"],
    "bleu": ["{folder}/a.fr", "--ref", "{folder}/a.fr"],
    "score": ["--model", "{run}", "--src", "{folder}/a.en", "--tgt", "{folder}/a.fr"],
    "explain": ["tokens", "--model", "{run}", "The cat sleeps."],
    "course": [],
    "corpus": ["--out", "{folder}/corpus", "--size", "1000"],
}
# Options of theirs that need it, and what the line begins with.
REFUSED = {
    ("translate", "--model", "{run}", "--sample", "The cat."): "--sample",
    ("translate", "--model", "{run}", "--engine", "native", "The cat."): NATIVE,
    ("translate", "--model", "{run}", "--device", "cuda", "The cat."): "the device cuda",
    ("translate", "--model", "{run}", "--model", "{run}", "The cat."): "an ensemble of 2 models",
    ("translate", "--model", "{run}", "--groups", "2", "--beam", "4", "The cat."): NATIVE,
    ("translate", "--model", "{run}", "--attention", "The cat."): "--attention",
    ("explain", "attention", "--model", "{run}", "The cat."): "regard explain",
    ("export", "{run}", "--as", "huggingface", "--out", "{folder}/hf"): "regard export",
    ("fetch", "opus-mt-en-fr"): "importing Helsinki-NLP/opus-mt-en-fr",
    ("bench", "train", "--steps", "1"): "regard bench",
    ("train", "--help"): "regard train",  # the keys of every architecture
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("without")
    write_lines(made)
    return made


@pytest.fixture(scope="module")
def answers(run_folder: Path, folder: Path) -> dict[tuple[str, ...], Answer]:
    """The answers of all commands, from one process."""
    lines = [(name, *words) for name, words in WORK.items()] + [*REFUSED] + [(name,) for name in sorted(NEED_TORCH)]
    filled = [[word.format(run=run_folder, folder=folder) for word in line] for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(filled),
        env=os.environ | {"REGARD_ENGINE": "auto"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {line: Answer(*json.loads(row)) for line, row in zip(lines, done.stdout.splitlines(), strict=True)}


def test_every_command_works_without_torch_or_is_known_to_need_it() -> None:
    assert sorted([*WORK, *NEED_TORCH]) == sorted(NAMES)


@pytest.mark.parametrize("name", WORK)
def test_works_without(name: str, answers: dict[tuple[str, ...], Answer]) -> None:
    code, out, err = answers[(name, *WORK[name])]
    assert (code, "PyTorch" in err) == (0, False), err
    assert out


@pytest.mark.parametrize("name", sorted(NEED_TORCH))
def test_needs_it_and_says_so_in_one_line(name: str, answers: dict[tuple[str, ...], Answer]) -> None:
    assert answers[(name,)] == (2, "", LINE.format(f"regard {name}"))


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_options_that_need_it_say_so(words: tuple[str, ...], answers: dict[tuple[str, ...], Answer]) -> None:
    assert answers[words] == (2, "", LINE.format(REFUSED[words]))


def test_scores_are_those_of_the_native_engine(
    call: Call, answers: dict[tuple[str, ...], Answer], run_folder: Path, folder: Path
) -> None:
    words = [word.format(run=run_folder, folder=folder) for word in WORK["score"]]
    native, ours = call("score", *words).out, answers[("score", *WORK["score"])].out
    pairs = zip(native.splitlines(), ours.splitlines(), strict=True)
    for one, other in pairs:
        assert [*map(float, one.split())] == pytest.approx([*map(float, other.split())], abs=2e-3)


def test_the_page_says_which_command_needs_it() -> None:
    """A row may be of several commands; then it says "yes", or something for each of them."""
    rows = re.findall(r"^\| (`regard .*?) \|.*\| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    said: dict[str, str] = {}
    for row, needs in rows:
        names = re.findall(r"`regard (\w+)`", row)
        said |= dict(zip(names, needs.split("; ") * (1 if ";" in needs else len(names)), strict=True))
    assert said.keys() == set(NAMES)
    assert {name for name, need in said.items() if need == "yes"} == NEED_TORCH
    partly = {words[0] for words in REFUSED} - NEED_TORCH
    assert {name for name, need in said.items() if need not in ("yes", "no")} == partly | {"serve", "course"}
