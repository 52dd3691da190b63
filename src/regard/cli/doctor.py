"""`regard doctor`: what is wrong with data and recipe, and what a run will take. It is found in `regard.doctor`."""

from __future__ import annotations

from pathlib import Path

import typer

from regard.cli.words import print_help, read_words
from regard.errors import RecipeError


def doctor(context: typer.Context) -> None:
    """Check data and recipe before a run, and foresee what it takes."""
    words = read_words(context.args, options=("sample",), switches=("help", "json", "no-predict"))
    if "help" in words.options:
        explain_doctor()
        return
    if len(words.plain) > 1:
        raise RecipeError(f"doctor takes one recipe, but got {len(words.plain)} words without a flag: {words.plain}")

    import json

    from regard.doctor.checkup import SAMPLE, check_up
    from regard.doctor.machine import look_at_machine
    from regard.doctor.report import Report, as_text
    from regard.recipe.read import read_recipe

    sample = read_sample(words.options.get("sample", str(SAMPLE)))
    recipe = read_recipe(Path(words.plain[0]) if words.plain else None, words.settings)
    if words.plain or words.settings:
        report = check_up(recipe, sample, "no-predict" not in words.options)
    else:
        report = Report(look_at_machine(recipe.data))
    typer.echo(
        json.dumps(report.to_dict(), indent=2, ensure_ascii=False) if "json" in words.options else as_text(report)
    )
    raise typer.Exit(1 if report.serious else 0)


def read_sample(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) < 1000:
        raise RecipeError(f'--sample must be a whole number from 1000 on, but is "{word}"')
    return int(word)


def explain_doctor() -> None:
    from regard.doctor.checkup import SAMPLE

    print_help(
        "regard doctor [RECIPE.toml] [--KEY VALUE]… [--sample N] [--no-predict] [--json]",
        "Check the data of a recipe (encoding, control characters, empty and repeated lines, copies, swapped, shifted "
        "and misaligned pairs, wrong script or language, held-out sentences in train), foresee memory, time and "
        "operations of the run on this machine by a rehearsal, and say what to change. Without a recipe: versions and "
        "the state of the machine. Nothing is written but caches. Exit code 0: nothing serious; 1: something serious, "
        "marked with !; 2: the input cannot be used.",
        [
            "regard doctor",
            "regard doctor recipe.toml",
            "regard doctor --src a.en --tgt a.fr --test-src t.en --test-tgt t.fr --no-predict",
        ],
        [
            ("--sample N", f"most pairs that languages and alignment are judged on (default: {SAMPLE})"),
            ("--no-predict", "check the data only; no rehearsal"),
            ("--json", "print JSON"),
            ("--KEY VALUE", "a key of the recipe; regard train --help lists them"),
            ("--set KEY=VALUE", "the same, also with the key's section: train.steps=500"),
        ],
    )
