"""Damaged and incomplete bundles are named; a failed write leaves what was there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.bundle.bundle import Bundle
from regard.bundle.folder import PARTS, Storage, find_bundle
from regard.errors import BundleError
from regard.files import write_atomically
from regard.models.base import unique_tensors


@pytest.fixture
def bundle(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder / "best", tmp_path / "bundle")
    return tmp_path / "bundle"


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_named(bundle: Path, part: str) -> None:
    (bundle / part).unlink()
    with pytest.raises(BundleError, match=f"is missing {part}"):
        Bundle.load(bundle)


@pytest.mark.parametrize("part", PARTS)
def test_a_truncated_part_is_named(bundle: Path, part: str) -> None:
    path = bundle / part
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BundleError, match=part.replace(".", r"\.")):
        Bundle.load(bundle)


def test_weights_of_another_size_are_named(bundle: Path) -> None:
    config = json.loads((bundle / "config.json").read_text())
    config["config"]["inner"] *= 2
    (bundle / "config.json").write_text(json.dumps(config))
    with pytest.raises(BundleError, match="does not fit"):
        Bundle.load(bundle)


def test_a_newer_format_is_refused(bundle: Path) -> None:
    config = json.loads((bundle / "config.json").read_text())
    (bundle / "config.json").write_text(json.dumps(config | {"format": 99}))
    with pytest.raises(BundleError, match="format 99"):
        Bundle.load(bundle)


def test_a_run_is_its_best_model(run_folder: Path, tmp_path: Path) -> None:
    assert find_bundle(run_folder) == run_folder / "best"
    with pytest.raises(BundleError, match="no model at"):
        find_bundle(tmp_path / "nowhere")
    with pytest.raises(BundleError, match="no model in"):
        find_bundle(tmp_path)


def test_the_card_tells_where_it_comes_from(run_folder: Path) -> None:
    card = json.loads((run_folder / "best" / "card.json").read_text())
    assert card["recipe"]["train"]["steps"] == 120
    assert card["test_bleu"]["score"] == pytest.approx(100)
    assert card["test_bleu"]["signature"].startswith("nrefs:1|case:mixed")
    assert card["test_peak_bytes"] >= card["peak_bytes"] > 0
    assert card["pairs"]["kept"] == 32


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
def test_a_bundle_keeps_its_storage_and_its_bytes(bundle: Path, tmp_path: Path, storage: Storage) -> None:
    replace(Bundle.load(bundle), weights=storage).save(tmp_path / "one")
    one = Bundle.load(tmp_path / "one")
    assert one.weights == storage
    assert all(p.dtype == torch.float32 for p in one.model.parameters())
    one.save(tmp_path / "two")
    for part in PARTS:
        assert (tmp_path / "one" / part).read_bytes() == (tmp_path / "two" / part).read_bytes()
    size = (tmp_path / "one" / "model.safetensors").stat().st_size / (bundle / "model.safetensors").stat().st_size
    assert size < {"float32": 1.01, "float16": 0.6, "int8": 0.5}[storage]  # of a tiny model; names and vectors weigh


def test_an_unknown_storage_is_named(bundle: Path) -> None:
    config = json.loads((bundle / "config.json").read_text())
    (bundle / "config.json").write_text(json.dumps(config | {"weights": "int4"}))
    with pytest.raises(BundleError, match="weights as 'int4'; allowed: float32, float16, int8"):
        Bundle.load(bundle)


# ------------------------------------------------------------------------------------------------ beside another


@pytest.fixture
def other(bundle: Path) -> Path:
    """A bundle without vocabulary and weights of its own."""
    Bundle.load(bundle).save(bundle.with_name("other"), beside="bundle")
    return bundle.with_name("other")


def config_with(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def test_vocabulary_and_weights_may_be_those_beside_it(
    bundle: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sorted(path.name for path in other.iterdir()) == ["card.json", "config.json"]
    monkeypatch.chdir(other)
    for folder in (other, Path(), Path("../other")):
        ours, theirs = Bundle.load(folder), Bundle.load(bundle)
        assert ours.tokenizer.fingerprint == theirs.tokenizer.fingerprint
        tensors = unique_tensors(theirs.model)
        assert all(torch.equal(tensor, tensors[name]) for name, tensor in unique_tensors(ours.model).items())
    shutil.copy(bundle / "tokenizer.json", other)
    (bundle / "tokenizer.json").unlink()  # its own comes first, but the other must be whole
    with pytest.raises(BundleError, match=r"uses the files of .*bundle, which is missing tokenizer\.json"):
        Bundle.load(other)


@pytest.mark.parametrize("part", ["config.json", "card.json"])
def test_what_is_its_own_is_not_looked_for_beside_it(other: Path, part: str) -> None:
    (other / part).unlink()
    with pytest.raises(BundleError, match=f"is missing {part}"):
        Bundle.load(other)


def test_the_folder_beside_it_must_be_a_whole_bundle(bundle: Path, other: Path) -> None:
    (bundle / "model.safetensors").unlink()
    with pytest.raises(
        BundleError, match=r"other uses the files of .*bundle, which is missing model\.safetensors; put"
    ):
        find_bundle(other)
    shutil.rmtree(bundle)
    with pytest.raises(BundleError, match=r"other uses the files of .*bundle, which is not there; put"):
        Bundle.load(other)


def test_a_chain_is_refused(other: Path) -> None:
    shutil.copytree(other, other.with_name("third"))
    config_with(other.with_name("third"), beside="../other")
    with pytest.raises(BundleError, match=r"third uses the files of .*other, which uses another's; name that one in"):
        Bundle.load(other.with_name("third"))
    config_with(other, beside="../other")
    with pytest.raises(BundleError, match="uses another's"):
        Bundle.load(other)


@pytest.mark.parametrize("named", ["", "..", "../", "../..", "../.", "bundle", "../a/b", "../../x", "/x", "..\\x", 3])
def test_beside_is_a_folder_next_to_its_own(other: Path, named: object) -> None:
    config_with(other, beside=named)
    with pytest.raises(BundleError, match=r'"beside" must name a folder next to its own, such as "\.\./en-fr", but is'):
        Bundle.load(other)


@pytest.mark.parametrize("tag", ["<en>", "", 3, ["<en>"]])
def test_a_tag_that_the_vocabulary_does_not_have(bundle: Path, tag: object) -> None:
    config_with(bundle, tag=tag)
    with pytest.raises(BundleError, match=r"has the tag .*, but its vocabulary has none"):
        Bundle.load(bundle)


def test_loading_draws_no_numbers(bundle: Path) -> None:
    """What is about to be overwritten need not be drawn; and nobody's dice are moved."""
    before = torch.random.get_rng_state()
    Bundle.load(bundle)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(BundleError, match="No space left"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
