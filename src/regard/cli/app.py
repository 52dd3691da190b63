"""All commands, in groups, and the help that lists them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandInfo

from regard.cli.align import align
from regard.cli.bench import bench
from regard.cli.bleu import BleuCommand, bleu
from regard.cli.claims import claims
from regard.cli.clean import clean
from regard.cli.compare import CompareCommand, compare
from regard.cli.complexity import complexity
from regard.cli.corpus import corpus
from regard.cli.demo import demo
from regard.cli.doctor import doctor
from regard.cli.explain import app as explain
from regard.cli.export import export
from regard.cli.fetch import fetch
from regard.cli.import_model import import_
from regard.cli.info import info
from regard.cli.lexicon import lexicon
from regard.cli.pack import pack
from regard.cli.page import page
from regard.cli.recipe_flags import RecipeCommand, TrainCommand
from regard.cli.score import score
from regard.cli.serve import ServeCommand, serve
from regard.cli.train import resume, train
from regard.cli.translate import translate

GROUPS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "Translate": (translate, serve, page, info, lexicon, pack, import_, export),
    "Train": (train, resume, doctor, bench, fetch, clean),
    "Measure": (bleu, score, compare),
    "Explain": (explain, align),
    "Learn": (demo, claims, complexity, corpus),
}
RECIPE_COMMANDS: dict[Callable[..., None], type[RecipeCommand]] = {
    train: TrainCommand,
    resume: RecipeCommand,
    doctor: RecipeCommand,
    bench: RecipeCommand,
    compare: CompareCommand,
}
OWN_COMMANDS: dict[Callable[..., None], type[TyperCommand]] = {bleu: BleuCommand, serve: ServeCommand}
USAGE = {
    resume: "FOLDER [OPTIONS] [--KEY VALUE]…",
    bench: "train [RECIPE.toml] [OPTIONS] [--KEY VALUE]…",
}


def name_of(command: Callable[..., None] | typer.Typer) -> str:
    return "explain" if isinstance(command, typer.Typer) else command.__name__.rstrip("_")  # import_


class GroupedHelp(TyperGroup):
    """`regard --help` with the commands in groups, in plain text: rich would take half of the 0.3 s."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        wide = max(len(name) for name in self.commands)
        for title, members in GROUPS.items():
            rows = []
            for name in map(name_of, members):
                help = self.commands[name].get_short_help_str(formatter.width - 6 - wide)
                rows.append((name.ljust(wide), help))
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    name="regard",
    cls=GroupedHelp,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Neural machine translation that shows how it works.

    Small models are in the box (regard info --all). The examples in the help of each command use the translator
    from English to French, and the files of the embedded corpus, which the second line here writes:

    \b
      regard translate "The cat is on the mat."
      regard corpus --out corpus
      regard train --src corpus/train.en --tgt corpus/train.fr --preset tiny --minutes 5 --out runs/mine
      regard translate --model runs/mine "The cat is on the mat."

    Exit codes and the flags that all commands share: docs/commands.md.
    """,
)

for members in GROUPS.values():
    for command in members:
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name_of(command))
        elif command in RECIPE_COMMANDS:
            usage = USAGE.get(command, "[RECIPE.toml] [OPTIONS] [--KEY VALUE]…")
            app.command(cls=RECIPE_COMMANDS[command], options_metavar=usage)(command)
        else:
            app.command(name_of(command), cls=OWN_COMMANDS.get(command, TyperCommand))(command)


def version(value: bool) -> None:
    if value:
        from regard.version import __version__

        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
) -> None:
    pass


def only(name: str) -> typer.Typer:
    """The same with no other command than the one of this name; with all of them, if there is none."""
    chosen = copy(app)
    chosen.registered_commands = [one for one in app.registered_commands if command_name(one) == name]
    chosen.registered_groups = [one for one in app.registered_groups if one.name == name]
    return chosen if chosen.registered_commands or chosen.registered_groups else app


def command_name(command: CommandInfo) -> str:
    assert command.callback is not None
    return command.name or name_of(command.callback)
