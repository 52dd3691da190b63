"""`regard compare`: trains several systems on the same data and budget, and reports on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import FlagTable, Tokenize
from regard.cli.recipe_flags import RecipeCommand, recipe_arguments
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.course.compare.entrants import Entrant
    from regard.metrics.bleu import Bleu

FLAGS = FlagTable("""
--models A,B,…      Names from the list below; the others are tested against the first. [default:
                    rnn,rnn-attention,convs2s,transformer]
--seeds N 1..1000   Trainings of each model, with seeds 1 to N.
--budget AMOUNT     What each training may cost: "2000 steps", "10 min", "1e15 flops". [default: the recipe's]
--out FOLDER        Where runs and report go.
""")

OUT = Path("runs/compare")
FILES = ("report.md", "report.html", "report.json")
DATA_KEYS = ("src", "tgt", "pairs")


class CompareCommand(RecipeCommand):
    """`regard compare`, whose help lists the names that --models takes."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        from regard.course.compare.entrants import ADDITIONS, BASELINES
        from regard.models.table import ARCHITECTURES

        super().format_options(ctx, formatter)
        with formatter.section("Names for --models"):
            formatter.write_dl(
                [
                    ("MODEL", f"{', '.join(ARCHITECTURES)}; MODEL:small names a preset too"),
                    *BASELINES.items(),
                    ("ensemble", "all plain neural models that are named, with seed 1, as an ensemble"),
                    *((f"MODEL+{name}", what) for name, what in ADDITIONS.items()),
                ]
            )


def compare(
    context: typer.Context,
    models: Annotated[str | None, FLAGS("--models")] = None,
    seeds: Annotated[int, FLAGS("--seeds")] = 1,
    budget: Annotated[str | None, FLAGS("--budget")] = None,
    tokenize: Tokenize = "13a",
    out: Annotated[Path, FLAGS("--out")] = OUT,
) -> None:
    """Train several systems on the same data and compare them.

    Without data of your own it takes the embedded corpus. Finished trainings in the folder are not repeated. The
    report is printed and written as report.md, report.html and report.json.

    \b
      regard compare --models rnn,transformer --preset tiny --budget "20 steps" --out runs/quick
      regard compare --models ibm,rules --out runs/baselines
    """
    arguments = recipe_arguments(context)
    recipe_file = arguments.recipe("compare")
    from regard.course.compare.plan import DEFAULT_MODELS, SharedSettings, budget_text, parse_budget, plan
    from regard.metrics.bleu import Bleu
    from regard.recipe.read import with_settings

    metric = Bleu(tokenize)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; give --out a folder")
    own_data = recipe_file is not None or any(names_data(key) for key, _ in arguments.settings)
    corpus = None if own_data else out / "corpus"
    names = [name.strip() for name in models.split(",") if name.strip()] if models else list(DEFAULT_MODELS)
    allowed = parse_budget(budget) if budget is not None else None
    tables = with_settings(first_tables(recipe_file, corpus), arguments.settings)
    settings = SharedSettings(tables, seeds, allowed, out / "runs")
    entrants = plan(settings, names)
    if corpus is not None and not corpus.exists():
        from regard.course.grammar import generate, write_corpus

        write_corpus(corpus, generate())
    run_and_report(entrants, metric, budget_text(settings), out)


def first_tables(recipe: Path | None, corpus: Path | None) -> dict[str, Any]:
    """The tables of a recipe or of the embedded corpus; empty if neither is given, since flags then name the data."""
    from regard.course.compare.plan import embedded_recipe
    from regard.recipe.read import read_tables

    if recipe is not None:
        return read_tables(recipe)
    return {} if corpus is None else embedded_recipe(corpus)


def run_and_report(entrants: list[Entrant], metric: Bleu, budget: str, out: Path) -> None:
    """Train the systems that are not trained yet, measure all, print the report and write it."""
    from rich.console import Console

    from regard.course.compare.report import make_report
    from regard.course.compare.run import Comparison, read_test
    from regard.course.compare.show import comparison_output
    from regard.course.rules.translate import translate
    from regard.report.deliver import deliver, write

    test = read_test(entrants[0].recipe.data)
    comparison = Comparison(test, translate, Console(highlight=False))
    comparison.check(entrants)
    output = comparison_output(make_report(comparison.run(entrants), test, budget, metric))
    for name in FILES:
        write(output, out / name)
    deliver(output, None)
    typer.echo(f"\nwritten: {', '.join(str(out / name) for name in FILES)}")


def names_data(key: str) -> bool:
    """Whether a recipe key names training data: `--src`, `--set data.pairs=…`, but not `--join-pairs`."""
    return key.replace("-", "_").removeprefix("data.") in DATA_KEYS
