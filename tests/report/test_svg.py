"""The SVG: valid XML, nothing that acts, everything escaped, the same bytes each time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maps
import regard
from maps import HARD, WORD, hard, sample
from regard.explain.render.map_drawing import heat
from regard.report.colour import on_scale
from regard.report.drawing import Box, Curve, Drawing, Label, Tiles
from regard.report.render import svg

NAME = "{http://www.w3.org/2000/svg}"


@settings(max_examples=20, deadline=None)
@given(st.lists(WORD, max_size=6), st.lists(WORD, min_size=2, max_size=4), st.booleans())
def test_it_is_xml_whatever_the_words(source: list[str], target: list[str], broken: bool) -> None:
    ElementTree.fromstring(svg(heat(sample(source, target, broken))))


@pytest.mark.parametrize("name", HARD)
def test_words_arrive_as_they_are(name: str) -> None:
    root = ElementTree.fromstring(svg(heat(hard(name))))
    said = {(text.text or "") for text in root.iter(f"{NAME}text")} | {t.text for t in root.iter(f"{NAME}title")}
    assert set(" ".join(HARD[name]).split()) <= said | {t for t in said if t} | _tails(root)
    assert {e.tag.removeprefix(NAME) for e in root.iter()} <= {
        *("svg", "title", "desc", "style", "rect", "text", "path", "g")
    }


def _tails(root: ElementTree.Element) -> set[str]:
    """A text with a title of its own has its words after it."""
    return {title.tail or "" for title in root.iter(f"{NAME}title")}


def test_nothing_acts() -> None:
    text = svg(heat(hard("markup")))
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"\son\w+=", re.sub(r"&lt;.*?&gt;", "", text))


def test_the_same_map_gives_the_same_bytes_in_another_process() -> None:
    """With the modules of this process, wherever the tests were started, and on a busy machine."""
    code = "import maps; from regard.explain.render.map_drawing import heat; from regard.report.render import svg;"
    code += "import sys; sys.stdout.buffer.write(svg(heat(maps.hard('words'))).encode())"
    folders = [Path(maps.__file__).parent, Path(regard.__file__).parents[1]]
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout == svg(heat(hard("words"))).encode()


def test_direction_is_said_and_anchors_turn_with_it() -> None:
    right = svg(Drawing(99, 99, (Label(50, 50, "قطة", "right"),), "t"))
    assert 'text-anchor="start"' in right
    assert 'direction="rtl"' in right
    left = svg(Drawing(99, 99, (Label(50, 50, "cat", "right"),), "t"))
    assert 'text-anchor="end"' in left
    assert "direction" not in left


def test_tiles_and_curves() -> None:
    tiles = Tiles(1, 2, 3, 3, ((0, 0, 10), (10, 0, 0)))
    root = ElementTree.fromstring(svg(Drawing(9, 9, (tiles, Curve(((0, 0), (1, 1), (2, 2), (3, 3)), "#111111")), "t")))
    paths = [(p.get("fill"), p.get("d")) for p in root.iter(f"{NAME}path")]
    assert paths == [
        (on_scale(0).hex, "M0 0h2v1h-2zM1 1h2v1h-2z"),
        (on_scale(1).hex, "M2 0h1v1h-1zM0 1h1v1h-1z"),
        ("none", "M0 0C1 1 2 2 3 3"),
    ]


def test_dark_pages_are_said_once_and_only_for_what_is_drawn() -> None:
    drawing = Drawing(9, 9, (Label(1, 1, "a"), Box(0, 0, 1, 1, "#123456", round=2)), "t")
    alone = svg(drawing)
    assert alone.count("<style>") == 1
    assert '[fill="#1b1e22"]{fill:#eceae4}' in alone
    assert "stroke" not in alone
    assert 'rx="2" fill="#123456"' in alone
    assert "<style>" not in svg(drawing, inline=True)  # a page has its own


def test_spaces_are_kept_where_there_are_some_to_keep() -> None:
    text = svg(Drawing(9, 9, (Label(1, 1, "two words"), Label(1, 1, " a  b")), "t"))
    assert text.count('xml:space="preserve"') == 1
    assert 'xml:space="preserve"> a  b<' in text


def test_a_map_of_25_words_is_small() -> None:
    assert len(svg(heat(sample([f"word{i}" for i in range(25)], [f"mot{i}" for i in range(28)])))) < 60_000


PICTURES = sorted((Path(__file__).parents[2] / "docs" / "img").glob("*.svg"))


def test_there_are_pictures() -> None:
    wanted = {
        "hero",
        "attention",
        "heads",
        "arcs",
        "il",
        "elle",
        "lattice",
        "positions",
        "step",
        "model",
        "model-notes",
    }
    wanted |= {f"table2-{pair}{whose}" for pair in ("en-fr", "en-de") for whose in ("", "-paper")}
    assert {path.stem for path in PICTURES} == wanted


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_pictures_of_the_pages_are_whole_and_small_and_say_what_they_are(path: Path) -> None:
    assert path.stat().st_size < 60_000
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{NAME}svg"
    assert root.get("role") == "img"
    assert [(part.tag.removeprefix(NAME), bool(part.text)) for part in root[:2]] == [("title", True), ("desc", True)]
    assert float(root.get("width", "inf")) <= 880  # letters of 12 stay readable where a page gives it 830
    assert "http" not in path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
