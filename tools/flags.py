"""Every flag of every command with its kind of value and its help, and the flags that clash.

    python tools/flags.py

A flag clashes when two commands give it different kinds of value, or different meanings: help that differs, and no line
for the flag in the table of docs/commands.md that states its one meaning. All recipe keys count as one command.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

DOCS = Path(__file__).parents[1] / "docs" / "commands.md"


class Flag(NamedTuple):
    name: str
    command: str
    kind: str  # switch, N, X, text or list
    help: str


def flag_table() -> list[Flag]:
    from regard.cli.app import program
    from regard.cli.serve import inner

    return [*command_flags(program(), "regard"), *command_flags(inner, "regard serve"), *recipe_key_flags()]


def command_flags(app: typer.Typer, name: str) -> Iterator[Flag]:
    for command in app.registered_commands:
        assert command.callback is not None
        hints = get_type_hints(command.callback, include_extras=True)
        for parameter in inspect.signature(command.callback).parameters:
            annotated = getattr(hints[parameter], "__metadata__", ())
            for option in (each for each in annotated if isinstance(each, OptionInfo)):
                words = [*([option.default] if isinstance(option.default, str) else []), *(option.param_decls or ())]
                names = [part for word in words for part in word.split("/") if part.startswith("-")]
                kind = kind_of(get_args(hints[parameter])[0], option.metavar or "")
                for flag in names or [f"--{parameter.replace('_', '-')}"]:
                    yield Flag(flag, f"{name} {command.name or command.callback.__name__}", kind, option.help or "")
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield from command_flags(group.typer_instance, f"{name} {group.name}")


def recipe_key_flags() -> Iterator[Flag]:
    from regard.cli.recipe_flags import recipe_keys

    for key, kind in recipe_keys().items():
        yield Flag(f"--{key.replace('_', '-')}", "recipe", kind_of(kind, ""), "a recipe key")


def kind_of(annotation: Any, metavar: str) -> str:
    """
    >>> kind_of(int | None, "N"), kind_of(bool, ""), kind_of(list[Path], "FILE"), kind_of(str, "N,N,…")
    ('N', 'switch', 'text', 'list')
    """
    if "," in metavar or (get_origin(annotation) is tuple and not metavar):
        return "list"
    if get_origin(annotation) is Literal:
        return "text"
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if parts:  # of a union, or of a list: a flag that can be given several times
        return kind_of(parts[0], metavar)
    return {bool: "switch", int: "N", float: "X"}.get(annotation, "text")


def meanings() -> dict[str, str]:
    """Flag → meaning, from the table in docs/commands.md."""
    text = DOCS.read_text(encoding="utf-8") if DOCS.exists() else ""
    return dict(re.findall(r"^\| `(--[a-z-]+)[^`]*` \| (.+?) \|$", text, flags=re.MULTILINE))


def clashes(flags: list[Flag]) -> dict[str, str]:
    """Flag → what differs."""
    by_name: dict[str, list[Flag]] = defaultdict(list)
    for flag in flags:
        by_name[flag.name].append(flag)
    known, found = meanings(), {}
    for name, uses in by_name.items():
        if len({use.kind for use in uses}) > 1:
            found[name] = "kinds: " + ", ".join(f"{use.kind} ({use.command})" for use in uses)
        elif len({use.help for use in uses}) > 1 and name not in known:
            found[name] = "meanings: " + "; ".join(f"{use.help} ({use.command})" for use in uses)
    return found


if __name__ == "__main__":
    table = flag_table()
    for flag in sorted(table):
        print(f"{flag.name:<20}{flag.kind:<8}{flag.command:<28}{flag.help[:70]}")
    found = clashes(table)
    print(f"\n{len(found)} flags clash")
    for name, why in found.items():
        print(f"{name}: {why}")
