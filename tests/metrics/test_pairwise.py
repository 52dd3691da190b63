"""Scores of all pairs, against sacreBLEU pair by pair and against a plain reading of the definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics import pairwise
from regard.metrics.ngrams import Ragged
from regard.metrics.pairwise import pairwise_bleu, pairwise_chrf, shared_ngrams

LINES = [
    "Le chat est sur le tapis.",
    "Le chat est sur le tapis, le chat dort.",
    "Un chien court dans la rue !",
    "Le",
    "",
    "le le le le le le le",
    "Größe 日本語 🐈",
]


@pytest.mark.parametrize("columns", [3, pairwise.COLUMNS])
def test_pairs_are_scored_as_sacrebleu_scores_a_sentence(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "COLUMNS", columns)
    monkeypatch.setattr(pairwise, "PAIRS", 10)
    chrf, bleu = pairwise_chrf(LINES), pairwise_bleu(LINES)
    for i, hypothesis in enumerate(LINES):
        for j, reference in enumerate(LINES):
            assert chrf[i, j] == pytest.approx(sacrebleu.sentence_chrf(hypothesis, [reference]).score)
            assert bleu[i, j] == pytest.approx(sacrebleu.sentence_bleu(hypothesis, [reference]).score)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=1, max_size=5), st.integers(1, 4))
def test_shared_ngrams_are_sums_of_smaller_counts(lines: list[list[int]], order: int) -> None:
    flat = np.array([token for line in lines for token in line], dtype=np.int64)
    found = shared_ngrams(Ragged(flat, np.array([len(line) for line in lines], dtype=np.int64)), order)
    for n in range(1, order + 1):
        counts = [Counter(tuple(line[i : i + n]) for i in range(len(line) - n + 1)) for line in lines]
        wanted = [[(one & other).total() for other in counts] for one in counts]
        assert found[..., n - 1].tolist() == wanted


def test_no_lines_have_no_scores() -> None:
    assert pairwise_chrf([]).shape == (0, 0)
