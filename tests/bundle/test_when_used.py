"""A bundle that is read has no model until one is used; without it, no torch is imported."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from regard.bundle.bundle import Bundle
from regard.bundle.card import read_card
from regard.errors import BundleError
from regard.models.transformer_layers import TransformerConfig

READ = """
import sys
from pathlib import Path
from regard.bundle.bundle import Bundle
from regard.bundle.card import read_card
bundle = Bundle.read(Path(sys.argv[1]))
known = bundle.max_length, bundle.languages, bundle.slots, bundle.tag, bundle.decode, bundle.known_words
assert not bundle.loaded and bundle.table["width"] == 256 and bundle.tokenizer.encode_source(["The cat"])
assert "torch" not in sys.modules, "reading a bundle imports torch"
"""


@pytest.fixture
def folder(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder / "best", tmp_path / "bundle")
    return tmp_path / "bundle"


def test_reading_imports_no_torch() -> None:
    subprocess.run([sys.executable, "-c", READ, "en-fr-classic"], check=True)


def test_what_is_read_is_what_is_loaded(folder: Path) -> None:
    read, loaded = Bundle.read(folder), Bundle.load(folder)
    assert not read.loaded
    assert loaded.loaded
    assert read.table == loaded.table == dataclasses.asdict(loaded.config)
    assert (read.max_length, read.languages, read.decode) == (loaded.max_length, loaded.languages, loaded.decode)
    assert not read.loaded
    assert isinstance(read.config, TransformerConfig)
    assert read.config == loaded.config
    assert read.loaded


def test_learned_positions_limit_the_length_without_a_model(folder: Path) -> None:
    bundle = Bundle.read(folder)
    for positions, longest in (("learned", 7), ("sinusoidal", bundle.max_length)):
        vars(bundle)["_table"] = dict(bundle.table) | {"positions": positions, "max_positions": 7}
        assert bundle.max_length == longest
        assert not bundle.loaded


def test_a_card_is_checked_once_until_it_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []
    monkeypatch.setattr("regard.bundle.card.read_card", lambda card: checked.append(1) or read_card(card))
    bundles = [Bundle.read(folder) for _ in range(3)]
    assert {bundle.max_length for bundle in bundles} == {bundles[0].known_card.max_length}
    assert len(checked) == 1
    bundles[0].card["languages"] = ["de", "en"]
    assert [bundle.languages[0] for bundle in bundles[:2]] == ["de", None]
    (folder / "card.json").write_text("{}", encoding="utf-8")
    assert Bundle.read(folder).languages == (None, None)


def test_threads_load_one_model(folder: Path) -> None:
    bundle = Bundle.read(folder)
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: bundle.model, range(8)))
    assert len(set(map(id, models))) == 1


def test_a_changed_copy_keeps_the_model(folder: Path) -> None:
    bundle = Bundle.read(folder)
    assert replace(bundle, weights="int8").model is bundle.model


def test_damaged_weights_are_refused_when_they_are_used(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    bundle = Bundle.read(folder)
    for _ in range(2):
        with pytest.raises(BundleError, match="damaged"):
            bundle.model  # noqa: B018
    with pytest.raises(BundleError, match="damaged"):
        Bundle.load(folder)
