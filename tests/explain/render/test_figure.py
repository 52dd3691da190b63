"""Every form of a figure, whole and by its suffix."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from maps import hard
from regard.errors import InputError
from regard.explain.explanation import explain
from regard.explain.heads import Sheet
from regard.explain.render.figure import arcs_grids, arcs_output, map_output, sheet_drawing, sheet_output
from regard.report.deliver import PICTURES, Output, contents, write
from regard.translator import Translator
from support import need_font


@pytest.fixture(scope="module")
def outputs(translator: Translator) -> dict[str, Output]:
    found = [explain(translator, text) for text in ("The dog sees the cat.", "The cat sleeps.")]
    return {
        "heat": map_output(found[0].grid()),
        "ribbons": map_output(found[0].grid(), heat_map=False),
        "sheet": sheet_output(found[0].sheet()),
        "arcs": arcs_output([f.arcs("cat") for f in found]),
    }


@pytest.mark.parametrize("suffix", PICTURES)
def test_every_form_is_written_twice_the_same(outputs: dict[str, Output], suffix: str, tmp_path: Path) -> None:
    if suffix in (".png", ".pdf"):
        need_font()
    for name, output in outputs.items():
        path = tmp_path / f"{name}{suffix}"
        write(output, path)
        first = path.read_bytes()
        write(output, path)
        assert path.read_bytes() == first == contents(output, suffix)
        assert [p.name for p in tmp_path.iterdir()].count(path.name) == 1
        if suffix == ".svg":
            ElementTree.fromstring(first.decode())
        elif suffix == ".json":
            json.loads(first)
        elif suffix in (".png", ".pdf"):
            assert first.startswith((b"\x89PNG", b"%PDF"))
        elif suffix == ".html":
            assert (b"<svg" in first) == (name != "heat")  # which is a table there
        else:
            assert b"\x1b" not in first
            assert all(line == line.rstrip() for line in first.decode().split("\n"))


def test_arcs_as_tables(translator: Translator) -> None:
    arcs = explain(translator, "The dog sees the cat.").arcs("dog")
    looks, looked = arcs_grids(arcs)
    assert looks.title == "“dog” in: The dog sees the cat. · what the word attends to"
    assert looks.values.sum(axis=1) + looks.hidden == pytest.approx(1, abs=1e-5)
    assert "need not sum to 1" in looked.caption


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("map.gif", "must end in .svg, .html, .json, .png, .pdf, .txt"),
        ("none/map.svg", "is not a folder"),
        ("map", "must end"),
    ],
)
def test_a_file_that_cannot_be(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        write(map_output(hard("words")), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_sheet_names_the_words_at_its_axes(translator: Translator) -> None:
    sheet = explain(translator, "The cat sleeps.").sheet("encoder")
    labels = [label.text for label in sheet_drawing(sheet).labels]
    assert labels.count("cat") == len(sheet.layers) + len(sheet.layers[0])  # left of each layer, above each head
    thumb, names = sheet.layers[0][0], tuple(f"word{n}" for n in range(90))
    even = np.full((90, 90), 1 / 90)
    many = replace(thumb.grid, rows=names, columns=names, values=even, hidden=np.zeros(90), problems=(None,) * 90)
    drawing = sheet_drawing(Sheet(((replace(thumb, grid=many),),), "many", ""))
    assert 10 < sum(label.text.startswith("word") for label in drawing.labels) < 90
    assert "not every word is named" in drawing.caption
