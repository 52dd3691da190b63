"""Flags in error messages: the command that was called, and the flags that a library error is about.

The library names parameters ("beam must be 1 to 64") and recipe keys ("train.warmup must be …"). Both are flags of the
command that was called, and are added to the message: "(--beam)", "(--warmup)".
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.cli.recipe_flags import RecipeCommand, recipe_flags
from regard.errors import RegardError

SECTION_KEY = re.compile(r"\b(?:data|text|model|train|reward|decode)\.([a-z]\w*)(?![\w.])")
SUBJECT = re.compile(r"([a-z]\w*) must ")


def unknown_option(command: Any, flag: str) -> str:
    """The message for a flag that the command does not have, with similar flags."""
    own = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
    others = tomllib.loads(Path(__file__).with_name("other_flags.toml").read_text(encoding="utf-8"))
    close = [name for name in others.get(flag, ()) if name in own] or difflib.get_close_matches(flag, own, 1, 0.7)
    return f"no such option: {flag}" + (f"; did you mean {' or '.join(close)}?" if close else "")


def with_flags(problem: RegardError, app: Any, words: Sequence[str]) -> str:
    """The message of an error with the flags of the called command that it is about."""
    text = str(problem)
    subject = SUBJECT.match(text)
    names = [*problem.parameters, *([subject[1]] if subject else []), *SECTION_KEY.findall(text)]
    command, _ = find_command(app, words)
    flags = [flag for name in names if (flag := flag_of(command, name.rpartition(".")[2]))]
    if isinstance(command, RecipeCommand) and text.startswith("unknown key") and not flags:
        return f"{text} (regard train --help lists all keys)"
    missing = [flag for flag in dict.fromkeys(flags) if not re.search(rf"{flag}(?![\w-])", text)]
    count = ", which counts from 1" if "counted from 0" in text else ""
    return f"{text} ({', '.join(missing)}{count})" if missing else text


def find_command(app: Any, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that the first words name, and these words: for `explain attention TEXT`, the first two."""
    command, names = app, list[str]()
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
        names.append(word)
    return command, names


def flag_of(command: Any, name: str) -> str | None:
    """The flag of a parameter or of a recipe key, or None if the command has none."""
    for parameter in command.params:
        if parameter.name == name and parameter.param_type_name == "option":
            return str(max(parameter.opts, key=len))
    if not isinstance(command, RecipeCommand):
        return None
    flag = f"--{name.replace('_', '-')}"
    return flag if flag in recipe_flags() else None
