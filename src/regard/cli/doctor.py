"""`regard doctor`: checks data and recipe, and predicts the cost of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from regard.cli.flags import SECTION_KEY
from regard.cli.options import FlagTable, Json
from regard.cli.process import ExitCode
from regard.cli.recipe_flags import recipe_arguments

FLAGS = FlagTable("""
--sample-pairs N 1000..   Pairs on which languages and alignment are judged, at most. [default: 20000]
--no-predict              Check the data only; train nothing.
""")


def doctor(
    context: typer.Context,
    sample_pairs: Annotated[int | None, FLAGS("--sample-pairs")] = None,
    no_predict: Annotated[bool, FLAGS("--no-predict")] = False,
    as_json: Json = False,
) -> None:
    """Check data and recipe before a run, and predict what it costs.

    Checks the data of a recipe (encoding, control characters, empty and repeated lines, copies, swapped, shifted and
    misaligned pairs, wrong script or language, held-out sentences in train), predicts memory, time and operations of
    the run on this machine by training a little, and says what to change. Without a recipe it shows versions and the
    state of the machine. Nothing but caches is written. Exit code 3: something serious, marked with !.

    \b
      regard doctor
      regard doctor --src corpus/train.en --tgt corpus/train.fr --no-predict
    """
    arguments = recipe_arguments(context)
    recipe_file = arguments.recipe("doctor")

    import json

    from regard.doctor.checkup import SAMPLE, Report, as_text, check_up
    from regard.doctor.machine import read_machine
    from regard.recipe.read import read_recipe

    recipe = read_recipe(recipe_file, arguments.settings)
    if recipe_file or arguments.settings:
        report = check_up(recipe, SAMPLE if sample_pairs is None else sample_pairs, not no_predict)
    else:
        report = Report(read_machine(recipe.data))
    shown = json.dumps(report.to_dict(), indent=2, ensure_ascii=False) if as_json else as_text(report, keys_as_flags)
    typer.echo(shown)
    raise typer.Exit(ExitCode.DOUBTFUL if report.serious else ExitCode.DONE)


def keys_as_flags(text: str) -> str:
    """Advice with recipe keys replaced by flags, as a user types them.

    >>> keys_as_flags("try train.warmup 20")
    'try --warmup 20'
    """
    return SECTION_KEY.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
