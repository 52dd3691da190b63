"""Words as a reader sees them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.words import split_words, word_spans


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L'homme n'a pas traversé la rue.", ["L'", "homme", "n'", "a", "pas", "traversé", "la", "rue", "."]),
        ("The animal didn't stop.", ["The", "animal", "didn't", "stop", "."]),
        ("Qu’il vient-il lorsqu'elle", ["Qu’", "il", "vient-il", "lorsqu'", "elle"]),
        ("aujourd'hui, 3,5 %", ["aujourd'hui", ",", "3", ",", "5", "%"]),
        ("  ", []),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text())
def test_words_hold_every_visible_character_once(text: str) -> None:
    spans = word_spans(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    outside = "".join(
        text[a:b] for a, b in zip([0, *(e for _, e in spans)], [*(s for s, _ in spans), len(text)], strict=True)
    )
    assert not outside.strip()
