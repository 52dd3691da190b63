"""Recipes: one set of keys, whichever way they come; every mistake named with what is allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from regard.data.config import CorpusConfig
from regard.errors import RecipeError, RegardError
from regard.models.table import ARCHITECTURES
from regard.recipe.read import known_keys, read_recipe, recipe_from_tables
from regard.recipe.recipe import SECTIONS, Recipe
from regard.recipe.train import RewardConfig


def test_every_key_has_one_name_and_a_sentence() -> None:
    for architecture in ARCHITECTURES:
        names = [name for keys in known_keys({"model": {"architecture": architecture}}).values() for name in keys]
        assert len(names) == len(set(names)), architecture
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


def test_keys_are_checked_together_with_those_of_their_preset() -> None:
    """The decoder's width, which must be the encoder's here, is the preset's."""
    words = [("architecture", "rnn-attention"), ("preset", "tiny"), ("start", "end"), ("bidirectional", "no")]
    model = read_recipe(None, [*words, ("encoder_width", "160")]).model
    assert (model.start, model.encoder_width, model.width) == ("end", 160, 160)
    with pytest.raises(RecipeError, match="an encoder of the decoder's width"):
        read_recipe(None, [*words, ("encoder_width", "80")])


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
        ('[train]\nschedule = "noam"\n', "must be one of inverse-sqrt, cosine, wsd, constant"),
        ("[train]\nbatch_tokens = 100\n", r"max_length \(256\) must be below train.batch_tokens \(100\)"),
        ("model = 3\n", '"model" must be a section'),
        ("[train\n", "is not TOML"),
        ("x = " + "[" * 100_000, "is not TOML: it is nested too deeply"),
        ("[model]\nwidth" + ".a" * 9_000 + " = 1\n", "is not TOML: it is nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1\n", "is not TOML: it has more than 10,000 dots"),
        ("[train]\nsteps = 0\n", "train.steps must be at least 1, but is 0"),
        ("[train]\nstart_from = 3\n", "train.start_from must be text or none, but is 3"),
        ('[reward]\nobjective = "rewards"\n', "must be one of likelihood, minimum-risk, self-critical"),
        (
            '[reward]\nobjective = "self-critical"\n',
            "no trained model to sample translations from.*set train.start_from",
        ),
        (
            "[reward]\nsamples = 5\n",
            "samples is set, but reward.objective is likelihood.*set reward.objective to self-critical",
        ),
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
        ("reward", "rouge", 'reward.reward must be one of gleu, bleu, but is "rouge"'),
    ],
)
def test_mistakes_in_a_flag(key: str, word: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        read_recipe(None, [(key, word)])


def test_a_missing_recipe_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="give a TOML file, or the data itself as src and tgt"):
        read_recipe(tmp_path / "none.toml")


def test_flags_over_a_section_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("train = 3\n")
    with pytest.raises(RecipeError, match='"train" must be a section'):
        read_recipe(path, [("steps", "5")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0, "baseline": "greedy"}, "samples must be at least 1 for self-critical, but is 0"),
        ({"samples": 1}, "samples must be at least 2 for self-critical, but is 1"),
        ({"samples": 1, "objective": "minimum-risk", "with_reference": False}, "at least 2 for minimum-risk"),
        ({"sharpness": 0.0}, "sharpness must be above 0"),
        ({"likelihood_weight": -1.0}, "likelihood_weight must be 0 or more"),
    ],
)
def test_impossible_rewards(options: dict[str, float], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        RewardConfig(**{"objective": "self-critical", **options})  # type: ignore[arg-type]


def test_a_greedy_baseline_needs_a_model_without_dropout() -> None:
    tables = {
        "train": {"start_from": "runs/mine"},
        "reward": {"objective": "self-critical", "baseline": "greedy"},
        "model": {"dropout": 0.0},
    }
    assert recipe_from_tables(tables).reward.baseline == "greedy"
    with pytest.raises(RecipeError, match=r"but model.dropout is above 0; set it to 0, or reward.baseline to mean"):
        recipe_from_tables({**tables, "model": {"dropout": 0.1}})


CORPORA = """
[text]
tags = ["<bt>", "<2fr>"]

[data]
src = "a.en"
tgt = "a.fr"
dev_tag = "<2fr>"

[[data.corpus]]
src = "b.en"
tgt = "b.fr"
weight = 2

[[data.corpus]]
pairs = "back.*.tsv.gz"
tag = "<bt>"
"""


def test_several_corpora_are_tables(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(CORPORA)
    recipe = read_recipe(tmp_path / "r.toml", [("steps", "5")])
    assert recipe.data.corpus == (
        CorpusConfig(src="b.en", tgt="b.fr", weight=2.0),
        CorpusConfig(pairs="back.*.tsv.gz", tag="<bt>"),
    )
    (tmp_path / "again.toml").write_text(recipe.to_toml())
    assert read_recipe(tmp_path / "again.toml") == recipe


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'tag = "<bt>"',
            'tag = "<bd>"',
            r'data\.corpus\.tag "<bd>" is not one of text\.tags; add it .*now: <bt>, <2fr>',
        ),
        ('dev_tag = "<2fr>"', 'dev_tag = "<x>"', r'data\.dev_tag "<x>" is not one of text\.tags'),
        ("weight = 2", 'weight = "2"', r"corpus\.weight must be a number"),
        ("weight = 2", "wieght = 2", 'unknown key "wieght" in corpus; did you mean "weight"'),
        ("weight = 2", "weight = 0", r"data\.corpus\.weight must be above 0"),
        ("[[data.corpus]]\nsrc", "[data.corpus]\nsrc", "not TOML"),
        ('tags = ["<bt>", "<2fr>"]', 'tags = ["bt"]', 'a tag must look like <news>, but text.tags has "bt"'),
    ],
)
def test_mistakes_in_tables_of_corpora(tmp_path: Path, old: str, new: str, says: str) -> None:
    (tmp_path / "r.toml").write_text(CORPORA.replace(old, new, 1))
    with pytest.raises(RecipeError, match=says):
        read_recipe(tmp_path / "r.toml")


def test_corpora_are_for_recipes() -> None:
    with pytest.raises(RecipeError, match=r"data\.corpus must be a list of tables of a recipe with the keys src, tgt,"):
        read_recipe(None, [("corpus", "b.tsv")])
