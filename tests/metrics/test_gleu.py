"""GLEU against published numbers, its own properties, and its fast twin."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.gleu import gleu, gleu_scores

lines = st.lists(st.integers(0, 4), max_size=12)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [  # the examples that NLTK's documentation gives for its own implementation, rounded down there
        ("the the the the the the the", "the cat is on the mat", 0.0909),
        (
            "It is a guide to action which ensures that the military always obeys the commands of the party",
            "It is a guide to action that ensures that the military will forever heed Party commands",
            0.4393,
        ),
        (
            "It is to insure the troops forever hearing the activity guidebook that party direct",
            "It is a guide to action that ensures that the military will forever heed Party commands",
            0.1206,
        ),
    ],
)
def test_it_gives_the_published_numbers(hypothesis, reference, expected):
    assert int(gleu(hypothesis.split(), reference.split()) * 10_000) / 10_000 == expected


@given(lines, lines, st.integers(1, 5))
def test_it_is_the_smaller_of_precision_and_recall(hypothesis, reference, order):
    """By lists alone: each n-gram found in what is left of the reference is struck out."""
    said, meant = (
        [tuple(line[i : i + n]) for n in range(1, order + 1) for i in range(len(line) - n + 1)]
        for line in (hypothesis, reference)
    )
    left, matches = list(meant), 0
    for ngram in said:
        if ngram in left:
            left.remove(ngram)
            matches += 1
    precision = matches / len(said) if said else float(not meant)
    recall = matches / len(meant) if meant else float(not said)
    assert gleu(hypothesis, reference, order) == pytest.approx(min(precision, recall))


@given(lines, lines)
def test_both_sides_may_change_places(hypothesis, reference):
    assert gleu(hypothesis, reference) == gleu(reference, hypothesis)


@given(lines, lines)
def test_it_is_one_for_equal_lines_alone(hypothesis, reference):
    assert gleu(hypothesis, hypothesis) == 1
    assert 0 <= gleu(hypothesis, reference) <= 1
    if sorted(hypothesis) != sorted(reference):
        assert gleu(hypothesis, reference) < 1


def test_words_and_ids_score_alike():
    words, other = list("abcab"), list("abbac")
    number = {"a": 7, "b": 2**40, "c": 0}
    assert gleu(words, other) == gleu([number[w] for w in words], [number[w] for w in other])


@given(st.lists(st.tuples(lines, lines), max_size=6), st.integers(1, 5))
def test_the_fast_twin_agrees(pairs, order):
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    expected = [gleu(h, r, order) for h, r in pairs]
    np.testing.assert_allclose(gleu_scores(hypotheses, references, order), expected, rtol=1e-12)


def test_many_lines_are_scored_fast():
    """A training step's worth: 100 sentences × 16 samples of 30 tokens. A tenth of the equation's time here."""
    numbers = np.random.default_rng(0).integers(3, 8000, (2, 1600, 30)).tolist()
    began = time.process_time()
    gleu_scores(*numbers)
    middle = time.process_time()
    for hypothesis, reference in zip(*numbers, strict=True):
        gleu(hypothesis, reference)
    assert middle - began < (time.process_time() - middle) / 2
