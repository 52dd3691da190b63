"""The pages of docs/course as tests read them: lines quoted from the source, commands with what they print, examples in
Python. The pages are made from the lessons (tests/course/test_lessons.py).

    <!-- code: src/regard/… -->     the block below it must stand in that file, line for line (indentation apart)
    $ regard …                      at the beginning of a block: the command is run, the rest is what it prints;
                                    a line "…" stands for lines that are left out
    >>> …                           at the beginning of a block: examples, run in order within a lesson

Text and whole numbers must be the same. A figure with decimals may differ by 1% or by two of its last digit.
`PYTHONPATH=tests python tests/course_pages.py` runs all lessons and prints the seconds of CPU that each takes.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import tempfile
import time
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from regard.cli import main

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "docs" / "course"
LESSONS = sorted(COURSE.glob("[0-9][0-9]-*.md"))
BLOCK = re.compile(r"(?:^<!-- code: (?P<file>\S+) -->\n)?^```\w*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
NOT_READ = "…"


class Block(NamedTuple):
    file: str | None  # quoted from it
    body: str


def blocks(page: Path) -> list[Block]:
    return [Block(found["file"], found["body"]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def quotes(block: Block) -> bool:
    """Whether the block stands in its file, with the indentation of one place."""
    assert block.file
    path = ROOT / block.file
    if not path.exists():
        return False
    wanted, source = block.body.splitlines(), path.read_text(encoding="utf-8").splitlines()
    starts = (i for i in range(len(source) - len(wanted) + 1) if source[i].strip() == wanted[0].strip())
    return any(dedent("\n".join(source[i : i + len(wanted)])) == dedent("\n".join(wanted)) for i in starts)


# ------------------------------------------------------------------------------------------------ comparing


def same(shown: str, printed: str) -> bool:
    """Text and whole numbers alike, figures with decimals within the tolerance; lines' ends do not count.

    >>> same("loss 0.123 of 3", "loss 0.124 of 3"), same("loss 0.123 of 3", "loss 0.123 of 4"), same("a 0.50", "a 0.53")
    (True, False, False)
    """
    if FIGURE.sub("#", " ".join(shown.split())) != FIGURE.sub("#", " ".join(printed.split())):
        return False
    pairs = zip(FIGURE.findall(shown), FIGURE.findall(printed), strict=True)
    return all(one == other or _close(one.replace("−", "-"), other.replace("−", "-")) for one, other in pairs)


def _close(shown: str, printed: str) -> bool:
    if "." not in shown and "e" not in shown:
        return False
    last = 10.0 ** -len(shown.partition(".")[2].partition("e")[0]) if "e" not in shown else 0.0
    return abs(float(shown) - float(printed)) <= max(0.01 * abs(float(shown)), 2.001 * last)


def difference(shown: str, printed: str) -> str | None:
    """None if what is printed is what is shown; otherwise the first shown part that is not there."""
    rest = printed.splitlines()
    for number, part in enumerate(_parts(shown)):
        places = range(len(rest) - len(part) + 1) if number else range(1)
        at = next((i for i in places if same("\n".join(part), "\n".join(rest[i : i + len(part)]))), None)
        if at is None:
            return "\n".join(part)
        rest = rest[at + len(part) :]
    open_end = shown.rstrip().splitlines()[-1:] == [NOT_READ]
    return None if open_end or not "".join(rest).strip() else "this is not shown: " + "\n".join(rest)


def _parts(shown: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line.strip() == NOT_READ:
            parts.append([])
        else:
            parts[-1].append(line)
    return [parts[0], *(part for part in parts[1:] if part)]


# ------------------------------------------------------------------------------------------------ running


def printed_by(command: str) -> str:
    """Standard output of `regard …`, in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), pytest.raises(SystemExit) as left:
        main(shlex.split(command.removeprefix("$ regard ")))
    assert left.value.code == 0, command
    return out.getvalue()


class Tolerant(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return same(want, got) or super().check_output(want, got, optionflags)


def failed_examples(body: str, names: dict[str, Any], page: str) -> str:
    """What goes wrong in a block of examples; `names` keeps what they define."""
    # A name of its own: doctest would look for the source of a function of an earlier block in this one.
    test = doctest.DocTestParser().get_doctest(body, {}, f"{page}, after {len(names)} names", page, 0)
    test.globs = names
    report = io.StringIO()
    doctest.DocTestRunner(Tolerant(), verbose=False).run(test, out=report.write, clear_globs=False)
    return report.getvalue()


def run_lesson(page: Path) -> list[str]:
    """Runs every command and example of a lesson in the working folder; what differs from the page."""
    names: dict[str, Any] = {}
    wrong = []
    for block in blocks(page):
        if block.file:
            continue
        if block.body.startswith(">>> "):
            if report := failed_examples(block.body, names, page.name):
                wrong.append(report)
        elif block.body.startswith("$ regard "):
            command, _, shown = block.body.partition("\n")
            printed = printed_by(command)
            if (part := difference(shown, printed)) is not None:
                wrong.append(f"{command}\nshown:\n{part}\nprinted:\n{printed}")
    return wrong


if __name__ == "__main__":
    os.environ.update(COLUMNS="100", NO_COLOR="1", REGARD_ENGINE="native")  # as the lessons were written
    for lesson in LESSONS:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            began = time.process_time()
            faults = run_lesson(lesson)
            print(f"{lesson.stem:32}{time.process_time() - began:5.1f} s  {len(faults)} differences", flush=True)
