"""The public surface: what `import regard` gives and costs, and what `--help` says and how soon."""

from __future__ import annotations

import importlib
import resource
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, get_type_hints

import pytest
import typer
from typer.models import OptionInfo

import regard
from regard.cli import main
from regard.cli.app import program
from regard.course.grammar import DEFAULT_SIZE
from regard.recipe.read import known_keys

GROUP_FLAGS = {
    "bench train": ["--updates", "--json", "--set", "--help"],
    "bench translate": ["--model", "--lines", "--beam", "--workers", "--repeat", "--json", "--device", "--engine"],
}
FLAGS = {
    "train": ["--out", "--set", "--help"],
    "resume": ["--override", "--previous", "--verify", "--set", "--help"],
    "doctor": ["--sample-pairs", "--no-predict", "--json", "--set", "--help"],
    "page": ["--out", "--device", "--help"],
    "serve": ["--host", "--port", "--workers", "--through", "--preload", "--idle", "--timeout", "--characters"],
    "translate": [
        *(
            "--to",
            "--from",
            "--through",
            "--model",
            "--input",
            "--out",
            "--beam",
            "--nbest",
            "--length-penalty",
            "--steer",
            "--rules",
            "--unknown",
        ),
        *("--tag", "--mend", "--no-mend", "--sample", "--temperature", "--seed"),
        *("--batch-tokens", "--attention", "--json", "--device", "--engine", "--help"),
    ],
    "align": [
        *("--src", "--tgt", "--model", "--gold", "--gold-first", "--dev-src", "--dev-tgt", "--dev-gold", "--train-src"),
        *("--train-tgt", "--words", "--out", "--save-view", "--seed", "--json", "--device", "--help"),
    ],
    "lexicon": ["--model", "--src", "--tgt", "--entries", "--help"],
    "bleu": [
        *(
            "--ref",
            "--metrics",
            "--tokenize",
            "--lowercase",
            "--smooth",
            "--smooth-value",
            "--max-order",
            "--order-weights",
        ),
        *("--ref-length", "--effective-order", "--char-order", "--word-order", "--beta", "--sentence-level"),
        *("--confidence", "--paired", "--resamples", "--seed", "--explain", "--line", "--by", "--src", "--line-tags"),
        *("--counts", "--edges", "--differences", "--out", "--json", "--digits", "--quiet", "--help"),
    ],
    "score": ["--model", "--tag", "--help"],
    "claims": ["--only", "--out", "--quick", "--list", "--help"],
    "clean": [
        *("--src", "--tgt", "--pairs", "--single", "--out", "--without", "--languages", "--check-language", "--near"),
        *("--identical", "--duplicates", "--numbers", "--same-placeholders", "--shortest", "--longest", "--letters"),
        *("--deviations", "--least-score", "--show", "--workers", "--json", "--help"),
    ],
    "compare": ["--models", "--seeds", "--budget", "--tokenize", "--out", "--help"],
    "complexity": [
        *("--quick", "--device", "--threads", "--lengths", "--widths", "--kernel", "--window"),
        *("--json", "--out", "--help"),
    ],
    "corpus": ["--out", "--size", "--seed", "--help"],
    "fetch": ["--out", "--mirror", "--help"],
    "info": ["--model", "--all", "--json", "--help"],
    "pack": [
        "--out",
        "--model",
        "--weights",
        "--lexicon",
        "--about",
        "--tag",
        "--beside",
        "--rank",
        "--src",
        "--tgt",
        "--help",
    ],
    "import": ["--out", "--weights", "--tag", "--help"],
    "export": ["--as", "--out", "--model", "--weights", "--help"],
    "course": ["--port", "--no-browser", "--help"],
    "demo": ["--out", "--steps", "--help"],
}


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True, timeout=60)


def test_exactly_these_names_are_public() -> None:
    classes = ["Glossary", "Mbr", "RegardError", "Sampling", "TranslateOptions", "Translation", "Translator"]
    assert regard.__all__ == [*classes, "__version__", "bleu", "chrf", "load", "resume", "ter", "train", "translate"]
    assert set(regard.__all__) <= set(dir(regard))
    for name in regard.__all__:
        assert getattr(importlib.import_module("regard"), name) is not None


