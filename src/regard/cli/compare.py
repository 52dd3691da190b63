"""`regard compare`: several systems on the same data and budget, then one report."""

from __future__ import annotations

from pathlib import Path

import typer

from regard.cli.lines import number
from regard.cli.words import print_help, read_words
from regard.errors import InputError, RecipeError

OUT = Path("runs/compare")
FILES = ("report.md", "report.html", "report.json")


def compare(context: typer.Context) -> None:
    """Train several systems on the same data and compare them honestly."""
    words = read_words(context.args, options=("out", "models", "seeds", "budget", "tokenize"), switches=("help",))
    if "help" in words.options:
        explain_compare()
        return
    if len(words.plain) > 1:
        raise RecipeError(f"compare takes one recipe, but got {len(words.plain)} words without a flag: {words.plain}")
    from rich.console import Console

    from regard.compare.plan import DEFAULT_MODELS, SharedSettings, parse_budget, plan, spent
    from regard.compare.report import make_report
    from regard.compare.run import Comparison, read_test
    from regard.compare.show import comparison_output
    from regard.course.comparison import embedded_recipe
    from regard.course.rules.translate import translate
    from regard.metrics.bleu import Bleu
    from regard.recipe.read import read_tables, with_settings
    from regard.report.deliver import deliver, write

    metric = Bleu(words.options.get("tokenize", "13a"))
    out = Path(words.options.get("out", OUT))
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; give --out a folder")
    own = bool(words.plain) or any(key.replace("-", "_").endswith(("src", "pairs")) for key, _ in words.settings)
    tables = read_tables(Path(words.plain[0])) if words.plain else {} if own else embedded_recipe(out / "corpus")
    budget = parse_budget(words.options["budget"]) if "budget" in words.options else None
    models = [name.strip() for name in words.options.get("models", ",".join(DEFAULT_MODELS)).split(",") if name.strip()]
    seeds = number("--seeds", int)(words.options.get("seeds", "1"))
    settings = SharedSettings(with_settings(tables, words.settings), seeds, budget, out / "runs")
    entrants = plan(settings, models)
    if not own and not (out / "corpus").exists():
        from regard.course.grammar import generate, write_corpus

        write_corpus(out / "corpus", generate())
    test = read_test(entrants[0].recipe.data)
    comparison = Comparison(test, translate, Console(highlight=False))
    comparison.check(entrants)
    output = comparison_output(make_report(comparison.run(entrants), test, spent(settings), metric))
    for name in FILES:
        write(output, out / name)
    deliver(output, None)
    typer.echo(f"\nwritten: {', '.join(str(out / name) for name in FILES)}")


def explain_compare() -> None:
    from regard.compare.entrants import ADDITIONS, BASELINES
    from regard.compare.plan import DEFAULT_MODELS
    from regard.models.table import ARCHITECTURES

    print_help(
        "regard compare [RECIPE.toml] [--models A,B,…] [--seeds N] [--budget WORDS] [--KEY VALUE]… [--out FOLDER]",
        "Train several systems on the same data, text and budget, let them translate one test, and compare them: BLEU "
        "with its spread, signature and significance, parameters, operations, time, memory, BLEU by sentence length, "
        "and samples. Without a recipe and files, on the embedded corpus. What is done is skipped and what was "
        "interrupted goes on, so the same command can simply be given again.",
        [
            "regard compare --out runs/story",
            'regard compare recipe.toml --models rnn,rnn-attention,transformer --seeds 3 --budget "4000 steps"',
            "regard compare --models ibm,rules,gnmt,gnmt+rl,gnmt+rl+ensemble --seeds 2",
            "regard compare --models deep-att,deep-att+posunk --unit word",
        ],
        [
            (
                "--models A,B,…",
                f"names from the list below, the first is what p is against (default: {','.join(DEFAULT_MODELS)})",
            ),
            ("--seeds N", "trainings of each model, with seeds 1 to N (default: 1)"),
            (
                "--budget WORDS",
                'what each training may cost: "2000 steps", "10 min", "1e15 flops" (default: the recipe)',
            ),
            ("--tokenize NAME", "how BLEU cuts the test: 13a, intl, char, zh, none, … (default: 13a)"),
            ("--out FOLDER", f"where runs and report go (default: {OUT})"),
            ("--KEY VALUE", "a key of the recipe, for all models; regard train --help lists them"),
            ("", ""),
            ("MODEL", f"{', '.join(ARCHITECTURES)}; MODEL:small names a preset too"),
            *BASELINES.items(),
            ("ensemble", "all plain neural models named, seed 1, speaking as one"),
            *((f"MODEL+{name}", what) for name, what in ADDITIONS.items()),
        ],
    )
