"""Spans of pieces: what is known of pieces of whole characters holds beside pieces that cut one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regard.text.pieces import ESCAPE, ONE, SPACE, from_pieces_form, piece_shape, piece_spans, shape_spans
from regard.text.slots import FIRST_BYTE, SLOTS

PIECES = st.lists(st.text(f"aé漢{SPACE}", max_size=4).map(str.encode), max_size=8)
CUT = [b"\xc3", b"\xa9"]  # an é in two pieces, so that spans are counted byte by byte


@given(PIECES)
def test_spans_do_not_depend_on_whether_another_character_is_cut(pieces: list[bytes]) -> None:
    whole, beside = piece_spans(pieces), piece_spans([*pieces, *CUT])
    assert beside[: len(pieces)] == whole
    assert beside[-1] == beside[-2]


@given(PIECES)
def test_a_span_is_the_text_of_its_piece(pieces: list[bytes]) -> None:
    text = from_pieces_form(b"".join(pieces))
    for piece, (start, end) in zip(pieces, piece_spans(pieces), strict=True):
        said = piece.decode().replace(SPACE, " ")
        assert text[start:end] == said.removeprefix(" ") if said.strip() else not text[start:end].strip()


def test_an_escaped_character_is_one() -> None:
    assert piece_spans([f"{SPACE}a{ESCAPE}{ONE}".encode(), b"b"]) == [(0, 2), (2, 3)]


@given(
    st.lists(
        st.sampled_from([*(f"{SPACE}le é {SPACE}{SPACE}a".split()), SPACE, "漢字"]).map(str.encode) | st.just(b"\xf5")
    )
)
def test_spans_of_shapes_are_those_of_the_pieces(pieces: list[bytes]) -> None:
    shapes = [shape for shape in map(piece_shape, pieces) if shape]
    assert len(shapes) == len(pieces)
    begins = bool(pieces) and pieces[0].startswith(SPACE.encode())
    assert shape_spans(shapes, int(begins)) == piece_spans(pieces)


def test_only_pieces_of_whole_characters_have_a_shape() -> None:
    assert piece_shape(bytes([FIRST_BYTE])) == (1, 0)
    assert from_pieces_form(bytes([FIRST_BYTE])) == SLOTS[0]
    assert not any(map(piece_shape, (b"", b"\xc3", b"\xf5\xf6", ESCAPE.encode())))
