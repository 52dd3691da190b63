"""Flags of commands: which command the words name, and the flags that a library error is about.

The library speaks of parameters ("beam must be 1 to 64") and of recipe keys ("train.warmup must be …"). The command
line knows both as flags of the command that was typed, and adds them to the message: "(--beam)", "(--warmup)".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from regard.cli.recipe_flags import RecipeCommand, recipe_flags
from regard.errors import RegardError

SECTION_KEY = re.compile(r"\b(?:data|text|model|train|reward|decode)\.([a-z]\w*)(?![\w.])")
SUBJECT = re.compile(r"([a-z]\w*) must ")


# What a flag is called elsewhere, or was called before: those of ours that the typed command has are suggested.
OTHER_FLAGS = {
    "--as-is": ("--no-mend",),
    "--batch-size": ("--batch-tokens",),
    "--beam-size": ("--beam",),
    "--cuda": ("--device",),
    "--file": ("--input", "--src"),
    "--from": ("--mirror",),
    "--gpu": ("--device",),
    "--heads": ("--head", "--cut-heads"),
    "--html": ("--out",),
    "--hyp": ("--ref",),
    "--markdown": ("--out",),
    "--n-best": ("--nbest",),
    "--num-beams": ("--beam",),
    "--pairs": ("--minimal-pairs", "--src", "--tgt"),
    "--reference": ("--ref",),
    "--samples": ("--resamples",),
    "--source": ("--src",),
    "--tags": ("--line-tags",),
    "--target": ("--tgt",),
    "--weights": ("--order-weights",),
    "--width": ("--digits",),
    "-i": ("--input",),
    "-o": ("--out",),
    "-r": ("--ref",),
}


def unknown_option(command: Any, flag: str) -> str:
    """The message for a flag that the command does not have, with those it may stand for."""
    own = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
    close = [name for name in OTHER_FLAGS.get(flag, ()) if name in own] or difflib.get_close_matches(flag, own, 1, 0.7)
    return f"no such option: {flag}" + (f"; did you mean {' or '.join(close)}?" if close else "")


def with_flags(problem: RegardError, app: Any, words: Sequence[str]) -> str:
    """The message of an error with the flags of the typed command that it is about."""
    text = str(problem)
    subject = SUBJECT.match(text)
    names = [*problem.parameters, *([subject[1]] if subject else []), *SECTION_KEY.findall(text)]
    command = command_of(app, command_words(app, words))
    flags = [flag for name in names if (flag := flag_of(command, name.rpartition(".")[2]))]
    if isinstance(command, RecipeCommand) and text.startswith("unknown key") and not flags:
        return f"{text} (regard train --help lists all keys)"
    missing = [flag for flag in dict.fromkeys(flags) if not re.search(rf"{flag}(?![\w-])", text)]
    count = ", which counts from 1" if "counted from 0" in text else ""
    return f"{text} ({', '.join(missing)}{count})" if missing else text


def command_words(app: Any, words: Sequence[str]) -> list[str]:
    """The first words that name a command: of `explain attention TEXT` two."""
    found: list[str] = []
    for word in words:
        if word not in getattr(command_of(app, found), "commands", {}):
            break
        found.append(word)
    return found


def command_of(app: Any, words: Sequence[str]) -> Any:
    """The command of the words that name it: `attention` of `explain`."""
    command = app
    for word in words:
        command = command.commands[word]
    return command


def flag_of(command: Any, name: str) -> str | None:
    """The flag of a parameter or of a recipe key, if the command has one for it."""
    for parameter in command.params:
        if parameter.name == name and parameter.param_type_name == "option":
            return str(max(parameter.opts, key=len))
    if not isinstance(command, RecipeCommand):
        return None
    flag = f"--{name.replace('_', '-')}"
    return flag if flag in recipe_flags() else None
