"""Recipe keys as flags: the class of commands that take every key of a recipe in addition to their own flags.

`RecipeCommand` is the class of `train`, `resume`, `compare`, `bench train` and `doctor`. Their own flags are declared
as for any command. Every other flag is a key of the recipe: `--steps 500`, `--steps=500`, `--compile` or
`--no-compile` for a switch, `--set train.steps=500` for a key with its section. Words without a flag are arguments. A
command gets both with `recipe_arguments(context)`; the recipe checks the keys, so new keys need no change here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperCommand

from regard.config import UNIONS
from regard.errors import RecipeError

KEYS = ("--KEY VALUE", "A key of the recipe, such as --steps 500; regard train --help lists all.")
SET = ("--set KEY=VALUE", "The same, also with the key's section: --set train.steps=500.")

PLACEHOLDERS = {int: "N", float: "X", str: "TEXT"}


@dataclass
class RecipeArguments:
    """A parsed command line: arguments, recipe keys and the command's own flags."""

    arguments: list[str] = field(default_factory=list)
    settings: list[tuple[str, str]] = field(default_factory=list)  # recipe keys
    options: list[str] = field(default_factory=list)  # the command's own flags, to be parsed by click

    def recipe(self, command: str) -> Path | None:
        """The recipe, which is the only argument; None without one. Raises RecipeError if there are several."""
        if len(self.arguments) > 1:
            raise RecipeError(
                f"{command} takes one recipe, but got {len(self.arguments)} words without a flag: {self.arguments}"
            )
        return Path(self.arguments[0]) if self.arguments else None


class RecipeCommand(TyperCommand):
    """A command that takes recipe keys as flags."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name[2:]: p for p in self.get_params(ctx) for name in p.opts if name.startswith("--")}
        valued = [name for name, parameter in own.items() if not getattr(parameter, "is_flag", False)]
        try:
            ctx.obj = parse_words(args, valued, [name for name in own if name not in valued])
        except RecipeError:
            if not ctx.resilient_parsing:  # completion parses incomplete command lines
                raise
            ctx.obj = RecipeArguments()
        return super().parse_args(ctx, ctx.obj.options)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Recipe keys"):
            formatter.write_dl([KEYS, SET])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        found = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("--"):
            return found
        item = type(super().shell_complete(ctx, "--help")[0])  # its module is private in some versions of typer
        return found + [item(flag) for flag in recipe_flags() if flag.startswith(incomplete)]


class TrainCommand(RecipeCommand):
    """`regard train`, whose help lists every key, including those of the named architecture."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        for title, rows in key_help(dict(recipe_arguments(ctx).settings).get("architecture", "transformer")):
            with formatter.section(title):
                formatter.write_dl(rows)


def recipe_arguments(context: Any) -> RecipeArguments:
    """The arguments and recipe keys of a `RecipeCommand`."""
    assert isinstance(context.obj, RecipeArguments), "the command's class is RecipeCommand"
    return context.obj


def parse_words(args: Sequence[str], options: Sequence[str], switches: Sequence[str]) -> RecipeArguments:
    """Parse `--key value`, `--key=value`, `--flag`, `--no-flag` and `--set key=value`; all else is an argument."""
    arguments, rest = RecipeArguments(), list(args)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            arguments.arguments.append(word)
            continue
        if word == "-h":
            word = "--help"
        if not word.startswith("--"):
            raise RecipeError(f"unknown flag {word}; flags have two dashes, as in --steps 500")
        name, equals, value = word[2:].partition("=")
        if name in switches and not equals:
            arguments.options.append(word)
        elif name == "set":
            arguments.settings.append(_setting(value if equals else _next(rest, word)))
        elif name in options:
            arguments.options.append(f"--{name}={value if equals else _next(rest, word)}")
        elif not equals and is_switch(name):
            arguments.settings.append((name.removeprefix("no-"), "false" if name.startswith("no-") else "true"))
        else:
            arguments.settings.append((name, value if equals else _value(rest, name)))
    return arguments


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals:
        raise RecipeError(f'--set takes key=value, as in --set steps=500, but got "{key}"')
    return key.strip(), value.strip()


def _next(rest: list[str], flag: str) -> str:
    if not rest:
        raise RecipeError(f"{flag} needs a value after it")
    if rest[0].startswith("--"):
        raise RecipeError(f"{flag} needs a value, but {rest[0]} follows it (if that is the value: {flag}={rest[0]})")
    return rest.pop(0)


def _value(rest: list[str], name: str) -> str:
    from regard.recipe.read import find_key

    if not rest or rest[0].startswith("--"):
        find_key(name, {})  # an unknown key is the more likely mistake, and is reported
    return _next(rest, f"--{name}")


def recipe_keys() -> dict[str, Any]:
    """Every key of every section and architecture: name → type."""
    from regard.models.table import ARCHITECTURES
    from regard.recipe.read import known_keys

    tables = [{"model": {"architecture": architecture}} for architecture in ARCHITECTURES]
    return {key: kind for some in tables for keys in known_keys(some).values() for key, kind in keys.items()}


def recipe_flags() -> list[str]:
    return [f"--{key.replace('_', '-')}" for key in recipe_keys()]


def is_switch(name: str) -> bool:
    return recipe_keys().get(name.removeprefix("no-").replace("-", "_").rpartition(".")[2]) is bool


def key_help(architecture: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every section with its flags, generated from the recipe's declaration."""
    import dataclasses

    from regard.config import keys_of
    from regard.models.table import ARCHITECTURES, check_architecture
    from regard.recipe.read import recipe_from_tables
    from regard.recipe.recipe import SECTIONS

    check_architecture(architecture)
    defaults = recipe_from_tables({"model": {"architecture": architecture}}).tables()
    sections = []
    for section, keys in {**SECTIONS, "model": ARCHITECTURES[architecture].config}.items():
        rows = []
        if section == "model":
            presets = ", ".join(ARCHITECTURES[architecture].presets)
            others = f"one of {', '.join(ARCHITECTURES)}; regard train --architecture NAME --help lists its keys"
            rows.append(("--architecture NAME", f"{others}  [default: {architecture}]"))
            rows.append(("--preset NAME", f"sizes to start from: {presets}  [default: small]"))
        kinds = keys_of(keys)
        for key in dataclasses.fields(keys):
            flag, value = f"--{key.name.replace('_', '-')}", defaults[section][key.name]
            rows.append((_with_value(flag, kinds[key.name]), key.metadata["help"] + _default(value)))
        sections.append((f"[{section}]", rows))
    return sections


def _with_value(flag: str, kind: Any) -> str:
    """
    >>> _with_value("--steps", int), _with_value("--norm", Literal["pre", "post"]), _with_value("--compile", bool)
    ('--steps N', '--norm [pre|post]', '--compile / --no-compile')
    """
    kinds = [k for k in (get_args(kind) if get_origin(kind) in UNIONS else (kind,)) if k is not type(None)]
    if kinds[0] is bool:
        return f"{flag} / --no-{flag[2:]}"
    if get_origin(kinds[0]) is Literal:
        return f"{flag} [{'|'.join(get_args(kinds[0]))}]"
    return f"{flag} {PLACEHOLDERS.get(kinds[0], 'LIST')}"


def _default(value: Any) -> str:
    if value in (None, ()):
        return ""
    return f"  [default: {str(value).lower() if isinstance(value, bool) else value}]"
