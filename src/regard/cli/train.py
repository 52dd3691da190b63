"""`regard train` and `regard resume`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import FlagTable
from regard.cli.process import ExitCode
from regard.cli.recipe_flags import recipe_arguments
from regard.errors import RecipeError

if TYPE_CHECKING:
    from regard.training.run import Outcome


FLAGS = FlagTable("""
--out FOLDER   A folder that is new or empty. [default: runs/run, runs/run-2, …]
--override     Accept a recipe or data other than the run's.
--previous     Start from the checkpoint before the last one.
--verify       Repeat the last part of the training elsewhere and compare; change nothing.
""")


def train(context: typer.Context, out: Annotated[Path | None, FLAGS("--out")] = None) -> None:
    """Train a translator from a recipe or from two text files.

    A recipe is a TOML file; flags change its keys. Two text files are parallel: line n of one translates line n of the
    other.

    \b
      regard train --src corpus/train.en --tgt corpus/train.fr --preset tiny --minutes 5 --out runs/mine
      regard train --src corpus/train.en --tgt corpus/train.fr --start-from runs/mine --steps 200 --learning-rate 1e-4
    """
    arguments = recipe_arguments(context)
    if out is None and not arguments.arguments and not arguments.settings:
        typer.echo(context.get_help())
        return
    recipe_file = arguments.recipe("train")
    from regard.recipe.read import read_recipe
    from regard.training.folder import free_folder
    from regard.training.run import train as start

    recipe = read_recipe(recipe_file, arguments.settings)
    if out is None and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise RecipeError("several processes must share one folder; add --out FOLDER")
    report(start(recipe, out or free_folder(Path("runs/run"))))


def resume(
    context: typer.Context,
    override: Annotated[bool, FLAGS("--override")] = False,
    previous: Annotated[bool, FLAGS("--previous")] = False,
    verify: Annotated[bool, FLAGS("--verify")] = False,
) -> None:
    """Continue an interrupted run.

    It continues exactly where its last checkpoint is. The recipe is the run's own; a changed one needs --override.

    \b
      regard resume runs/mine
      regard resume runs/mine --minutes 10 --override
    """
    arguments = recipe_arguments(context)
    if len(arguments.arguments) != 1:
        raise RecipeError(f"resume takes one run, but got {len(arguments.arguments)}; type: regard resume FOLDER")
    run = Path(arguments.arguments[0])
    if verify:
        others = [name for name, value in (("override", override), ("previous", previous)) if value]
        check(run, [*(name for name, _ in arguments.settings), *others])
        return
    from regard.training.run import resume as go_on

    report(go_on(run, arguments.settings, override=override, previous=previous))


def check(run: Path, others: list[str]) -> None:
    """Print whether training leads from the previous checkpoint to the last one; exit code 0 or 3."""
    if others:
        raise RecipeError(f"--verify takes no other flags, but got --{others[0]}; it trains as the run did")
    from regard.training.verify import verify

    verdict = verify(run)
    typer.echo(verdict.line)
    raise typer.Exit(ExitCode.DONE if verdict.good else ExitCode.DOUBTFUL)


def report(outcome: Outcome) -> None:
    from regard.training.distributed import is_first

    run = shlex.quote(str(outcome.run))
    resumable = outcome.ending in ("interrupted", "out of time", "out of operations")
    if resumable and is_first():
        more = {"out of time": " --minutes MORE --override", "out of operations": " --flops MORE --override"}
        way = f"regard resume {run}{more.get(outcome.ending, '')}"
        typer.echo(f"{outcome.ending} after step {outcome.step:,}, saved; to continue: {way}")
    if resumable or not is_first():
        raise typer.Exit(ExitCode.INTERRUPTED if outcome.ending == "interrupted" else ExitCode.DONE)
    if outcome.dev_bleu is not None:
        typer.echo(f"best dev BLEU {outcome.dev_bleu:.2f} at step {outcome.best_step:,} ({outcome.signature})")
    if outcome.reward is not None:
        typer.echo(f"mean reward of the last translations drawn {outcome.reward:.4f}")
    if outcome.test_bleu is not None:
        typer.echo(f"test {outcome.test_bleu} ({outcome.test_bleu.signature})")
    typer.echo(f'{outcome.ending}; to use it: regard translate --model {run} "…"')
