"""Recipe keys as flags: a command line taken apart where the keys decide which flags there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.errors import RecipeError


@dataclass
class Words:
    """A command line taken apart."""

    plain: list[str] = field(default_factory=list)
    settings: list[tuple[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)


def read_words(args: Sequence[str], options: Sequence[str], switches: Sequence[str]) -> Words:
    """`--key value`, `--key=value`, `--flag`, `--no-flag` and `--set key=value`; everything else is a plain word."""
    words, rest = Words(), list(args)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            words.plain.append(word)
            continue
        if word == "-h":
            word = "--help"
        if not word.startswith("--"):
            raise RecipeError(f"unknown flag {word}; flags have two dashes, as in --steps 500")
        name, given, value = word[2:].partition("=")
        if name in switches and not given:
            words.options[name] = "true"
        elif name == "set":
            key, equals, value = (value if given else _next(rest, word)).partition("=")
            if not equals:
                raise RecipeError(f'--set takes key=value, as in --set steps=500, but got "{key}"')
            words.settings.append((key.strip(), value.strip()))
        elif name in options:
            words.options[name] = value if given else _next(rest, word)
        elif _is_switch(name) and not given:
            words.settings.append((name.removeprefix("no-"), "false" if name.startswith("no-") else "true"))
        else:
            words.settings.append((name, value if given else _value(rest, name)))
    return words


def _next(rest: list[str], flag: str) -> str:
    if not rest:
        raise RecipeError(f"{flag} needs a value after it")
    if rest[0].startswith("--"):
        raise RecipeError(f"{flag} needs a value, but {rest[0]} follows it (if that is the value: {flag}={rest[0]})")
    return rest.pop(0)


def _value(rest: list[str], name: str) -> str:
    from regard.recipe.read import find_key

    if not rest or rest[0].startswith("--"):
        find_key(name, {})  # an unknown key is the likelier mistake, and says so
    return _next(rest, f"--{name}")


def _is_switch(name: str) -> bool:
    from regard.models.table import ARCHITECTURES
    from regard.recipe.read import known_keys

    bare = name.removeprefix("no-").replace("-", "_").rpartition(".")[2]
    tables = [{"model": {"architecture": architecture}} for architecture in ARCHITECTURES]
    return any(keys.get(bare) is bool for some in tables for keys in known_keys(some).values())


def print_help(usage: str, what: str, examples: list[str], options: list[tuple[str, str]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"\n[bold]Usage:[/bold] {escape(usage)}\n\n{what}\n")
    for example in examples:
        console.print(f"  [green]{example}[/green]")
    table = Table(box=None, padding=(0, 2, 0, 2), show_header=False)
    for name, meaning in [*options, ("-h, --help", "show this")]:
        table.add_row(f"[cyan]{name}[/cyan]", meaning)
    console.print()
    console.print(table)
