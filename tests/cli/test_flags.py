"""Flags over all commands: one meaning each, groups, completion, and the flags that a library error is about."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer.main

from regard.cli.app import GROUPS, program
from regard.cli.flags import with_flags
from regard.errors import InputError, RecipeError, RegardError
from support import Call, load_script, regard

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("problem", "words", "flags"),
    [
        (InputError("beam must be 1 or more, but is 0"), ["translate", "a"], " (--beam)"),
        (InputError("beam must be 1 or more, but is 0"), ["explain", "lattice", "a"], " (--beam)"),
        (InputError("decode.beam must be 1 or more"), ["translate", "a"], " (--beam)"),
        (InputError("a lexicon needs pairs", parameter=("src", "tgt")), ["lexicon"], " (--src, --tgt)"),
        (InputError("a lexicon needs pairs", parameter=("src", "tgt")), ["info"], ""),
        (RecipeError("train.warmup is longer than the run"), ["train", "--steps", "10"], " (--warmup)"),
        (
            RecipeError("data.max_length (9) must be below train.batch_tokens (8)"),
            ["doctor"],
            " (--max-length, --batch-tokens)",
        ),
        (RecipeError("train.warmup is longer than the run"), ["translate", "a"], ""),
        (RecipeError("data.corpus.tag is not known"), ["train"], ""),
        (InputError("--beam must be 1 or more, but is 0"), ["translate", "a"], ""),
        (RegardError("the beam must be wide"), ["translate", "a"], ""),
    ],
)
def test_flags_are_added_where_the_command_has_them(problem: RegardError, words: list[str], flags: str) -> None:
    assert with_flags(problem, typer.main.get_command(program()), words) == f"{problem}{flags}"


def test_a_typed_recipe_key_is_named_as_a_flag(call: Call) -> None:
    answer = call("train", "--src", "a", "--tgt", "b", "--steps", "many")
    assert answer.code == 2
    assert 'train.steps must be a whole number, but is "many" (--steps)' in answer.err


def test_no_flag_has_two_kinds_of_value_or_two_meanings() -> None:
    flags = load_script(ROOT / "tools" / "flags.py")
    table = flags.flag_table()
    assert len({flag.command for flag in table}) > 20
    found = flags.clashes(table)
    assert not found


def test_a_clash_would_be_seen() -> None:
    flags = load_script(ROOT / "tools" / "flags.py")
    table = flags.flag_table()
    assert "--seeds" in flags.clashes([*table, flags.Flag("--seeds", "x", "list", "")])
    assert "--nbest" in flags.clashes([*table, flags.Flag("--nbest", "x", "N", "Something else.")])


def test_every_meaning_in_the_docs_is_of_a_flag() -> None:
    flags = load_script(ROOT / "tools" / "flags.py")
    assert set(flags.meanings()) <= {flag.name for flag in flags.flag_table()}


def test_every_command_is_in_one_group() -> None:
    members = [name for group in GROUPS.values() for name in group]
    assert sorted(members) == sorted(typer.main.get_command(program()).commands)


def test_help_shows_the_groups(call: Call) -> None:
    text = call("--help").out
    for title, members in GROUPS.items():
        section = text.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == [*members]
    assert not re.search(r"[a-z]\.\.\.$", text, flags=re.MULTILINE), "a first line is too long"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    words = {"_TYPER_COMPLETE_ARGS": "regard tr", "COMP_WORDS": "regard tr", "COMP_CWORD": "1"}
    done = regard(_REGARD_COMPLETE=f"complete_{shell}", _TYPER_COMPLETE_FISH_ACTION="get-args", **words)
    assert "translate" in done.stdout.decode()
    assert "bleu" not in done.stdout.decode()


def test_completion_knows_recipe_keys() -> None:
    words = "regard train --learning"
    done = regard(_REGARD_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="2")
    assert "--learning-rate" in done.stdout.decode()


LIBRARY_FLAGS = 17  # string literals outside `cli` that name a flag; the number may only fall


def literals_that_name_a_flag() -> list[str]:
    """String literals of the package outside `cli`, docstrings apart, with a flag such as --steps in them."""
    package, found = ROOT / "src" / "regard", []
    flags = {flag.name for flag in load_script(ROOT / "tools" / "flags.py").flag_table()}
    for path in sorted(package.rglob("*.py")):
        if "cli" in path.relative_to(package).parts or path.name == "build_page.py":  # the bundler has flags of its own
            continue
        text = path.read_text(encoding="utf-8")
        if "--" not in text:
            continue
        tree = ast.parse(text)
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                words = re.findall(r"(?<![\w(-])--[a-z][a-z-]*(?![\w:-])", node.value)  # not a variable of CSS
                found += [f"{path.relative_to(package)}:{node.lineno} {word}" for word in words if word in flags]
    return found


def test_the_library_names_no_flags() -> None:
    found = literals_that_name_a_flag()
    assert len(found) <= LIBRARY_FLAGS, "\n".join(found)
