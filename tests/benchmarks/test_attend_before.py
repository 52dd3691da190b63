"""`benchmarks/attend_before.py`: its flags are those of `regard train`, and its last form is the notes' own model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regard.cli.recipe_flags import parse_words
from regard.models.rnn_attention import PRESETS, RnnAttentionConfig
from regard.recipe.read import read_recipe
from support import load_script

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def forms() -> dict[str, RnnAttentionConfig]:
    """What `regard train` makes of the flags of each form."""
    sys.path.insert(0, str(FOLDER))  # as Python does for a script
    flags = load_script(FOLDER / "attend_before.py").forms("tiny")
    sys.path.remove(str(FOLDER))
    start = [("architecture", "rnn-attention"), ("preset", "tiny")]
    return {name: read_recipe(None, [*start, *parse_words(own, [], []).settings]).model for name, own in flags.items()}


def test_before_and_after_differ_in_nothing_else(forms: dict[str, RnnAttentionConfig]) -> None:
    assert forms["after"] == PRESETS["tiny"]
    assert forms["before"] == replace(PRESETS["tiny"], attend="before")


def test_the_notes_form_is_the_preset_of_that_name_at_other_sizes(forms: dict[str, RnnAttentionConfig]) -> None:
    sizes = {"width": 160, "encoder_width": 160, "embedding": 160, "alignment": 160, "dropout": 0.2, "tie": "auto"}
    assert forms["notes"] == replace(PRESETS["notes"], **sizes)  # type: ignore[arg-type]
    assert forms["before, notes' ends"] == replace(forms["notes"], cell="lstm")
