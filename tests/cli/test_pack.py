"""`regard pack`: what it writes, what it says of it, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from regard.bundle.bundle import Bundle
from regard.bundle.folder import CHECKSUMS, LEXICON, PARTS, UPDATES
from regard.bundle.tensors import load_weights
from regard.models.base import unique_tensors
from support import ABOUT, LINES

if TYPE_CHECKING:
    from conftest import Call

CAT, CHAT = LINES[0]


@pytest.fixture
def run(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder, tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("weights", ["int8", "float16", "float32"])
def test_a_packed_model_translates_as_before(call: Call, run: Path, tmp_path: Path, weights: str) -> None:
    answer = call("pack", run, "--out", tmp_path / "new" / "small", "--weights", weights)
    assert answer.code == 0, answer.err
    before, after, error, difference = answer.out.splitlines()
    assert [line.split()[2:] for line in (before, after)] == [
        ["float32", str(run / "best")],
        [weights, str(tmp_path / "new" / "small")],
    ]
    percent = float(re.search(r"([\d.]+)%", error)[1])  # type: ignore[index]
    assert percent == 0 if weights == "float32" else 0 < percent < 2
    assert difference.endswith(": 0") == (weights == "float32")
    assert sorted(p.name for p in (tmp_path / "new" / "small").iterdir()) == sorted((*PARTS, CHECKSUMS))
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["small"]
    assert all(p.stat().st_mode & 0o044 == 0o044 for p in (tmp_path / "new" / "small").iterdir())
    shutil.rmtree(run)  # it needs nothing else
    sources, targets = zip(*LINES, strict=True)
    assert call("translate", "--model", tmp_path / "new" / "small", *sources).out.splitlines() == list(targets)


def test_scores_of_other_weights_and_places_of_this_machine_are_dropped(call: Call, run: Path, tmp_path: Path) -> None:
    assert "test_bleu" in json.loads((run / "best" / "card.json").read_text(encoding="utf-8"))
    for weights, there in (("int8", False), ("float32", True)):
        assert call("pack", run, "--out", tmp_path / weights, "--weights", weights).code == 0
        text = (tmp_path / weights / "card.json").read_text(encoding="utf-8")
        assert ("test_bleu" in json.loads(text), "dev_bleu" in json.loads(text)) == (there, there)
        assert json.loads(text)["recipe"]["data"]["src"] == "a.en"
        assert str(tmp_path.parent) not in text


def test_a_lexicon_comes_along_unless_it_is_dropped(call: Call, run: Path, tmp_path: Path) -> None:
    assert call("lexicon", "--model", run).code == 0
    assert call("pack", run, "--out", tmp_path / "with").code == 0
    assert call("pack", run, "--out", tmp_path / "without", "--lexicon", "drop").code == 0
    assert (tmp_path / "with" / LEXICON).read_bytes() == (run / "best" / LEXICON).read_bytes()
    assert not (tmp_path / "without" / LEXICON).exists()
    assert call("translate", "--model", tmp_path / "with", "--steer", "0.2", CAT).out == CHAT + "\n"


def test_what_is_said_of_it_is_in_its_card_and_printed(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text(ABOUT, encoding="utf-8")
    assert call("pack", run, "--out", tmp_path / "small", "--about", tmp_path / "about.toml").code == 0
    out = call("info", tmp_path / "small").out
    for line in (
        "title         English to French",
        "data          Tatoeba, CC BY 2.0 FR, https://tatoeba.org",
        "              the contributors of tatoeba.org",
        "limits        Short sentences.",
        "              No names.",
    ):
        assert line in out.splitlines()
    assert "stored as int8" in out


def test_one_model_for_both_ways_as_two(call: Call, both_ways: Path, tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text(ABOUT, encoding="utf-8")
    first = ("--out", tmp_path / "en-fr", "--about", tmp_path / "about.toml")
    second = ("--out", tmp_path / "fr-en", "--tag", "<en>", "--beside", tmp_path / "en-fr")
    assert call("pack", both_ways, *first).code == 0
    answer = call("pack", both_ways, *second)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[1].split() == ["0.00", "MB", "int8", str(tmp_path / "fr-en")]
    assert sorted(p.name for p in (tmp_path / "fr-en").iterdir()) == ["card.json", "config.json"]
    sources, targets = zip(*LINES, strict=True)
    with_tag = call("translate", "--model", tmp_path / "en-fr", "--tag", "<en>", *targets)
    assert call("translate", "--model", tmp_path / "fr-en", *targets).out == with_tag.out
    assert with_tag.out.splitlines() == list(sources)

    # From the one, the other can be made again; its card must then be another.
    again = ("--out", tmp_path / "again", "--tag", "<en>", "--beside", tmp_path / "en-fr")
    answer = call("pack", tmp_path / "en-fr", *again)
    assert (answer.code, answer.out) == (2, "")
    assert "describes it without the tag; give a description of it with <en> (--about)" in answer.err
    assert call("pack", tmp_path / "en-fr", *again, "--about", tmp_path / "about.toml").code == 0
    configs = [(tmp_path / name / "config.json").read_bytes() for name in ("fr-en", "again")]
    assert configs[0] == configs[1]
    shutil.copytree(tmp_path / "en-fr", tmp_path / "x" / "en-fr")  # a copy with its tag, beside a copy
    assert (
        call("pack", tmp_path / "fr-en", "--out", tmp_path / "x" / "y", "--beside", tmp_path / "x" / "en-fr").code == 0
    )
    assert call("translate", "--model", tmp_path / "x" / "y", *targets).out == with_tag.out


def test_what_was_measured_without_the_tag_is_dropped_with_it(call: Call, both_ways: Path, tmp_path: Path) -> None:
    shutil.copytree(both_ways / "last", tmp_path / "run")
    card = json.loads((tmp_path / "run" / "card.json").read_text(encoding="utf-8"))
    view = {"layer": 0, "head": None, "row": "predicting", "aer": 0.1}
    card |= {"test_bleu": {"score": 1.0, "signature": ""}, "tests": {}, "attention_view": view}
    (tmp_path / "run" / "card.json").write_text(json.dumps(card), encoding="utf-8")
    (tmp_path / "run" / LEXICON).write_text("{}", encoding="utf-8")
    for name, words, kept in (("plain", (), True), ("tagged", ("--tag", "<en>"), False)):
        assert call("pack", tmp_path / "run", "--out", tmp_path / name, "--weights", "float32", *words).code == 0
        found = json.loads((tmp_path / name / "card.json").read_text(encoding="utf-8"))
        assert [measured in found for measured in ("test_bleu", "tests", "attention_view")] == [kept] * 3
        assert (tmp_path / name / LEXICON).exists() == kept


def test_files_are_shared_only_where_they_are_the_same(call: Call, both_ways: Path, run: Path, tmp_path: Path) -> None:
    assert call("pack", both_ways, "--out", tmp_path / "one").code == 0
    assert call("pack", both_ways, "--out", tmp_path / "two", "--tag", "<en>", "--beside", tmp_path / "one").code == 0
    shutil.copytree(both_ways / "last", tmp_path / "changed")
    weights = load_file(tmp_path / "changed" / "model.safetensors")
    weights["source_embedding.weight"][5, 0] += 1
    save_file(weights, tmp_path / "changed" / "model.safetensors")
    (tmp_path / "changed" / CHECKSUMS).unlink()
    before = sorted(tmp_path.rglob("*"))
    new, one = ("--out", tmp_path / "new"), ("--beside", tmp_path / "one")
    for words, says in (
        ((both_ways, *new, "--tag", "<fr>", *one), 'unknown tag "<fr>"; known: <en>'),
        ((run, *new, "--tag", "<en>"), "this vocabulary has none"),
        ((tmp_path / "two", *new, "--tag", "<en>"), "has its tag already, <en>"),
        ((run, *new, *one), "one has another; without it the whole model is written (--beside)"),
        ((tmp_path / "changed", *new, *one), "one has others; without it the whole model is written (--beside)"),
        ((both_ways, *new, *one, "--weights", "float16"), "one, but are float16 (--weights)"),
        (
            (both_ways, *new, "--beside", tmp_path / "two"),
            f"uses those of {one[1].resolve()}; name that (--beside)",
        ),
        ((both_ways, "--out", tmp_path / "far" / "new", *one), "beside must be a folder next to"),
        ((both_ways, *new, "--beside", tmp_path / "nix"), "no model at"),
    ):
        answer = call("pack", *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert says in answer.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.fixture(scope="module")
def adapted(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a packed model, and a run that was adapted from it to go the other way."""
    home = tmp_path_factory.mktemp("adapted")
    replace(Bundle.load(run_folder), weights="int8").save(home / "en-fr")
    for name, side in (("src", 1), ("tgt", 0)):
        (home / name).write_text("".join(pair[side] + "\n" for pair in LINES), encoding="utf-8")
    train = {"start_from": str(home / "en-fr"), "lora_rank": 8, "lora_alpha": 8.0, "steps": 120, "learning_rate": 2e-2}
    train |= {"schedule": "cosine", "warmup": 10, "save_every": 120, "device": "cpu"}
    data = {"src": str(home / "src"), "tgt": str(home / "tgt"), "dev_size": 0, "max_length": 100}
    regard.train({"data": data, "train": train}, home / "run")
    return home


