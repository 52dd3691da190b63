"""docs/architectures.md: its table is what the code counts. `REGARD_WRITE_DOCS=1` writes it anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import torch

from regard.models.table import ARCHITECTURES

PAGE = Path(__file__).parent.parent / "docs" / "architectures.md"
TABLE = re.compile(r"(<!-- sizes -->\n(?:\|.*\n){2})((?:\|.*\n)*)(?=<!-- end -->)")
WORDS_OF_THE_PAPER = {
    "sutskever": (160_000, 80_000),
    "bytenet": (256, 256),  # characters
    "gnmt": (32_000, 32_000),
    "moe": (32_000, 32_000),
    "moe-2048": (32_000, 32_000),
    "base": (37_000, 37_000),
    "big": (37_000, 37_000),
}
USUAL = (30_000, 30_000)
SAID = {  # parameters, operations
    "sutskever": ("384 million", ""),
    "gnmt": ("278 million", "214 million"),
    "moe-2048": ("8.7 billion", "85 million"),
    "base": ("65 million", ""),
    "big": ("213 million", ""),
}


def row(architecture: str, preset: str) -> str:
    source, target = WORDS_OF_THE_PAPER.get(preset, USUAL)
    _, presets, constructor = ARCHITECTURES[architecture]
    with torch.device("meta"):
        model = constructor(presets[preset], source, target, source == target)
    said = [f" ({paper})" if paper else "" for paper in SAID.get(preset, ("", ""))]
    parameters = f"{model.parameter_count():,}{said[0]}"
    operations = f"{model.flops(10, 10) / 20e6:,.0f} million{said[1]}"
    return f"| {architecture} | {preset} | {source:,} + {target:,} | {parameters} | {operations} |\n"


def test_the_table_of_sizes_is_true() -> None:
    ours = ("tiny", "small")
    rows = [
        row(name, preset) for name, (_, presets, _) in ARCHITECTURES.items() for preset in presets if preset not in ours
    ]
    page = PAGE.read_text(encoding="utf-8")
    wanted, found = TABLE.subn(lambda table: table[1] + "".join(rows), page)
    assert found == 1
    if os.environ.get("REGARD_WRITE_DOCS"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted


def test_every_architecture_has_its_section() -> None:
    sections = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in sections if name in ARCHITECTURES] == list(ARCHITECTURES)
