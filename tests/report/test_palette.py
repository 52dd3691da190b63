"""One palette: the page's style sheet has it too, nothing else names a colour, and everything can be seen and read."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from regard.report.colour import linear, luminance, oklab, rgb
from regard.report.palette import PALETTE, TYPE

PACKAGE = Path(__file__).parents[2] / "src" / "regard"
PAGE = PACKAGE / "serve" / "page"
THEMES = pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])


def contrast(one: str, other: str, theme: int) -> float:
    """Of WCAG 2: 4.5 is enough for text, 3 for lines and shapes."""
    dim, bright = sorted(luminance(rgb(PALETTE[name][theme])) for name in (one, other))
    return (bright + 0.05) / (dim + 0.05)


def test_the_page_has_the_same_colours_and_sizes() -> None:
    style = (PAGE / "base.css").read_text(encoding="utf-8").replace('"', "'")
    declared = dict(re.findall(r"^  --([\w-]+): (.*);$", style, re.MULTILINE))
    light_dark = {name: re.fullmatch(r"light-dark\((#\w{6}), (#\w{6})\)", value) for name, value in declared.items()}
    assert {name: found.groups() for name, found in light_dark.items() if found} == PALETTE
    assert {name: declared[name] for name in TYPE} == TYPE


def test_text_has_the_sizes_of_the_scale() -> None:
    """Or a size relative to the text around it."""
    for file in (*PAGE.glob("*.css"), *PACKAGE.glob("report/*.css"), *PACKAGE.glob("explain/**/*.css")):
        sizes = re.findall(r"(?<![\w-])font(?:-size)?: ([^;}]*)", file.read_text(encoding="utf-8"))
        own = [size for size in sizes if re.search(r"(?<![\w-])[\d.]+(?:rem|px|pt)", size)]
        assert (file.name, own) == (file.name, [])


def test_no_other_file_names_a_colour() -> None:
    files = [*PAGE.glob("*.css"), *PAGE.glob("*.js"), *(PACKAGE / "report").iterdir(), *PACKAGE.glob("explain/**/*.*")]
    files += [*PACKAGE.glob("metrics/**/*.py"), *PACKAGE.glob("course/**/*.py"), *PACKAGE.glob("cli/*.py")]
    own = {"base.css", "palette.py", "colour.py"}
    named = {
        f"{file.name}: {colour}"
        for file in files
        if file.is_file() and file.suffix in (".py", ".css", ".js") and file.name not in own
        for colour in re.findall(r"(?<!&)#[0-9a-fA-F]{6}\b|\b(?:rgb|hsl|oklch)a?\(\d", file.read_text(encoding="utf-8"))
    }
    assert named == set()
    icon = re.findall(r"#\w{6}", (PAGE / "icon.svg").read_text(encoding="utf-8"))
    assert set(icon) <= {colour for pair in PALETTE.values() for colour in pair}


@THEMES
def test_text_can_be_read(theme: int) -> None:
    grounds = ("paper", "surface", "sunken")
    pairs = [(text, ground) for text in ("ink", "quiet", "accent", "warm", "bad", "good") for ground in grounds]
    pairs += [(name, f"{name}-soft") for name in ("accent", "warm", "bad", "good")]
    pairs += [
        ("ink", "accent-soft"),
        ("ink", "bar"),
        ("ink", "selected"),
        ("on-accent", "accent"),
        ("on-heat", "heat"),
        ("on-cold", "sunken"),
    ]
    assert {pair: found for pair in pairs if (found := contrast(*pair, theme)) < 4.5} == {}


@THEMES
def test_lines_and_series_can_be_seen(theme: int) -> None:
    series = [name for name in PALETTE if name.startswith("series-")]
    shapes = [*series, "line-strong", "accent", "warm", "heat", "heat-negative"]
    pairs = [(shape, ground) for shape in shapes for ground in ("paper", "surface")]
    assert {pair: found for pair in pairs if (found := contrast(*pair, theme)) < 3} == {}


# What people see of linear light without one kind of cones (Machado, Oliveira & Fernandes 2009, severity 1).
VISION = {
    "all": np.eye(3).tolist(),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@THEMES
@pytest.mark.parametrize("vision", VISION)
def test_series_differ_for_everybody(theme: int, vision: str) -> None:
    def seen(name: str) -> np.ndarray:
        light = (np.array(VISION[vision]) @ linear(rgb(PALETTE[name][theme]))).clip(0, 1)
        return oklab_of(light)

    names = [name for name in PALETTE if name.startswith("series-")]
    distances = {(a, b): float(np.linalg.norm(seen(a) - seen(b))) for a, b in combinations(names, 2)}
    assert {pair: round(found, 3) for pair, found in distances.items() if found < 0.05} == {}


def oklab_of(light: np.ndarray) -> np.ndarray:
    """Oklab of linear light, by way of `oklab`, which takes displayed values."""
    shown = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return oklab(rgb("#" + "".join(f"{round(part * 255):02x}" for part in shown.tolist())))
