"""`regard train` and `regard resume`: recipe keys as flags.

The keys are one set, so these commands read their own words.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import typer

from regard.errors import RecipeError

if TYPE_CHECKING:
    from regard.training.run import Outcome


@dataclass
class Words:
    """A command line taken apart."""

    plain: list[str] = field(default_factory=list)
    settings: list[tuple[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)


def train(context: typer.Context) -> None:
    """Train a translator from a recipe or from two text files."""
    words = read_words(context.args, options=("out",), switches=("help",))
    if "help" in words.options or not context.args:
        explain_train()
        return
    from regard.recipe import read_recipe
    from regard.training.folder import free_folder
    from regard.training.run import train as start

    if len(words.plain) > 1:
        raise RecipeError(f"train takes one recipe, but got {len(words.plain)} words without a flag: {words.plain}")
    recipe = read_recipe(Path(words.plain[0]) if words.plain else None, words.settings)
    out = Path(words.options["out"]) if "out" in words.options else free_folder(Path("runs/run"))
    report(start(recipe, out))


def resume(context: typer.Context) -> None:
    """Go on with an interrupted run, exactly where it was."""
    words = read_words(context.args, options=(), switches=("help", "override", "previous"))
    if "help" in words.options:
        explain_resume()
        return
    if len(words.plain) != 1:
        raise RecipeError(f"resume takes one run, but got {len(words.plain)}; type: regard resume FOLDER")
    from regard.training.run import resume as go_on

    outcome = go_on(
        Path(words.plain[0]),
        words.settings,
        override="override" in words.options,
        previous="previous" in words.options,
    )
    report(outcome)


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
    from regard.recipe import find_key

    if not rest or rest[0].startswith("--"):
        find_key(name, {})  # an unknown key is the likelier mistake, and says so
    return _next(rest, f"--{name}")


def _is_switch(name: str) -> bool:
    from regard.recipe import known_keys

    bare = name.removeprefix("no-").replace("-", "_").rpartition(".")[2]
    return any(keys.get(bare) is bool for keys in known_keys({}).values())


def report(outcome: Outcome) -> None:
    run = shlex.quote(str(outcome.run))
    if outcome.ending in ("interrupted", "out of time"):
        typer.echo(f"{outcome.ending} after step {outcome.step:,}, saved; to go on: regard resume {run}")
        raise typer.Exit(130 if outcome.ending == "interrupted" else 0)
    if outcome.dev_bleu is not None:
        typer.echo(f"best dev BLEU {outcome.dev_bleu:.2f} at step {outcome.best_step:,} ({outcome.signature})")
    if outcome.test_bleu is not None:
        typer.echo(f"test {outcome.test_bleu} ({outcome.test_bleu.signature})")
    typer.echo(f'{outcome.ending}; to use it: regard translate --model {run} "…"')


def explain_train() -> None:
    print_help(
        "regard train [RECIPE.toml] [--KEY VALUE]… [--set KEY=VALUE]… [--out FOLDER]",
        "Train a translator from a recipe, from two text files, or from both: flags are laid over the recipe.",
        [
            "regard train --src a.en --tgt a.fr --out runs/mine",
            "regard train --pairs corpus.tsv.gz --preset tiny --steps 3000",
            "regard train recipe.toml --set train.learning_rate=5e-4",
        ],
        [
            ("--out FOLDER", "where the run goes; it must not hold anything yet (default: runs/run, runs/run-2, …)"),
            ("--set KEY=VALUE", "any key below, also with its section: train.steps=500"),
        ],
    )
    print_keys()


def explain_resume() -> None:
    print_help(
        "regard resume FOLDER [--KEY VALUE]… [--override] [--previous]",
        "Go on with a run exactly where its last checkpoint is. The recipe is the run's own; a changed one needs "
        "--override.",
        ["regard resume runs/mine", "regard resume runs/mine --steps 20000 --override"],
        [
            ("--override", "accept a recipe or data that differs from the run's"),
            ("--previous", "start from the checkpoint before the last one"),
            ("--KEY VALUE", "a key of the recipe; regard train --help lists them"),
            ("--set KEY=VALUE", "the same, also with the key's section: train.steps=500"),
        ],
    )


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


def print_keys() -> None:
    """Help that is made of the recipe itself, so that it cannot fall behind."""
    from rich.console import Console
    from rich.table import Table

    from regard.bundle import ARCHITECTURES
    from regard.config import keys_of
    from regard.recipe import SECTIONS, Recipe

    table = Table(box=None, padding=(0, 2, 0, 2), show_header=False)
    defaults: dict[str, Any] = Recipe().tables()
    for section, keys in SECTIONS.items():
        table.add_row("", "")
        table.add_row(f"[bold]\\[{section}][/bold]", "[dim]default[/dim]")
        if section == "model":
            presets = ", ".join(ARCHITECTURES["transformer"][1])
            table.add_row("[cyan]--architecture[/cyan]", "transformer", f"one of {', '.join(ARCHITECTURES)}")
            table.add_row("[cyan]--preset[/cyan]", "small", f"sizes to start from: {presets}")
        kinds = keys_of(keys)
        for key in dataclasses.fields(keys):
            value, kind = defaults[section][key.name], kinds[key.name]
            shown = "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            flag = f"--{key.name.replace('_', '-')}"
            choices = f" ({', '.join(get_args(kind))})" if get_origin(kind) is Literal else ""
            table.add_row(f"[cyan]{flag}[/cyan]", shown, key.metadata["help"] + choices)
    Console(highlight=False).print(table)