def test_importing_everything_changes_no_name() -> None:
    """A module called like a function would take its place in the package as soon as it is imported."""
    for module in (
        "regard.bundle.bundle",
        "regard.cli",
        "regard.course.demo",
        "regard.metrics.bleu",
        "regard.metrics.chrf",
        "regard.metrics.ter",
        "regard.training.run",
    ):
        importlib.import_module(module)
    for name in ("bleu", "chrf", "load", "resume", "ter", "train"):
        assert isinstance(getattr(regard, name), FunctionType), name


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu", "rich", "typer")
    loaded = python("-c", "import sys, regard; print(*sys.modules)").stdout.split()
    assert not {name.partition(".")[0] for name in loaded}.intersection(heavy)
    times = python("-X", "importtime", "-c", "import regard").stderr
    assert "| regard\n" in times
    assert "torch" not in times


def test_help_answers_at_once() -> None:
    """In a few times what the libraries of a command line take to import, on whatever machine: in the processor's own
    seconds, the best of a few tries by turns."""

    def spent(*words: str) -> tuple[float, str]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = python(*words).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, said

    helping, importing = [], []
    for _ in range(3):
        seconds, said = spent("-m", "regard", "--help")
        assert "translate" in said
        helping.append(seconds)
        importing.append(spent("-c", "import typer, rich.console")[0])
    assert min(helping) < 4 * min(importing)


def test_the_wheel_has_every_file_of_the_package() -> None:
    """Setuptools takes the Python files and what pyproject.toml names."""
    root = Path(regard.__file__).parent
    named = tomllib.loads((root.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = named["tool"]["setuptools"]["package-data"]["regard"]
    files = {path for path in root.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert files <= {path for pattern in patterns for path in root.glob(pattern)}


def test_the_citation_is_of_this_version() -> None:
    text = (Path(regard.__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {regard.__version__}\n" in text


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_every_command_is_listed_here() -> None:
    names: list[Any] = [
        command.name or command.callback.__name__ for command in program().registered_commands if command.callback
    ]
    assert sorted(names) == sorted(FLAGS)


def callbacks(group: typer.Typer) -> Iterator[Any]:
    yield from (command.callback for command in group.registered_commands)
    for part in group.registered_groups:
        assert part.typer_instance is not None
        yield from callbacks(part.typer_instance)


def test_no_flag_is_named_by_its_placeholder() -> None:
    """typer 0.27 and 0.28 turn `tag` with the placeholder TAG into --TAG, unless the flag is spelt out; the first
    spelling is what typer calls the default of an annotation."""
    unspelt = [
        (callback.__name__, name)
        for callback in callbacks(program())
        for name, kind in get_type_hints(callback, include_extras=True).items()
        for option in getattr(kind, "__metadata__", ())
        if isinstance(option, OptionInfo) and (option.metavar or "").lower() == name and option.default is ...
    ]
    assert not unspelt


@pytest.mark.parametrize(("command", "flags"), (FLAGS | GROUP_FLAGS).items())
def test_help_names_every_flag(capsys: pytest.CaptureFixture[str], command: str, flags: list[str]) -> None:
    text = said(capsys, *command.split(), "--help")
    assert f"Usage: regard {command}" in text
    for flag in flags:
        assert f"{flag} " in text or f"{flag}\n" in text, flag
    assert said(capsys, *command.split(), "-h") == text


def test_train_help_is_the_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "train", "--help")
    assert said(capsys, "train") == text
    for section, keys in known_keys({}).items():
        assert f"[{section}]" in text
        for key in keys:
            assert f"  --{key.replace('_', '-')} " in text
    for choice in ("inverse-sqrt|cosine|wsd|constant", "tiny, small, base, big", "[post|pre]"):
        assert choice in " ".join(text.split())


def test_the_default_that_help_names_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"[default: {DEFAULT_SIZE}]" in said(capsys, "corpus", "--help")
