"""A library error names parameters and recipe keys; the command line adds the flags of the command that was typed."""

from __future__ import annotations

import pytest
import typer.main

from regard.cli import app
from regard.cli.flags import with_flags
from regard.errors import InputError, RecipeError, RegardError
from support import Call


@pytest.mark.parametrize(
    ("problem", "words", "flags"),
    [
        (InputError("beam must be 1 or more, but is 0"), ["translate", "a"], " (--beam)"),
        (InputError("beam must be 1 or more, but is 0"), ["explain", "lattice", "a"], " (--beam)"),
        (InputError("decode.beam must be 1 or more"), ["translate", "a"], " (--beam)"),
        (InputError("a lexicon needs pairs", parameter=("src", "tgt")), ["lexicon"], " (--src, --tgt)"),
        (InputError("a lexicon needs pairs", parameter=("src", "tgt")), ["info"], ""),
        (RecipeError("train.warmup is longer than the run"), ["train", "--steps", "10"], " (--warmup)"),
        (
            RecipeError("data.max_length (9) must be below train.batch_tokens (8)"),
            ["doctor"],
            " (--max-length, --batch-tokens)",
        ),
        (RecipeError("train.warmup is longer than the run"), ["translate", "a"], ""),
        (RecipeError("data.corpus.tag is not known"), ["train"], ""),
        (InputError("--beam must be 1 or more, but is 0"), ["translate", "a"], ""),
        (RegardError("the beam must be wide"), ["translate", "a"], ""),
    ],
)
def test_flags_are_added_where_the_command_has_them(problem: RegardError, words: list[str], flags: str) -> None:
    assert with_flags(problem, typer.main.get_command(app), words) == f"{problem}{flags}"


def test_a_typed_recipe_key_is_named_as_a_flag(call: Call) -> None:
    answer = call("train", "--src", "a", "--tgt", "b", "--steps", "many")
    assert answer.code == 2
    assert 'train.steps must be a whole number, but is "many" (--steps)' in answer.err
