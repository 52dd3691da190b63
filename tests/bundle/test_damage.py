"""Bundles whose weights are damaged, or are not weights, or do not fit their config.json: one line, and quickly."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

import regard
from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.folder import CHECKSUMS, read_checksums
from regard.errors import BundleError
from regard.layers.lora import updated
from regard.models.base import unique_tensors
from regard.text.tokenizer import TextConfig, Tokenizer
from support import Call


@pytest.fixture
def bundle(run_folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(run_folder / "best", tmp_path / "bundle")
    return tmp_path / "bundle"


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["config"] |= changes
    (folder / "config.json").write_text(json.dumps(config))


def change_weights(folder: Path, change: Callable[[dict[str, Tensor]], None], name: str = "model.safetensors") -> None:
    """As an older version would store them: without checksums."""
    tensors = load_file(folder / name)
    change(tensors)
    save_file(tensors, folder / name)
    (folder / CHECKSUMS).unlink(missing_ok=True)


# ── checksums ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_two_flipped_bytes_are_found(bundle: Path, name: str) -> None:
    data = bytearray((bundle / name).read_bytes())
    for place in (len(data) - 9, len(data) // 2):
        data[place] ^= 1
    (bundle / name).write_bytes(data)
    with pytest.raises(BundleError, match=f"{name}.* is damaged: its checksum differs .*; copy it again"):
        Bundle.load(bundle)


def test_updates_have_a_checksum_too(bundle: Path) -> None:
    other = bundle.with_name("other")
    store_as_update(bundle, other)
    data = bytearray((other / "updates.safetensors").read_bytes())
    data[-3] ^= 1
    (other / "updates.safetensors").write_bytes(data)
    with pytest.raises(BundleError, match=r"updates\.safetensors is damaged: its checksum"):
        Bundle.load(other)


def test_a_bundle_without_checksums_loads(bundle: Path) -> None:
    (bundle / CHECKSUMS).unlink()
    assert Bundle.load(bundle).architecture == "transformer"


def test_the_models_in_the_box_have_checksums() -> None:
    for name in bundled_models.names():
        own = {path.name for path in bundled_models.folder_of(name).iterdir()}
        assert set(read_checksums(bundled_models.folder_of(name))) == own & {
            "model.safetensors",
            "tokenizer.json",
            "updates.safetensors",
            "words.txt.gz",
        }


@pytest.mark.parametrize("text", ["what?\n", "0" * 64 + " model.safetensors\n", "\0\n", "x" * 20_000])
def test_a_damaged_list_of_checksums_is_one_line(bundle: Path, text: str) -> None:
    (bundle / CHECKSUMS).write_text(text)
    with pytest.raises(BundleError, match=CHECKSUMS):
        Bundle.load(bundle)


def test_an_interrupted_save_leaves_no_wrong_checksums(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Bundle.load(bundle)
    with torch.no_grad():
        next(loaded.model.parameters()).mul_(2)

    def stop(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.bundle.bundle.write_json", stop)
    with pytest.raises(KeyboardInterrupt):
        loaded.save(bundle)
    assert torch.equal(next(Bundle.load(bundle).model.parameters()), next(loaded.model.parameters()))


# ── updates of the model beside it ──────────────────────────────────────────────────────────────────────────────────


def store_as_update(bundle: Path, other: Path) -> dict[str, Tensor]:
    loaded = Bundle.load(bundle)
    name = "encoder.0.attention.query.weight"
    plain = {n: t.detach().clone() for n, t in unique_tensors(loaded.model).items()}
    out, width = plain[name].shape
    generator = torch.Generator().manual_seed(1)
    factors = {
        f"{name}.up": torch.randn(out, 2, generator=generator),
        f"{name}.down": torch.randn(2, width, generator=generator),
    }
    loaded.save(other, beside=bundle.name, updates=factors)
    return updated(plain, factors)


def test_an_update_saved_in_place_is_added_once(bundle: Path) -> None:
    other = bundle.with_name("other")
    wanted = store_as_update(bundle, other)
    Bundle.load(other).save(other)
    assert not (other / "updates.safetensors").exists()
    found = unique_tensors(Bundle.load(other).model)
    assert all(torch.equal(found[name], tensor) for name, tensor in wanted.items())


def test_weights_of_its_own_need_no_update(bundle: Path) -> None:
    """As an interruption, or an older version, leaves it: whole weights and the old update."""
    other = bundle.with_name("other")
    store_as_update(bundle, other)
    shutil.copy(other / "updates.safetensors", bundle)
    plain = unique_tensors(Bundle.load(bundle).model)
    (bundle / "updates.safetensors").unlink()
    assert all(torch.equal(t, plain[n]) for n, t in unique_tensors(Bundle.load(bundle).model).items())


def test_a_bundle_saved_beside_another_drops_files_of_its_own(bundle: Path) -> None:
    other = bundle.with_name("other")
    Bundle.load(bundle).save(other)
    Bundle.load(bundle).save(other, beside="bundle")
    assert sorted(path.name for path in other.iterdir()) == ["card.json", "config.json"]


# ── what cannot be weights ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_weights_that_are_not_finite_are_refused(bundle: Path, value: float, call: Call) -> None:
    def change(tensors: dict[str, Tensor]) -> None:
        tensors["decoder_norm.weight"][3] = value

    change_weights(bundle, change)
    answer = call("translate", "--model", bundle, "The cat sleeps.")
    assert answer.code == 2
    assert answer.out == ""
    assert "decoder_norm.weight holds NaN or infinity" in answer.err
    assert answer.err.count("\n") == 1


def test_scales_that_are_not_finite_are_refused(bundle: Path) -> None:
    from dataclasses import replace

    replace(Bundle.load(bundle), weights="int8").save(bundle)
    for scale in (torch.nan, 3e38):  # 127 times the second is infinite

        def change(tensors: dict[str, Tensor], scale: float = scale) -> None:
            tensors["encoder.0.attention.query.weight.scale"][0] = scale

        change_weights(bundle, change)
        with pytest.raises(BundleError, match=r"query\.weight\.scale holds NaN or infinity"):
            Bundle.load(bundle)


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64, torch.int8], ids=str
)
def test_numbers_that_are_no_weights_are_refused(bundle: Path, dtype: torch.dtype) -> None:
    def change(tensors: dict[str, Tensor]) -> None:
        tensors["decoder_norm.weight"] = tensors["decoder_norm.weight"].to(dtype)

    try:
        change_weights(bundle, change)
    except KeyError:
        pytest.skip("this version of safetensors cannot write complex numbers")
    with pytest.raises(BundleError, match=r"decoder_norm\.weight holds numbers of the type"):
        Bundle.load(bundle)


# ── a config.json that asks for more than the file has ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder_layers": 1_000_000},
        {"decoder_layers": 2**62},
        {"width": 131_072, "heads": 2},
        {"width": 2**62, "heads": 2},
        {"inner": 2**40},
        {"heads": 2**61, "width": 2**62},
        {"heads": 2**62 - 1},
        {"experts": 2**40},
        {"encoder_layers": 500},
        {"positions": "learned", "max_positions": 2**50},
    ],
    ids=str,
)
def test_a_configuration_larger_than_its_weights_takes_no_memory_and_no_time(
    bundle: Path, changes: dict[str, Any]
) -> None:
    change_config(bundle, **changes)
    began = time.process_time()
    with pytest.raises(BundleError):
        Bundle.load(bundle)
    assert time.process_time() - began < 10  # building them took 40 s and more, and gigabytes


# ── a small vocabulary ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_of_a_small_vocabulary_can_be_packed(tmp_path: Path, call: Call) -> None:
    from regard.models.table import ARCHITECTURES, make_model

    lines = [("a b c d e", "f g h i j")] * 2
    tokenizer = Tokenizer.train(lambda: iter(lines), TextConfig(unit="word", vocab_size=10, joint=False))
    assert tokenizer.source_size < 23
    config = ARCHITECTURES["transformer"].presets["tiny"]
    torch.manual_seed(1)
    model = make_model("transformer", config, tokenizer).eval()
    Bundle("transformer", config, model, tokenizer).save(tmp_path / "model")
    answer = call("pack", tmp_path / "model", "--out", tmp_path / "small")
    assert answer.code == 0, answer.err
    assert "largest difference of a log-probability" in answer.out
    assert regard.load(tmp_path / "small").translate(["a b"])
