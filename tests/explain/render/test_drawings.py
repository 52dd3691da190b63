"""What is laid out: no two texts overlap and none leaves the picture, whatever the words; right to left is mirrored."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maps import HARD, WORD, hard, sample
from regard.align.attention import View
from regard.explain.alignment import Trust
from regard.explain.heads import Arcs, Sheet, Thumbnail
from regard.explain.render.arcs_drawing import arcs_drawing
from regard.explain.render.figure import sheet_drawing
from regard.explain.render.map_drawing import RIBBON_LEAST, column_labels, heat, ribbons
from regard.report.colour import on_scale
from regard.report.drawing import Box, Curve, Drawing, Label, Point, Tiles, gathered, mirrored, moved

MANY = settings(max_examples=30, deadline=None)


def apart(one: tuple[Point, ...], two: tuple[Point, ...]) -> bool:
    """Whether two convex areas have a line between them: one that runs along an edge of either."""
    for shape in (one, two):
        for (x1, y1), (x2, y2) in zip(shape, (*shape[1:], shape[0]), strict=True):
            normal = (y2 - y1, x1 - x2)
            first, second = ([x * normal[0] + y * normal[1] for x, y in points] for points in (one, two))
            if max(first) <= min(second) + 1e-6 or max(second) <= min(first) + 1e-6:
                return True
    return False


def check(drawing: Drawing) -> None:
    for one, two in combinations(drawing.labels, 2):
        assert apart(one.corners(), two.corners()), (one, two)
    for words in drawing.labels:
        assert all(
            -0.01 <= x <= drawing.width + 0.01 and -0.01 <= y <= drawing.height + 0.01 for x, y in words.corners()
        )
    for item in drawing.items:
        if isinstance(item, Box):
            assert item.x >= 0
            assert item.x + item.width <= drawing.width + 0.01
        if isinstance(item, Curve):
            assert all(y <= drawing.height for _, y in item.points)


def arcs(words: list[str], others: list[str], kind: str, heads: int) -> Arcs:
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.full(len(others) + 1, 0.4), size=heads)
    seen = rng.random((heads, len(others))) if kind == "encoder" else None
    views = tuple(View(0, h) for h in range(heads))
    title = " ".join(words)
    return Arcs(0, (*words,), (*others,), views, weights[:, :-1], seen, weights[:, -1], kind, title, "caption")  # type: ignore[arg-type]


def sheet(source: list[str], target: list[str], broken: bool = False) -> Sheet:
    grid = sample(source, target, broken)
    thumbs = tuple(Thumbnail(View(0, h), grid, 1.25 * h, 0.5, Trust(0.1) if h else None) for h in range(3))
    return Sheet((thumbs, thumbs[:2]), "all heads", "a caption")


def test_the_check_can_see_an_overlap() -> None:
    one, two = Label(0, 20, "slanted", turn=-45), Label(4, 20, "slanted", turn=-45)
    assert not apart(one.corners(), two.corners())
    assert apart(one.corners(), Label(24, 20, "slanted", turn=-45).corners())


@MANY
@given(st.lists(WORD, max_size=40), st.lists(WORD, min_size=2, max_size=6), st.booleans())
def test_no_labels_of_a_heat_map_overlap(source: list[str], target: list[str], broken: bool) -> None:
    check(heat(sample(source, target, broken)))


@MANY
@given(st.lists(WORD, min_size=1, max_size=9), st.lists(WORD, min_size=2, max_size=5), st.booleans())
def test_no_labels_of_a_sheet_overlap(source: list[str], target: list[str], broken: bool) -> None:
    check(sheet_drawing(sheet(source, target, broken)))


@MANY
@given(st.lists(WORD, min_size=1, max_size=12), st.lists(WORD, min_size=1, max_size=12), st.integers(1, 9))
def test_no_labels_of_arcs_overlap(words: list[str], others: list[str], heads: int) -> None:
    check(arcs_drawing(arcs(words, words, "encoder", heads)))
    check(arcs_drawing(arcs(words, others, "cross", heads)))


@pytest.mark.parametrize("name", HARD)
def test_no_labels_of_hard_sentences_overlap(name: str) -> None:
    check(heat(hard(name)))


@MANY
@given(st.lists(WORD, max_size=20), st.lists(WORD, min_size=2, max_size=20), st.booleans())
def test_no_words_of_ribbons_overlap(source: list[str], target: list[str], broken: bool) -> None:
    check(ribbons(sample(source, target, broken)))


def test_a_ribbon_for_every_weight_that_counts_and_none_for_a_row_that_must_not_be_drawn() -> None:
    grid = hard("words", broken=True)
    drawing = ribbons(grid)
    found = [item for item in drawing.items if isinstance(item, Curve)]
    wanted = {
        f"{grid.rows[i]} ← {grid.columns[j]} {weight:.2f}": weight
        for (i, j), weight in np.ndenumerate(grid.values)
        if grid.problems[i] is None and weight >= RIBBON_LEAST
    }
    assert sorted(curve.note for curve in found) == sorted(wanted)
    middles = {words.text: words.x for words in drawing.labels}
    for curve in found:
        looks, _, at = curve.note.rsplit(" ", 1)[0].partition(" ← ")
        assert (curve.points[0][0], curve.points[3][0]) == (middles[looks], pytest.approx(middles[at]))
        assert curve.width == pytest.approx(9 * wanted[curve.note])
    said = " ".join(words.text for words in drawing.labels)
    assert "La: not drawn: contains NaN or infinity · vieille: not drawn: sums to 1.300" in said


def test_each_line_of_ribbons_runs_its_own_way() -> None:
    place = {words.text: words.x for words in ribbons(hard("arabic")).labels}
    first, last = (HARD["arabic"][0].split()[i] for i in (0, 7))
    assert place[first] > place[last]
    assert place["The"] < place["cat"]


def test_words_of_ribbons_are_as_large_as_the_page_allows() -> None:
    def size(words: int) -> float:
        return next(w.size for w in ribbons(sample(["mot"] * words, ["word"] * words)).labels if w.text == "mot")

    assert (size(5), size(60)) == (18, 12)
    assert 12 < size(17) < 18
    assert ribbons(sample(["mot"] * 17, ["word"] * 17)).width <= 830


def test_labels_are_turned_only_where_they_would_overlap() -> None:
    def turns(words: list[str]) -> set[float]:
        return {label.turn for label in column_labels(words, words)[0]}

    assert turns(["The", "cat"]) == {0.0}
    assert turns(["extraordinary", "cat"]) == {-45.0}
    assert turns(["cat"] * 60) == {-90.0}


def test_the_ground_of_a_heat_map_is_whole_where_rows_can_be_drawn() -> None:
    def grounds(broken: bool) -> list[Box]:
        boxes = [item for item in heat(hard("words", broken)).items if isinstance(item, Box)]
        return [box for box in boxes if box.fill == on_scale(0).hex and box.width > 100]

    (whole,), (rest,) = grounds(False), grounds(True)
    rows = len(HARD["words"][1].split())
    assert rest.height / whole.height == pytest.approx((rows - 2) / rows)  # the first two are broken
    assert rest.y + rest.height == pytest.approx(whole.y + whole.height)


def test_a_sheet_fills_the_page_and_its_maps_stay_large_enough_to_be_read() -> None:
    def sides(heads: int) -> tuple[float, float]:
        thumbs = tuple(Thumbnail(View(0, h), sample(["a"], ["b", "c"]), 1.0, 0.5, None) for h in range(heads))
        drawing = sheet_drawing(Sheet((thumbs,), "all heads", "a caption"))
        tiles = [item for item in drawing.items if isinstance(item, Tiles)]
        return tiles[0].cell_width, drawing.width

    assert sides(2) == (190, pytest.approx(2 * 190 + 14 + 24, abs=15))  # and the words at the left
    assert sides(4)[0] > 175
    assert sides(4)[1] <= 830
    assert sides(16)[0] == 118


def test_right_to_left_is_mirrored() -> None:
    drawing = heat(hard("arabic"))
    place = {words.text: words for words in drawing.labels}
    first, last = (HARD["arabic"][0].split()[i] for i in (0, 7))
    assert place[first].x > place[last].x
    assert place["cat"].anchor == "left"
    assert place["cat"].x > place[first].x  # rows have their names on the right
    cells = [item for item in drawing.items if isinstance(item, Box) and item.note.startswith(f"The ← {first} ")]
    assert abs(cells[0].x + cells[0].width / 2 - place[first].x) < 3  # and a cell stays under its name


def test_a_mirror_of_a_mirror_is_the_thing_itself() -> None:
    items = [
        Box(1, 2, 3, 4, "#000000"),
        Label(5, 6, "a", turn=-45),
        Tiles(1, 1, 2, 2, ((1, 2), (3, 4))),
        Curve(((0, 0), (1, 1), (2, 2), (3, 3)), "#000000"),
    ]
    assert mirrored(mirrored(items, 50), 50) == items
    assert moved(moved(items, 3, 4), -3, -4) == items


def test_what_must_not_be_drawn_is_not() -> None:
    drawing = heat(hard("words", broken=True))
    notes = [item.note for item in drawing.items if isinstance(item, Box)]
    assert not any(note.startswith(("La ←", "vieille ←")) for note in notes)
    assert any(note.startswith("femme ←") for note in notes)
    assert {"not drawn: contains NaN or infinity", "not drawn: sums to 1.300"} <= {
        words.text for words in drawing.labels
    }
    small = sheet_drawing(sheet(["a"], ["b", "c"], broken=True))
    assert not any(isinstance(item, Tiles) for item in small.items)


def test_every_weight_that_shows_is_drawn_in_its_place() -> None:
    grid = hard("words")
    notes = {item.note for item in heat(grid).items if isinstance(item, Box) and item.note}
    assert notes == {
        f"{grid.rows[i]} ← {grid.columns[j]} {w:.2f}" for (i, j), w in np.ndenumerate(grid.values) if round(w, 2) > 0
    }


def test_several_pictures_lie_side_by_side_where_they_fit_and_never_overlap() -> None:
    narrow, broad = Drawing(300, 80, (Label(0, 20, "a"),), "n"), Drawing(700, 50, (Label(0, 20, "b"),), "b")
    both = gathered([narrow, narrow, broad])
    assert (both.width, both.height) == (700, 130)
    assert [(words.x, words.y) for words in both.labels] == [(0, 20), (300, 20), (0, 100)]
    check(gathered([heat(hard("words")), heat(hard("arabic"))]))
