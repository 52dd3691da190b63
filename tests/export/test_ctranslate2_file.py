"""The file equals, byte for byte, what CTranslate2's own writer makes of the same tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctranslate2 import specs

from converted import SMALL, saved_transformer
from regard.bundle.numpy_weights import StoredTensor
from regard.export.ctranslate2 import export_ctranslate2
from regard.export.ctranslate2_file import WEIGHTS, Weights, write_model
from regard.text.tokenizer import Tokenizer


def their_model(entries: dict[str, Any]) -> specs.TransformerSpec:
    """A specification of CTranslate2 with these values."""
    spec = specs.TransformerSpec.from_config(
        (SMALL["encoder_layers"], SMALL["decoder_layers"]), SMALL["heads"], alignment_layer=1, alignment_heads=4
    )
    for name, entry in entries.items():
        value = entries[entry] if isinstance(entry, str) else entry
        scope, _, attribute = name.rpartition("/")
        setattr(specs.model_spec.index_spec(spec, scope), attribute, np.array(getattr(value, "numbers", value)))
    assert set(spec.variables()) == set(entries), "one has a tensor that the other lacks"
    return spec


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_is_what_ctranslate2_would_write(
    weights: Weights, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    seen: dict[str, Any] = {}

    def keep(path: Path, entries: dict[str, Any], weights: Weights) -> None:
        seen.update(entries)
        write_model(path, entries, weights)

    monkeypatch.setattr("regard.export.ctranslate2.write_model", keep)
    export_ctranslate2(tmp_path / "model", tmp_path / "out", weights)
    spec = their_model(seen)
    for vocabulary in (spec.register_source_vocabulary, spec.register_target_vocabulary):
        vocabulary(tokenizer.source.pieces)
    spec.validate()
    spec.optimize(quantization=weights)
    spec.save(str(tmp_path))
    assert (tmp_path / "out" / "model.bin").read_bytes() == (tmp_path / "model.bin").read_bytes()


def test_a_row_of_zeros_stays_one(tmp_path: Path) -> None:
    whole = StoredTensor(np.zeros((2, 3), np.int8), np.zeros(2, np.float32))
    write_model(tmp_path / "a", {"x/weight": whole}, "int8")
    write_model(tmp_path / "b", {"x/weight": StoredTensor(np.zeros((2, 3), np.float32))}, "int8")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
