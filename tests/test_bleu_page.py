"""docs/bleu.md is run: its examples are doctests, and its blocks are what the package prints.

A block that begins with `$ cat` says what files hold; one that begins with `$ regard bleu --explain` holds what the
command prints for the files as they were last shown. `REGARD_WRITE_DOCS=1 pytest tests/test_bleu_page.py` writes the
blocks anew.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import shlex
from pathlib import Path

from regard.metrics.bleu import MAX_ORDER, Bleu
from regard.metrics.show.working import render_text
from regard.metrics.working import explain_bleu

PAGE = Path(__file__).parent.parent / "docs" / "bleu.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = "$ regard bleu --explain "


def explained(command: str, files: dict[str, list[str]]) -> str:
    """What the command prints: its words as options of `Bleu`."""
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    parser.add_argument("hypothesis")
    parser.add_argument("--ref", action="append", required=True)
    parser.add_argument("--line", type=int)
    parser.add_argument("--tokenize", default="13a")
    parser.add_argument("--smooth", default="exp")
    parser.add_argument("--max-order", type=int, default=MAX_ORDER)
    parser.add_argument("--lowercase", action="store_true")
    parser.add_argument("--effective-order", action="store_true")
    words = vars(parser.parse_args(shlex.split(command.removeprefix(COMMAND))))
    hypotheses, references = files[words.pop("hypothesis")], [files[name] for name in words.pop("ref")]
    line = words.pop("line")
    return render_text(explain_bleu(Bleu(**words), hypotheses, references, line=line))


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
