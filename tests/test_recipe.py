"""Recipes: one set of keys, whichever way they come; every mistake named with what is allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from regard.errors import RecipeError, RegardError
from regard.recipe import SECTIONS, Recipe, known_keys, read_recipe, recipe_from_tables


def test_every_key_has_one_name_and_a_sentence() -> None:
    names = [name for keys in known_keys({}).values() for name in keys]
    assert len(names) == len(set(names))
    for section in SECTIONS.values():
        for field in section.__dataclass_fields__.values():
            assert field.metadata["help"], field.name


def test_toml_flags_and_set_are_the_same_thing(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[train]\nsteps = 500\n[model]\npreset = "tiny"\nheads = 8\n[data]\nsrc = "a"\ntgt = "b"\n')
    by_file = read_recipe(path)
    words = [("steps", "500"), ("preset", "tiny"), ("model.heads", "8"), ("src", "a"), ("data.tgt", "b")]
    assert read_recipe(None, words) == by_file
    assert by_file.model.width == 128
    assert by_file.model.heads == 8
    assert read_recipe(path, [("steps", "7")]).train.steps == 7


def test_a_recipe_survives_its_own_toml() -> None:
    words = [("src", 'a "quoted"\\name'), ("learning_rate", "3e-4"), ("minutes", "2.5"), ("joint", "no")]
    recipe = read_recipe(None, words)
    assert recipe_from_tables(tomllib.loads(recipe.to_toml())) == recipe
    assert recipe_from_tables(tomllib.loads(Recipe().to_toml())) == Recipe()


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[train]\nstep = 5\n", 'unknown key "step" in train; did you mean "steps"?'),
        ("[modl]\nwidth = 5\n", 'unknown section or key "modl".*did you mean "model"'),
        ("steps = 5\n", r'unknown section or key "steps".*belongs under "\[train\]"'),
        ('[train]\nsteps = "many"\n', "train.steps must be a whole number, but is 'many'"),
        ("[train]\nsteps = 1.5\n", "train.steps must be a whole number, but is 1.5"),
        ("[train]\nsteps = true\n", "train.steps must be a whole number, but is True"),
        ("[text]\njoint = 1\n", "text.joint must be true or false, but is 1"),
        ('[model]\npreset = "huge"\n', "unknown model.preset 'huge'; known: base, big, small, tiny"),
        ('[model]\narchitecture = "transfomer"\n', 'did you mean "transformer"'),
        ("[model]\nheads = 7\n", "heads must divide model.width, but 256 / 7 leaves 4; try heads = 4"),
        ('[train]\nschedule = "linear"\n', "must be one of inverse-sqrt, cosine, wsd, constant"),
        ("[train]\nbatch_tokens = 100\n", r"max_length \(256\) must be below train.batch_tokens \(100\)"),
        ("model = 3\n", '"model" must be a section'),
        ("[train\n", "is not TOML"),
        ("[train]\nsteps = 0\n", "train.steps must be at least 1, but is 0"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, toml: str, says: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(toml)
    with pytest.raises(RecipeError, match=says):
        read_recipe(path)


@pytest.mark.parametrize(
    ("key", "word", "says"),
    [
        ("stps", "5", 'unknown key "stps"; did you mean "steps"?'),
        ("model.steps", "5", 'unknown key "model.steps"'),
        ("steps", "five", 'train.steps must be a whole number, but is "five"'),
        ("dedupe", "maybe", 'data.dedupe must be true or false, but is "maybe"'),
        ("norm", "middle", "one of post, pre"),
    ],
)
def test_mistakes_in_a_flag(key: str, word: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        read_recipe(None, [(key, word)])


def test_a_missing_recipe_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="--src FILE --tgt FILE"):
        read_recipe(tmp_path / "none.toml")
