"""Spans of pieces: what is known of pieces of whole characters holds beside pieces that cut one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regard.text.pieces import ESCAPE, ONE, SPACE, from_pieces_form, piece_spans

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
