"""docs/bleu.md is run: its examples are doctests, and its blocks are what the package prints.

A block that begins with `$ cat` says what files hold; one that begins with `$ regard bleu` holds what the
command prints for the files as they were last shown. `REGARD_WRITE_DOCS=1 pytest tests/test_bleu_page.py` writes the
blocks anew.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import tempfile
from pathlib import Path

import pytest

from regard.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "bleu.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = "$ regard bleu "


def explained(command: str, files: dict[str, list[str]]) -> str:
    """What the command line prints for the files as they are shown."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, lines in files.items():
            Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as left:
            main([*shlex.split(command.removeprefix("$ regard ")), "--quiet"])
        assert left.value.code == 0
    return out.getvalue().rstrip("\n")


def shown_files(block: str) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for line in block.splitlines():
        if line.startswith("$ cat "):
            name = line.removeprefix("$ cat ")
            files[name] = []
        else:
            files[name].append(line)
    return files


def regenerated(page: str) -> str:
    """The page with every block as it is printed now."""
    files: dict[str, list[str]] = {}

    def again(found: re.Match[str]) -> str:
        block = found[1]
        if block.startswith("$ cat "):
            files.update(shown_files(block))
            return found[0]
        command = block.splitlines()[0]
        assert command.startswith(COMMAND), command
        return f"```\n{command}\n{explained(command, files)}\n```"

    return BLOCK.sub(again, page)


def any_version(page: str) -> str:
    """Without sacreBLEU's version in the signatures, the one thing that another installation may print differently."""
    return re.sub(r"version:\S+", "version:…", page)


def test_blocks_are_what_is_printed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    again = regenerated(page)
    if os.environ.get("REGARD_WRITE_DOCS"):
        PAGE.write_text(again, encoding="utf-8")
        page = again
    assert len([block for block in BLOCK.findall(page) if block.startswith(COMMAND)]) >= 6
    assert any_version(page) == any_version(again)


def test_a_block_that_is_out_of_date_is_noticed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    stale = page.replace("0.8187", "0.8178")
    assert stale != page
    assert regenerated(stale) != stale
    assert any_version(regenerated(stale)).count("BP = e^(1 − r/c)") == any_version(page).count("BP = e^(1 − r/c)")


def test_examples_of_the_page() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
