"""`regard train` and `regard resume`: recipe keys as flags.

The keys are one set, so these commands read their own words.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import typer

from regard.cli.words import print_help, read_words
from regard.errors import RecipeError

if TYPE_CHECKING:
    from regard.training.run import Outcome


def train(context: typer.Context) -> None:
    """Train a translator from a recipe or from two text files."""
    words = read_words(context.args, options=("out",), switches=("help",))
    if "help" in words.options or not context.args:
        explain_train(dict(words.settings).get("architecture", "transformer"))
        return
    from regard.recipe.read import read_recipe
    from regard.training.folder import free_folder
    from regard.training.run import train as start

    if len(words.plain) > 1:
        raise RecipeError(f"train takes one recipe, but got {len(words.plain)} words without a flag: {words.plain}")
    recipe = read_recipe(Path(words.plain[0]) if words.plain else None, words.settings)
    if "out" not in words.options and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise RecipeError("several processes must be told which folder they share; add --out FOLDER")
    out = Path(words.options["out"]) if "out" in words.options else free_folder(Path("runs/run"))
    report(start(recipe, out))


def resume(context: typer.Context) -> None:
    """Go on with an interrupted run, exactly where it was."""
    words = read_words(context.args, options=(), switches=("help", "override", "previous", "verify"))
    if "help" in words.options:
        explain_resume()
        return
    if len(words.plain) != 1:
        raise RecipeError(f"resume takes one run, but got {len(words.plain)}; type: regard resume FOLDER")
    if "verify" in words.options:
        check(Path(words.plain[0]), [*words.settings, *((name, "") for name in words.options if name != "verify")])
        return
    from regard.training.run import resume as go_on

    outcome = go_on(
        Path(words.plain[0]),
        words.settings,
        override="override" in words.options,
        previous="previous" in words.options,
    )
    report(outcome)


def check(run: Path, others: list[tuple[str, str]]) -> None:
    """One line, and 0 or 1: whether training leads from the previous checkpoint to the last one."""
    if others:
        raise RecipeError(f"--verify takes no other flags, but got --{others[0][0]}; it trains as the run did")
    from regard.training.verify import verify

    verdict = verify(run)
    typer.echo(verdict.line)
    raise typer.Exit(0 if verdict.good else 1)


def report(outcome: Outcome) -> None:
    from regard.training.distributed import is_first

    run = shlex.quote(str(outcome.run))
    resumable = outcome.ending in ("interrupted", "out of time", "out of operations")
    if resumable and is_first():
        typer.echo(f"{outcome.ending} after step {outcome.step:,}, saved; to go on: regard resume {run}")
    if resumable or not is_first():
        raise typer.Exit(130 if outcome.ending == "interrupted" else 0)
    if outcome.dev_bleu is not None:
        typer.echo(f"best dev BLEU {outcome.dev_bleu:.2f} at step {outcome.best_step:,} ({outcome.signature})")
    if outcome.reward is not None:
        typer.echo(f"mean reward of the last translations drawn {outcome.reward:.4f}")
    if outcome.test_bleu is not None:
        typer.echo(f"test {outcome.test_bleu} ({outcome.test_bleu.signature})")
    typer.echo(f'{outcome.ending}; to use it: regard translate --model {run} "…"')


def explain_train(architecture: str) -> None:
    print_help(
        "regard train [RECIPE.toml] [--KEY VALUE]… [--set KEY=VALUE]… [--out FOLDER]",
        "Train a translator from a recipe, from two text files, or from both: flags are laid over the recipe.",
        [
            "regard train --src a.en --tgt a.fr --out runs/mine",
            "regard train --pairs corpus.tsv.gz --preset tiny --steps 3000",
            "regard train recipe.toml --set train.learning_rate=5e-4",
            "regard train --src a.en --tgt a.fr --start-from runs/mine --learning-rate 1e-4 --out runs/tuned",
            "regard train recipe.toml --start-from runs/mine --objective self-critical --batch-tokens 512",
        ],
        [
            ("--out FOLDER", "where the run goes; it must not hold anything yet (default: runs/run, runs/run-2, …)"),
            ("--set KEY=VALUE", "any key below, also with its section: train.steps=500"),
        ],
    )
    print_keys(architecture)


def explain_resume() -> None:
    print_help(
        "regard resume FOLDER [--KEY VALUE]… [--override] [--previous] [--verify]",
        "Go on with a run exactly where its last checkpoint is. The recipe is the run's own; a changed one needs "
        "--override.",
        ["regard resume runs/mine", "regard resume runs/mine --steps 20000 --override"],
        [
            ("--override", "accept a recipe or data that differs from the run's"),
            ("--previous", "start from the checkpoint before the last one"),
            ("--verify", "train the last stretch once more, aside, and say if it gives the same; changes nothing"),
            ("--KEY VALUE", "a key of the recipe; regard train --help lists them"),
            ("--set KEY=VALUE", "the same, also with the key's section: train.steps=500"),
        ],
    )


def print_keys(architecture: str) -> None:
    """Help that is made of the recipe itself, so that it cannot fall behind."""
    from rich.console import Console
    from rich.table import Table

    from regard.config import keys_of
    from regard.models.table import ARCHITECTURES, check_architecture
    from regard.recipe.read import recipe_from_tables
    from regard.recipe.recipe import SECTIONS

    check_architecture(architecture)
    table = Table(box=None, padding=(0, 2, 0, 2), show_header=False)
    defaults: dict[str, Any] = recipe_from_tables({"model": {"architecture": architecture}}).tables()
    for section, keys in {**SECTIONS, "model": ARCHITECTURES[architecture].config}.items():
        table.add_row("", "")
        table.add_row(f"[bold]\\[{section}][/bold]", "[dim]default[/dim]")
        if section == "model":
            presets = ", ".join(ARCHITECTURES[architecture].presets)
            others = f"one of {', '.join(ARCHITECTURES)}; each has keys of its own: --architecture NAME --help"
            table.add_row("[cyan]--architecture[/cyan]", architecture, others)
            table.add_row("[cyan]--preset[/cyan]", "small", f"sizes to start from: {presets}")
        kinds = keys_of(keys)
        for key in dataclasses.fields(keys):
            value, kind = defaults[section][key.name], kinds[key.name]
            shown = "–" if value in (None, ()) else str(value).lower() if isinstance(value, bool) else str(value)
            flag = f"--{key.name.replace('_', '-')}"
            choices = f" ({', '.join(get_args(kind))})" if get_origin(kind) is Literal else ""
            table.add_row(f"[cyan]{flag}[/cyan]", shown, key.metadata["help"] + choices)
    Console(highlight=False).print(table)
