"""Starting from a trained model: its vocabulary and weights exactly, its sizes, and a note of where they came from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import regard
from regard.bundle.bundle import Bundle
from regard.errors import BundleError, RecipeError, RunError
from regard.models.base import unique_tensors
from regard.models.rnn import Rnn, RnnConfig
from regard.recipe.read import read_recipe
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import load_checkpoint
from regard.training.evaluate import HeldOut, token_loss
from regard.training.job import adapt_model, fingerprint
from regard.training.run import resume, train
from support import write_lines

PACE = {"steps": 4, "batch_tokens": 300, "warmup": 1, "learning_rate": 1e-3, "save_every": 2, "device": "cpu"}


@pytest.fixture
def tables(tmp_path: Path, run_folder: Path) -> dict[str, Any]:
    """A recipe that names data and pace, and leaves model and text to the model it starts from."""
    src, tgt = (str(path) for path in write_lines(tmp_path))
    data = {"src": src, "tgt": tgt, "dev_size": 0, "max_length": 100}
    return {"data": data, "train": {**PACE, "start_from": str(run_folder)}}


def card_of(run: Path) -> dict[str, Any]:
    card = json.loads((run / "last" / "card.json").read_text(encoding="utf-8"))
    assert isinstance(card, dict)
    return card


def test_weights_and_vocabulary_are_the_models_own(tables: dict[str, Any], run_folder: Path, tmp_path: Path) -> None:
    tables["train"] |= {"steps": 1, "learning_rate": 1e-12}  # an update that changes nothing to speak of
    regard.train(tables, tmp_path / "run")
    before, after = (load_file(run / "model.safetensors") for run in (run_folder / "best", tmp_path / "run" / "last"))
    assert before.keys() == after.keys()
    for name, weights in before.items():
        torch.testing.assert_close(weights, after[name], atol=1e-9, rtol=0)
    vocabularies = [(run / "tokenizer.json").read_bytes() for run in (run_folder, tmp_path / "run")]
    assert vocabularies[0] == vocabularies[1]


def test_the_run_is_complete_without_the_model_it_came_from(
    tables: dict[str, Any], run_folder: Path, tmp_path: Path
) -> None:
    start = tmp_path / "gone"
    shutil.copytree(run_folder, start)
    tables["train"]["start_from"] = str(start)
    regard.train(tables, tmp_path / "run")
    origin = card_of(tmp_path / "run")["started_from"]
    theirs = json.loads((start / "best" / "card.json").read_text(encoding="utf-8"))
    assert origin == {
        "folder": str(start),
        "weights": fingerprint(start / "best" / "model.safetensors"),
        "step": theirs["step"],
        "training_flops": theirs["training_flops"],
    }
    shutil.rmtree(start)
    resume(tmp_path / "run", [("steps", "6")], override=True)
    card = card_of(tmp_path / "run")
    assert (card["step"], card["started_from"]) == (6, origin)
    assert card["recipe"]["model"]["width"] == 32
    assert card["recipe"]["text"]["vocab_size"] == 360

    tables["train"]["start_from"] = str(tmp_path / "run")  # and a third one on top of it
    regard.train(tables, tmp_path / "third")
    nested = card_of(tmp_path / "third")["started_from"]
    assert (nested["step"], nested["started_from"]) == (6, origin)


def test_dropout_may_differ(tables: dict[str, Any], tmp_path: Path) -> None:
    tables["model"] = {"dropout": 0.3, "attention_dropout": 0.2}
    tables["text"] = {"bpe_dropout": 0.1}
    regard.train(tables, tmp_path / "run")
    bundle = Bundle.load(tmp_path / "run")
    assert (bundle.config.dropout, bundle.config.attention_dropout) == (0.3, 0.2)
    assert bundle.tokenizer.config.bpe_dropout == 0.1


@pytest.mark.parametrize(
    ("section", "keys", "says"),
    [
        ("model", {"width": 64}, "does not fit the recipe: its model.width is 32, not 64; leave such keys out"),
        ("model", {"preset": "tiny"}, "model.width is 32, not 128, .* and . more differ"),
        ("model", {"architecture": "rnn"}, "model.architecture is transformer, not rnn"),
        ("text", {"vocab_size": 400}, "text.vocab_size is 360, not 400"),
        ("text", {"unit": "word"}, "text.unit is bpe, not word"),
    ],
)
def test_another_model_or_text_is_refused(
    tables: dict[str, Any], tmp_path: Path, section: str, keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(RecipeError, match=says):
        regard.train({**tables, section: keys}, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_naming_what_the_model_is_does_no_harm(tables: dict[str, Any]) -> None:
    named = {"architecture": "transformer", "width": 32}
    assert read_recipe({**tables, "model": named, "text": {"vocab_size": 360}}) == read_recipe(tables)


def test_a_recipe_made_by_hand_is_held_against_the_model(
    tables: dict[str, Any], run_folder: Path, tmp_path: Path
) -> None:
    recipe = Recipe(data=read_recipe(tables).data, train=TrainConfig(start_from=str(run_folder)))
    with pytest.raises(RecipeError, match="does not fit the recipe"):
        train(recipe, tmp_path / "run")


@pytest.mark.parametrize(("start", "says"), [("nowhere", "no model at nowhere"), (".", "no model in .")])
def test_there_must_be_a_model(tables: dict[str, Any], tmp_path: Path, start: str, says: str) -> None:
    tables["train"]["start_from"] = start
    with pytest.raises(BundleError, match=says):
        regard.train(tables, tmp_path / "run")


def test_where_a_run_came_from_cannot_change(tables: dict[str, Any], run_folder: Path, tmp_path: Path) -> None:
    regard.train(tables, tmp_path / "run")
    settings = [("start_from", str(run_folder / "last")), ("steps", "9")]
    with pytest.raises(RunError, match=r"train\.start_from cannot change within a run"):
        resume(tmp_path / "run", settings, override=True)


NEW = [("The cow drinks.", "La vache boit."), ("A red cow sleeps.", "Une vache rouge dort.")]


def test_low_rank_updates_learn_another_domain(tables: dict[str, Any], run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "new.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in NEW * 8), encoding="utf-8")
    tables["data"] = {"pairs": str(tmp_path / "new.tsv"), "dev_size": 0, "max_length": 100}
    tables["train"] |= {"lora_rank": 4, "steps": 40, "learning_rate": 1e-2}
    regard.train(tables, tmp_path / "run")
    base, tuned = Bundle.load(run_folder), Bundle.load(tmp_path / "run")
    held = HeldOut([s for s, _ in NEW], [t for _, t in NEW])
    before, after = (token_loss(bundle, held, 100, 500) for bundle in (base, tuned))
    assert after < 0.5 * before
    kept = load_checkpoint(tmp_path / "run").tensors
    learnt = {name.split(":")[1].rpartition("/")[0] for name in kept if name.startswith("optimizer:")}
    assert {name.rpartition(".")[2] for name in learnt} == {"up", "down"}
    own, theirs = (unique_tensors(bundle.model) for bundle in (tuned, base))
    moved = {name.rpartition(".")[2] for name in own if not torch.equal(own[name], theirs[name])}
    assert moved == {"weight"}
    assert torch.equal(own["source_embedding.weight"], theirs["source_embedding.weight"])
    with pytest.raises(RunError, match=r"train\.lora_rank cannot change within a run"):
        resume(tmp_path / "run", [("lora_rank", "2"), ("steps", "60")], override=True)


def test_what_low_rank_updates_need(tables: dict[str, Any]) -> None:
    tables["train"]["lora_rank"] = -1
    with pytest.raises(RecipeError, match=r"train\.lora_rank must not be negative"):
        read_recipe(tables)
    with pytest.raises(RecipeError, match=r"train\.lora_rank is 4, but train\.start_from names no trained model"):
        TrainConfig(lora_rank=4)
    recipe = Recipe(architecture="rnn", model=RnnConfig(), train=TrainConfig(start_from="x", lora_rank=4))
    with pytest.raises(RecipeError, match="rnn has no matrices of attention or feed-forward layers to adapt"):
        adapt_model(Rnn(RnnConfig(), 20, 20, joint=True), recipe.architecture, recipe.train)
