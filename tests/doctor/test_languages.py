"""The fit of a line is its equation; sides that are written alike are not told apart."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from damage import clean
from regard.doctor.languages import ALPHA, judge_languages, letters_only, script_of_line


def threes(text: str) -> list[str]:
    form = letters_only(text)
    return [form[i : i + 3] for i in range(len(form) - 2)]


def test_fit_is_the_equation() -> None:
    pairs = clean().train[:50]
    found = judge_languages(pairs)
    distinct = [dict.fromkeys(pair[side] for pair in pairs) for side in (0, 1)]
    counts = [Counter(gram for text in texts for gram in threes(text)) for texts in distinct]
    kinds = len(counts[0] | counts[1])
    for at in (0, 17):
        own = other = 0.0
        for gram in threes(pairs[at][0]):
            own += math.log((counts[0][gram] - 1 + ALPHA) / (counts[0].total() + ALPHA * kinds))
            other += math.log((counts[1][gram] + ALPHA) / (counts[1].total() + ALPHA * kinds))
        assert found.source.own[at] == pytest.approx(own)
        assert found.source.other[at] == pytest.approx(other)
        assert found.source.trigrams[at] == len(threes(pairs[at][0]))


def test_two_sides_of_one_language_are_not_told_apart() -> None:
    sources = [src for src, _ in clean().train[:1000]]
    assert not judge_languages(list(zip(sources, reversed(sources), strict=True))).apart
    assert judge_languages(clean().train[:1000]).apart


@pytest.mark.parametrize(
    ("text", "script"),
    [("Le chat.", "LATIN"), ("Кот спит.", "CYRILLIC"), ("猫が寝る", "CJK"), ("1 + 2 = 3", None), ("Ωmega", "LATIN")],
)
def test_scripts(text: str, script: str | None) -> None:
    assert script_of_line(text) == script
