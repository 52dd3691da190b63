"""Every parameter and every operation of a model belongs to one block of its outline, and blocks say what they read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from regard.models.base import Model
from regard.models.outline import Outline
from regard.models.table import ARCHITECTURES
from support import load_script

MODELS = load_script(Path(__file__).parent / "test_contract.py").MODELS
BARE = {"ensemble, one without attention", "ensemble, nested"}  # with a test's own model, without an outline
SOURCE, TARGET = 7, 9
SMALL = [
    (architecture, preset)
    for architecture, known in ARCHITECTURES.items()
    for preset in known.presets
    if preset != "moe-2048"  # thousands of modules
]


def check(model: Model) -> None:
    found = model.outline(SOURCE, TARGET).counted()
    assert found.parameters == model.parameter_count()
    assert found.flops == pytest.approx(model.flops(SOURCE, TARGET), rel=1e-12)
    folded = found.folded()
    assert folded.parameters == found.parameters
    assert folded.flops == pytest.approx(found.flops, rel=1e-12)
    for _, _, block in found.walk():
        if block.parts:
            assert sum(part.flops for part in block.parts) == pytest.approx(block.flops)
            loose = sum(tensor.numel() for tensor in block.tensors)
            assert sum(part.parameters for part in block.parts) + loose == block.parameters


@pytest.mark.parametrize("name", [name for name in MODELS if name not in BARE])
def test_every_parameter_and_operation_is_in_one_block(name: str) -> None:
    check(MODELS[name]())


@pytest.mark.parametrize(("architecture", "preset"), SMALL)
def test_presets(architecture: str, preset: str) -> None:
    known = ARCHITECTURES[architecture]
    with torch.device("meta"):  # sizes alone
        check(known.model(known.presets[preset], 320, 290, False))


# ── what blocks read ────────────────────────────────────────────────────────────────────────────────────────────────


def outline_of(architecture: str, preset: str = "small", **changes: object) -> Outline:
    known = ARCHITECTURES[architecture]
    with torch.device("meta"):
        model = known.model(replace(known.presets[preset], **changes), 320, 290, False)
    return model.outline(SOURCE, TARGET)


@pytest.mark.parametrize(("architecture", "readers"), [
    ("gnmt", ["LSTM", "LSTM", "LSTM", "LSTM", "Readout"]),
    ("deep-att", ["LSTM"]),
    ("rnn-attention", ["Combine"]),
    ("moe", ["Join"]),
])  # fmt: skip
def test_blocks_that_read_the_context(architecture: str, readers: list[str]) -> None:
    assert [block.name for _, _, block in outline_of(architecture).walk() if "c" in block.inputs] == readers


def test_directions_alternate() -> None:
    encoder, decoder = outline_of("deep-att").sides
    ways = [[layer.columns[n][0].blocks[0].way for layer in encoder.layers[1:-1]] for n in (0, 1)]
    assert ["".join(way) for way in ways] == ["→←→←→", "←→←→←"]
    assert {block.way for layer in decoder.layers for block in layer.blocks} == {"→"}


def test_a_reversed_source() -> None:
    encoder, decoder = outline_of("rnn", "sutskever").sides
    words = ["the", "cat", "sleeps", "EOS"]
    assert encoder.in_order(words) == ["sleeps", "cat", "the", "EOS"]
    assert decoder.in_order(words) == outline_of("rnn").sides[0].in_order(words) == words


@pytest.mark.parametrize("layers", [1, 3])
def test_the_last_layer_asks_before_the_step(layers: int) -> None:
    decoder = outline_of("rnn-attention", attend="before", decoder_layers=layers).sides[1]
    (asking,) = (sub for layer in decoder.layers for sub in layer.sublayers if sub.asked_by_last)
    assert [block.name for block in asking.blocks] == ["Attention", *["LSTM"] * layers]
    assert asking.blocks[1].inputs == ("y", "c")


def test_a_convolution_says_its_dilations() -> None:
    found = outline_of("bytenet", "bytenet").walk()
    assert {b.detail for _, _, b in found if b.kind == "convolution"} == {"kernel 3\ndilations 1, 2, 4, 8, 16"}
