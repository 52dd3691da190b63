"""A converted model computes what the model computes; what cannot be converted is refused."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest
import torch

from converted import engines, saved_transformer
from regard.bundle.bundle import Bundle
from regard.bundle.folder import CARD, WEIGHTS
from regard.bundle.pack import PackOptions, pack_bundle
from regard.errors import BundleError, InputError
from regard.export.ctranslate2 import MAP, export_ctranslate2, read_conversion_info, source_checksum, write_map
from regard.models.rnn_attention import RnnAttention, RnnAttentionConfig
from regard.search.native_engine import NativeEngine
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.vocabulary import BYTES, SPECIALS
from regard.translation.translator import TextTranslator
from support import LINES

SOURCES = [(5, 300, 17, 42, 8), (9,), (200, 201, 202, 203, 204, 205, 206, 207)]
TARGETS = [(30, 31), (), (350, 3, 4, 5, 270, 271, 272)]


@pytest.fixture(scope="module")
def apart() -> Tokenizer:
    """Two vocabularies of different sizes."""
    return Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360, joint=False))


def same(folder: Path, out: Path) -> None:
    """Log-probabilities and attention."""
    ours, native = engines(folder, out)
    sizes = len(ours.model.source), len(ours.model.target)
    sources = [tuple(i % sizes[0] for i in ids) for ids in SOURCES]
    targets = [tuple(i % sizes[1] for i in ids) for ids in TARGETS]
    for one, other in zip(ours.log_probs(sources, targets), native.log_probs(sources, targets), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    maps, wanted = ours.attention(sources, targets), native.attention(sources, targets)
    assert maps is not None
    assert wanted is not None
    for one, other in zip(maps, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=2e-5)


KINDS = [
    {"norm": norm, "positions": positions, "activation": activation, "tie": tie}
    for (norm, positions), (activation, tie) in zip(
        itertools.cycle(itertools.product(("pre", "post"), ("sinusoidal", "learned"))),
        itertools.product(("relu", "gelu", "silu", "swiglu"), ("auto", "target", "none")),
        strict=False,
    )
]


@pytest.mark.parametrize("config", KINDS, ids=lambda config: " ".join(config.values()))
def test_every_kind_of_transformer_is_the_same_model(
    config: dict[str, Any], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    saved_transformer(tmp_path / "model", tokenizer, **config, max_positions=40)
    same(tmp_path / "model", tmp_path / "out")


def test_two_vocabularies_and_an_output_bias(apart: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", apart, output_bias=True)
    same(tmp_path / "model", tmp_path / "out")


@pytest.mark.parametrize("head", [None, 0, 2])
def test_the_view_of_the_card_is_the_attention_it_gives(head: int | None, tokenizer: Tokenizer, tmp_path: Path) -> None:
    card = {"attention_view": {"layer": 1, "head": head, "row": "having-read", "aer": 0.2, "on": "text"}}
    saved_transformer(tmp_path / "model", tokenizer, card)
    same(tmp_path / "model", tmp_path / "out")


def test_weights_in_8_bits_are_taken_over_as_they_are(tokenizer: Tokenizer, tmp_path: Path) -> None:
    card = {"attention_view": {"layer": 0, "head": 3, "row": "predicting", "aer": 0.2, "on": "text"}}
    saved_transformer(tmp_path / "model", tokenizer, card)
    pack_bundle(tmp_path / "model", tmp_path / "small", PackOptions("int8"))
    export_ctranslate2(tmp_path / "small", tmp_path / "out", "int8")
    exact = ctranslate2.Translator(str(tmp_path / "out"), compute_type="float32", intra_threads=1)
    translator = TextTranslator(Bundle.load(tmp_path / "small"))
    labels = translator.tokenizer.source.labels
    found = exact.score_batch([[*labels(ids), "</s>"] for ids in SOURCES], [labels(ids) for ids in TARGETS])
    native = translator.engine()
    assert isinstance(native, NativeEngine)
    for one, other in zip(found, native.log_probs(SOURCES, TARGETS), strict=True):
        np.testing.assert_allclose(one.log_probs, other, atol=1e-4)


def test_updates_beside_another_model_are_added(tokenizer: Tokenizer, tmp_path: Path) -> None:
    first = saved_transformer(tmp_path / "first", tokenizer)
    with torch.no_grad():
        first.model.get_parameter("decoder.0.cross.key.weight").add_(torch.ones(16, 1) @ torch.randn(1, 16))
    first.save(tmp_path / "changed")
    pack_bundle(tmp_path / "changed", tmp_path / "second", PackOptions("float32", beside=tmp_path / "first", rank=1))
    assert not (tmp_path / "second" / WEIGHTS).exists()
    same(tmp_path / "second", tmp_path / "out")


@pytest.mark.parametrize("weights", ["int8", "int8_float32", "int16", "float16", "bfloat16"])
def test_weights_in_fewer_bytes_stay_near(weights: Any, tokenizer: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    ours, native = engines(tmp_path / "model", tmp_path / "out", weights)
    assert ours.model.made.weights == weights
    for one, other in zip(ours.log_probs(SOURCES, TARGETS), native.log_probs(SOURCES, TARGETS), strict=True):
        np.testing.assert_allclose(one, other, atol=0.5)


# ── refused ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("config", "named"), [({"positions": "rotary"}, "rotary positions"), ({"experts": 2}, "mixture of experts")]
)
def test_what_ctranslate2_cannot_express_is_refused(
    config: dict[str, Any], named: str, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    saved_transformer(tmp_path / "model", tokenizer, **config)
    with pytest.raises(InputError, match=f"has .*{named}.*; Transformers with sinusoidal or learned positions"):
        export_ctranslate2(tmp_path / "model", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_architecture_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = RnnAttentionConfig(width=8, embedding=8)
    model = RnnAttention(config, tokenizer.source_size, tokenizer.target_size, True)
    Bundle("rnn-attention", config, model, tokenizer).save(tmp_path / "model")
    with pytest.raises(InputError, match="architecture rnn-attention, which CTranslate2 cannot express; Transformers"):
        export_ctranslate2(tmp_path / "model", tmp_path / "out")


def test_a_folder_of_something_else_is_not_replaced(tokenizer: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("the only copy")
    with pytest.raises(InputError, match="is no conversion"):
        export_ctranslate2(tmp_path / "model", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_weights_that_do_not_fit_are_one_line(tokenizer: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["config"]["decoder_layers"] = 9
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(BundleError, match=r"do not fit its config.json \(.*decoder\.3"):
        export_ctranslate2(tmp_path / "model", tmp_path / "out")


# ── what it was made from ─────────────────────────────────────────────────────────────────────────────────────────────


def test_identity_changes_with_weights_and_view_and_not_with_the_rest(tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = saved_transformer(tmp_path, tokenizer)
    before = source_checksum(tmp_path)
    bundle.card["note"] = "nothing that counts"
    bundle.save(tmp_path)
    assert source_checksum(tmp_path) == before
    bundle.card["attention_view"] = {"layer": 0, "head": 1, "row": "predicting"}
    bundle.save(tmp_path)
    viewed = source_checksum(tmp_path)
    bundle.card["attention_view"] |= {
        "row": "having-read",
        "aer": 0.1,
        "on": "text",
    }  # not converted: read from the card
    bundle.save(tmp_path)
    assert source_checksum(tmp_path) == viewed
    with torch.no_grad():
        bundle.model.get_parameter("encoder.0.attention.query.bias")[0] += 1
    bundle.save(tmp_path)
    assert len({before, viewed, source_checksum(tmp_path)}) == 3


def test_an_earlier_conversion_is_replaced(tokenizer: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    export_ctranslate2(tmp_path / "model", tmp_path / "out", "float32")
    made = export_ctranslate2(tmp_path / "model", tmp_path / "out", "int8")
    assert read_conversion_info(tmp_path / "out") == made
    assert made.weights == "int8"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out"]  # nothing is left behind


def test_converting_needs_no_torch(tokenizer: Tokenizer, tmp_path: Path) -> None:
    saved_transformer(tmp_path / "model", tokenizer)
    assert (tmp_path / "model" / CARD).is_file()
    program = (
        "import sys; from pathlib import Path; from regard.export.ctranslate2 import export_ctranslate2; "
        "export_ctranslate2(Path(sys.argv[1]), Path(sys.argv[2])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "model", tmp_path / "out"], check=True)


def test_the_map_allows_the_pieces_of_a_tag_and_repeats_none(tmp_path: Path) -> None:
    pieces = [*SPECIALS, *BYTES, "x", "y", "z", "unused"]
    x, y, z = (pieces.index(piece) for piece in "xyz")
    write_map(tmp_path / MAP, pieces, {"<a>": [0, x, y], "<b>": [x, z]})
    lines = [line.split("\t") for line in (tmp_path / MAP).read_text(encoding="utf-8").splitlines()]
    assert lines == [["", " ".join([*SPECIALS, *BYTES, "x"])], ["<a>", "y"], ["<b>", "z"]]
