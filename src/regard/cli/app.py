"""All commands, in groups, and the help page that lists them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from regard.cli.recipe_flags import RecipeCommand, TrainCommand

GROUPS = {
    "Translate": ("translate", "serve", "page", "info", "lexicon", "pack", "import", "export"),
    "Train": ("train", "resume", "doctor", "bench", "fetch", "clean"),
    "Measure": ("bleu", "score", "compare"),
    "Explain": ("explain", "align"),
    "Learn": ("course", "demo", "claims", "complexity", "corpus"),
}
NAMES = [name for names in GROUPS.values() for name in names]
# A command is a function with its name in a module with its name, except for these.
MODULES = {
    "resume": "train",
    **dict.fromkeys(("info", "lexicon", "pack", "import", "export"), "models"),
    **dict.fromkeys(("demo", "claims", "complexity", "corpus"), "course"),
    "course": "lessons",
}
RECIPE_COMMANDS = {"train": TrainCommand, "resume": RecipeCommand, "doctor": RecipeCommand}
OWN_CLASSES = {
    "compare": "CompareCommand",
    "bleu": "BleuCommand",
    "serve": "ServeCommand",
    "course": "CourseCommand",
}  # in the command's module
USAGE = dict.fromkeys((*RECIPE_COMMANDS, "compare"), "[RECIPE.toml] [OPTIONS] [--KEY VALUE]…") | {
    "resume": "FOLDER [OPTIONS] [--KEY VALUE]…",
}


class GroupedHelp(TyperGroup):
    """`regard --help` with the commands in groups, in plain text, because rich would take half of the 0.3 s."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        wide = max(len(name) for name in self.commands)
        for title, members in GROUPS.items():
            helps = {name: self.commands[name].get_short_help_str(formatter.width - 6 - wide) for name in members}
            with formatter.section(title):
                formatter.write_dl([(name.ljust(wide), help) for name, help in helps.items()])


def new_app() -> typer.Typer:
    """The program without commands."""
    made = typer.Typer(
        name="regard",
        cls=GroupedHelp,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="""Neural machine translation that shows how it works.

        Small models are bundled (regard info --all). The examples in the help of each command use the translator
        from English to French, and the files of the embedded corpus, which the second line here writes:

        \b
          regard translate "The cat is on the mat."
          regard corpus --out corpus
          regard train --src corpus/train.en --tgt corpus/train.fr --preset tiny --minutes 5 --out runs/mine
          regard translate --model runs/mine "The cat is on the mat."

        Exit codes and the flags that all commands share: docs/commands.md.
        """,
    )
    made.callback()(options)
    return made


def add_command(program: typer.Typer, name: str) -> None:
    """Import the module of a command and add the command to the program."""
    module = import_module(f"regard.cli.{MODULES.get(name, name)}")
    if name in ("bench", "explain"):
        program.add_typer(module.app, name=name)
        return
    kind = getattr(module, OWN_CLASSES[name]) if name in OWN_CLASSES else RECIPE_COMMANDS.get(name, TyperCommand)
    program.command(name, cls=kind, options_metavar=USAGE.get(name, "[OPTIONS]"))(
        getattr(module, "import_" if name == "import" else name)
    )


@cache
def program(name: str | None = None) -> typer.Typer:
    """The program with only the command of this name, or with all commands if there is none of this name: importing all
    takes as long as translating a sentence."""
    made = new_app()
    for each in [name] if name in NAMES else NAMES:
        add_command(made, each)
    return made


def version(value: bool) -> None:
    if value:
        from regard.version import __version__

        typer.echo(f"regard {__version__}")
        raise typer.Exit


def options(
    version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
) -> None:
    pass
