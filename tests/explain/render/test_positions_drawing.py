"""Positions as a picture and in lines."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from regard.course.positions.render import positions_drawing, positions_text
from regard.course.positions.requirements import positions
from regard.report.render import svg


@pytest.mark.parametrize(("width", "length"), [(128, 64), (2, 4), (64, 200)])
def test_no_two_labels_overlap(width: int, length: int) -> None:
    drawing = positions_drawing(positions(width, length))
    boxes = []
    for words in drawing.labels:
        (left, top), _, (right, bottom), _ = words.corners()
        assert left >= 0
        assert right <= drawing.width, words.text
        clash = [
            t for x1, y1, x2, y2, t in boxes if left < x2 and x1 < right and top < y2 - 0.01 and y1 < bottom - 0.01
        ]
        assert not clash, (words.text, clash)
        boxes.append((left, top, right, bottom, words.text))


def test_the_picture_parses_and_is_the_same_every_time() -> None:
    written = svg(positions_drawing(positions()))
    ElementTree.fromstring(written)
    assert written == svg(positions_drawing(positions()))
    assert len(written.encode()) < 60_000


def test_the_lines_hold_every_finding() -> None:
    found = positions(32, 20)
    text = " ".join(positions_text(found).split())
    for requirement in found.requirements:
        assert requirement.words in text
        assert requirement.finding in text
    assert max(map(len, positions_text(found).splitlines())) <= 120
