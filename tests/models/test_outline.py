"""Every parameter and every operation of a model belongs to one block of its outline."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regard.models.base import Model
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
