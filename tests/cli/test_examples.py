"""Every command has two examples in its help, and each of them runs as typed.

Each runs in a folder of its own with the embedded corpus in `corpus` (fewer lines), a trained model in `runs/mine` and
two systems' translations of `corpus/dev.en`, as the examples of other commands make them.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from regard.cli.app import program
from regard.cli.explain import app as explain
from regard.cli.lessons import inner as course
from regard.cli.serve import inner
from regard.cli.serve_keys import app as keys
from support import Call, grammar

SLOW = (  # training, long measurements, or the network
    "regard align --src corpus/dev.en --tgt corpus/dev.fr --gold",
    "regard bench",
    "regard claims --only",
    "regard compare",
    "regard corpus",
    "regard demo",
    "regard explain importance",
    "regard explain evidence --model en-fr-classic",
    "regard explain lab",
    "regard fetch",
    "regard import opus-mt",
    "regard lexicon --model runs/mine --src corpus/train.en",
    "regard page",
    "regard resume",
    "regard train",
)
pytestmark = pytest.mark.usefixtures("usual_engine")
SHORTER = {"--minutes": "0.05"}  # the same words with less time


def commands(group: typer.Typer, name: str) -> Iterator[tuple[str, str]]:
    """(name, help) of every command, in the order in which they are registered."""
    for command in group.registered_commands:
        assert command.callback is not None
        yield f"{name} {command.name or command.callback.__name__}", command.callback.__doc__ or ""
    for part in group.registered_groups:
        assert part.typer_instance is not None
        yield from commands(part.typer_instance, f"{name} {part.name}")


HELP = (
    dict(commands(program(), "regard"))
    | dict(commands(inner, "regard serve"))
    | dict(commands(course, "regard course"))
)
GROUPS = {
    "regard": str(program().info.help),
    "regard explain": str(explain.info.help),
    "regard serve keys": str(keys.info.help),
}
EXAMPLES = [
    (name, example.strip())
    for name, text in (HELP | GROUPS).items()
    for example in re.findall(r"^ *(regard .+)$", text, flags=re.MULTILINE)
]


@pytest.mark.parametrize("name", HELP)
def test_every_command_has_two_examples(name: str) -> None:
    own = [example for of, example in EXAMPLES if of == name]
    assert len(own) == 2
    assert all(example.startswith(name) for example in own)


def test_help_prints_the_examples_as_they_are(call: Call) -> None:
    for name, example in EXAMPLES:
        assert example in call(*name.split()[1:], "--help").out


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, run_folder: Path) -> Path:
    """What the examples use, made as their help says."""
    from regard.course.grammar import write_corpus
    from regard.serve.state.keys import ApiKeys
    from regard.serve.state.store import Store

    folder = tmp_path_factory.mktemp("examples")
    splits = grammar()
    write_corpus(folder / "corpus", splits)
    for file in folder.glob("corpus/dev.*"):  # fewer lines, so that the examples take seconds
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)[:20]
        file.write_text("".join(lines), encoding="utf-8")
    shutil.copytree(run_folder, folder / "runs" / "mine")
    for name in ("dev.out", "other.out"):
        shutil.copyfile(folder / "corpus" / "dev.fr", folder / name)
    with Store(folder / "state") as store:
        for name in ("bob", "carol"):
            ApiKeys(store).add(name)
    return folder


def run(call: Call, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    home = tmp_path / "home"
    shutil.copytree(place, home)
    if "corpus --out corpus" in example or (example.startswith("regard train") and "--out runs/mine" in example):
        shutil.rmtree(home / ("corpus" if example.startswith("regard corpus") else "runs/mine"))
    monkeypatch.chdir(home)
    words = shlex.split(example)[1:]
    for flag, value in SHORTER.items():
        if flag in words:
            words[words.index(flag) + 1] = value
    answer = call(*words)
    assert answer.code == 0, answer.err
    for out in (words[i + 1] for i, word in enumerate(words) if word == "--out"):
        assert (home / out).exists()


ENDING = [example for name, example in EXAMPLES if name != "regard serve" and example != "regard course 4"]
FAST = [example for example in ENDING if not example.startswith(SLOW)]


@pytest.mark.parametrize("example", dict.fromkeys(FAST))
def test_an_example_runs(
    call: Call, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    run(call, place, tmp_path, monkeypatch, example)


@pytest.mark.slow
@pytest.mark.parametrize(
    "example",
    [e for e in dict.fromkeys(e for _, e in EXAMPLES) if e.startswith(SLOW) and not e.startswith("regard fetch")],
)
def test_a_slow_example_runs(
    call: Call, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    run(call, place, tmp_path, monkeypatch, example)
