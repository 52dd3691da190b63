"""A beam search as a picture, a graph and lines: nothing overlaps, all parses, the same bytes every time."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.explain.lattice import Entry, Lattice, Node, lattice
from regard.explain.render.lattice_drawing import lattice_drawing
from regard.explain.render.text import lattice_dot, lattice_text
from regard.report.drawing import Label
from regard.report.render import svg
from regard.translator import Translator

SOURCE = "The dog sees the cat."


def overlap(a: Label, b: Label) -> bool:
    (left, top), _, (right, bottom), _ = a.corners()
    (other_left, other_top), _, (other_right, other_bottom), _ = b.corners()
    across = left < other_right and other_left < right
    return across and top < other_bottom - 0.01 and other_top < bottom - 0.01  # lines may touch


def a_search(pieces: list[list[str]]) -> Lattice:
    """A search of as many steps as there are lists; the first of each goes on."""
    nodes: list[Node] = []
    for step, column in enumerate(pieces, start=1):
        parent = next((n for n, node in enumerate(nodes) if node.step == step - 1), -1)
        for row, piece in enumerate(column):
            fate = "kept" if row == 0 else "crowded out"
            leads_to = 1 if row == 0 else None
            nodes.append(Node(step, parent, 5, piece, -1.0, -1234.5 * step, -1.0, fate, "why", None, leads_to))
    return Lattice("a source", 3, 3, 0.6, "", "all ended", tuple(nodes), (Entry("a text", -1.0, -1.0, (0,)),))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.text(max_size=25), min_size=1, max_size=6), min_size=1, max_size=6))
def test_no_two_labels_overlap(pieces: list[list[str]]) -> None:
    drawing = lattice_drawing(a_search(pieces))
    words = drawing.labels
    for i, one in enumerate(words):
        assert not [other.text for other in words[i + 1 :] if overlap(one, other)], one.text
        left, right = min(x for x, _ in one.corners()), max(x for x, _ in one.corners())
        assert left >= 0
        assert right <= drawing.width
    ElementTree.fromstring(svg(drawing))


def test_a_piece_of_spaces_is_no_empty_box() -> None:
    texts = [label.text for label in lattice_drawing(a_search([["a"], ["\u202f", "b"]])).labels]
    assert "␣" in texts
    assert not [text for text in texts if not text.strip()]


def test_the_picture_of_a_real_search(translator: Translator) -> None:
    found = lattice(translator.bundle, SOURCE, 3)
    written = svg(lattice_drawing(found))
    assert written == svg(lattice_drawing(lattice(translator.bundle, SOURCE, 3)))
    text = "".join(ElementTree.fromstring(written).itertext())
    assert found.nbest[0].text in text
    assert "crowded out: 3 better ones were kept" in text  # as the title of a box
    assert text.count("so far") >= len(found.nodes)


def test_a_search_too_big_to_read_is_refused_in_one_line(translator: Translator) -> None:
    found = lattice(translator.bundle, SOURCE, 12)
    with pytest.raises(InputError, match=r"too many to draw .* write it as \.json or \.dot") as refused:
        lattice_drawing(found)
    assert "\n" not in str(refused.value)
    assert lattice_dot(found).count(" -> ") == len(found.nodes)  # a graph of any size


def test_the_graph_has_every_node_and_edge_and_is_quoted(translator: Translator) -> None:
    found = lattice(translator.bundle, 'The "cat" \\ sees.', 2)
    graph = lattice_dot(found)
    assert graph.startswith("digraph beam {")
    assert graph.count("{") == graph.count("}") == 1
    assert graph.count("tooltip=") == graph.count(" -> ") == len(found.nodes)
    assert r"\"cat\" \\ sees" in graph


def test_the_lines_name_every_node(translator: Translator) -> None:
    found = lattice(translator.bundle, SOURCE, 2)
    lines = lattice_text(found).splitlines()
    assert sum(line[:2].strip() in ("*│", "│", "*■", "■", "×") for line in lines if len(line) > 30) == len(found.nodes)
    assert lines[-2 if len(found.nbest) == 2 else -1].startswith("1. score")