@pytest.mark.long
def test_a_model_adapted_from_another_is_what_it_differs_by(call: Call, adapted: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(adapted, home)
    answer = call("pack", home / "run", "--out", home / "fr-en", "--beside", home / "en-fr", "--rank", "8")
    assert answer.code == 0, answer.err
    assert sorted(p.name for p in (home / "fr-en").iterdir()) == [CHECKSUMS, "card.json", "config.json", UPDATES]
    assert (home / "fr-en" / UPDATES).stat().st_size < 0.8 * (home / "en-fr" / "model.safetensors").stat().st_size
    sources, targets = zip(*LINES, strict=True)
    assert call("translate", "--model", home / "run", *targets).out.splitlines() == list(sources)  # it has learnt it
    assert call("translate", "--model", home / "fr-en", *targets).out.splitlines() == list(sources)
    assert call("translate", "--model", home / "en-fr", *sources).out.splitlines() == list(targets)
    assert "translates    as en-fr, with updates of its own" in call("info", home / "fr-en").out.splitlines()

    # A loaded one is saved whole, and is a model to start from.
    assert call("pack", home / "fr-en", "--out", home / "whole").code == 0
    assert call("translate", "--model", home / "whole", *targets).out.splitlines() == list(sources)
    one, other = (unique_tensors(Bundle.load(home / name).model) for name in ("fr-en", "en-fr"))
    model = Bundle.load(home / "en-fr").model
    load_weights(model, home / "fr-en")
    assert all(torch.equal(one[name], tensor) for name, tensor in unique_tensors(model).items())
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_a_difference_that_does_not_fit_its_rank(call: Call, adapted: Path, run: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(adapted, home)
    before = sorted(home.rglob("*"))
    new, beside = ("--out", home / "new"), ("--beside", home / "en-fr")
    for words, says in (
        (
            (home / "run", *new, *beside, "--rank", "3"),
            "or store it alone (--rank, --beside)",
        ),
        ((run, *new, *beside, "--rank", "8"), "over 1% of the change of source_embedding.weight would"),
        (
            (home / "run", *new, "--rank", "8"),
            "another model, but none is named (--beside)",
        ),
        ((home / "run", *new, *beside, "--rank", "-1"), "--rank must be a whole number of at least 0, but is -1"),
        ((home / "run", *new, *beside), "beside must have the same weights"),
    ):
        answer = call("pack", *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1), answer
        assert says in answer.err
    assert sorted(home.rglob("*")) == before
    assert call("pack", home / "run", *new, *beside, "--rank", "8").code == 0
    place = home / "new" / UPDATES
    updates = load_file(place)
    lacking = {name: tensor for name, tensor in updates.items() if not name.endswith("query.weight.up")}
    save_file(lacking, place)
    (home / "new" / CHECKSUMS).unlink()
    whole = call("translate", "--model", home / "new", "x")
    place.write_bytes(b"x")
    torn = call("translate", "--model", home / "new", "x")
    for answer, says in ((whole, f"{place} does not fit"), (torn, f"{place} is damaged or cut short")):
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert says in answer.err


def test_nothing_is_written_where_something_is_wrong(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "bad.toml").write_text("title = 3", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    for words, says in (
        (("--out", tmp_path / "taken"), "is there already"),
        (("--out", tmp_path / "new", "--weights", "int4"), "'int4' is not one of 'float32', 'float16', 'int8'"),
        (("--out", tmp_path / "new", "--lexicon", "maybe"), "'maybe' is not one of 'keep', 'drop'"),
        (("--out", tmp_path / "new", "--about", tmp_path / "bad.toml"), "about.title must be text"),
        (("--out", tmp_path / "new", "--about", tmp_path / "nix.toml"), "cannot be read"),
        ((), "--out"),
    ):
        answer = call("pack", run, *words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert says in answer.err
    assert "no model at" in call("pack", tmp_path / "nix", "--out", tmp_path / "new").err
    assert sorted(tmp_path.rglob("*")) == before
