"""Words as a reader sees them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text import words
from regard.text.words import MAX_PART, PartCache, may_repeat, split_words, word_spans

TEXT = st.text(st.sampled_from("aL'’é-3 \t\n\x1c.猫\u0301\u00a0"))


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


@given(TEXT | st.text())
def test_words_are_those_of_one_pass_over_the_text(text: str) -> None:
    assert word_spans(text) == [match.span() for match in words._WORD.finditer(text)]


def test_a_part_is_computed_once_unless_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def find(part: str) -> str:
        computed.append(part)
        return part

    cache, long = PartCache[str](find), "x" * (MAX_PART + 1)
    assert cache(f"a b a {long} {long}") == [*"aba", *long, *long]
    assert computed == ["a", "b", long, long]
    monkeypatch.setattr(words, "MAX_PARTS", 2)
    assert cache("c a") == ["c", "a"]  # "c" takes the place of the others
    assert len(cache) == 2


@given(st.text("ab", min_size=1, max_size=4), st.integers(2, 6), st.text("abc", max_size=4))
def test_a_text_with_a_repetition_may_repeat(unit: str, times: int, rest: str) -> None:
    assert may_repeat(rest + unit * times, times)
    assert not may_repeat("abc", 2)
