"""Case of rough text: only letters change, and only their case."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regard.text.mend import in_capitals, in_small, in_title_case
from support import grammar


@given(st.text(alphabet="ABCÉ .!?42'", max_size=30))
def test_only_letters_change_and_only_their_case(text: str) -> None:
    assert in_small(text).upper() == text


@given(st.text())
def test_every_character_keeps_its_place(text: str) -> None:
    small = in_small(text)
    assert len(small) == len(text)
    assert all(a.casefold() == b.casefold() for a, b in zip(text, small, strict=True))


def test_sentences_begin_with_a_capital() -> None:
    assert in_small("WHO IS IT? 'IT IS ME.' I SEE…\tÉTÉ") == "Who is it? 'It is me.' i see…\tÉté"


def test_the_embedded_corpus_is_tidy() -> None:
    for example in grammar()["train"].examples:
        assert not in_capitals(example.src)
        assert not in_title_case(example.src)
        assert not in_title_case(example.tgt)


def test_time_is_linear_in_the_length_of_a_line() -> None:
    """Seconds; in quadratic time hours."""
    for line in ("x" + " " * 300_000, " " * 300_000 + "x", "STOP" + "! " * 200_000):
        assert len(in_small(line)) == len(line)
