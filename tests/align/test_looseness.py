"""Scores of loose translations: against the formula written out, and on pairs that are none."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest

from regard.align import looseness
from regard.align.looseness import Association, learn_association, slots
from regard.data.overlap import key_words
from support import grammar


@cache
def grammar_words() -> list[tuple[list[str], list[str]]]:
    return [(key_words(e.src), key_words(e.tgt)) for e in grammar()["train"].examples[:500]]


def made(gains: dict[tuple[str, str], float], sources: list[str], targets: list[str]) -> Association:
    numbers = [{w: n for n, w in enumerate(words)} for words in (sources, targets)]
    entries = sorted((numbers[0][e] * len(targets) + numbers[1][f], gain) for (e, f), gain in gains.items())
    keys = np.array([key for key, _ in entries])
    occupied = np.zeros(1 << looseness.SLOT_BITS, dtype=bool)
    occupied[slots(keys)] = True
    return Association(numbers[0], numbers[1], keys, np.array([gain for _, gain in entries], np.float32), occupied)


def test_scores_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looseness, "CELLS", 5)  # several parts
    rng = random.Random(1)
    words = ([f"e{i}" for i in range(12)], [f"f{i}" for i in range(12)])
    gains = {(e, f): rng.uniform(0.5, 6) for e in words[0] for f in words[1] if rng.random() < 0.3}
    lines = [[[rng.choice([*side, "unknown"]) for _ in range(rng.randint(0, 7))] for side in words] for _ in range(40)]
    found = made(gains, *words).scores([e for e, _ in lines], [f for _, f in lines])
    for (source, target), score in zip(lines, found.tolist(), strict=True):
        known = [e for e in source if e in words[0]], [f for f in target if f in words[1]]
        if min(map(len, known)) < looseness.ENOUGH:
            assert math.isnan(score)
            continue
        best = [max(gains.get((e, f), 0) for f in known[1]) for e in known[0]]
        other = [max(gains.get((e, f), 0) for e in known[0]) for f in known[1]]
        assert score == pytest.approx((sum(best) / len(best) + sum(other) / len(other)) / 2, rel=1e-5)


def test_translations_score_above_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looseness, "COMMON", 1.0)  # of a small grammar every word is common
    found = learn_association(grammar_words())
    sources, targets = [e for e, _ in grammar_words()], [f for _, f in grammar_words()]
    true = found.scores(sources, targets)
    shifted = found.scores(sources, targets[1:] + targets[:1])
    halved = found.scores(sources, [words[: len(words) // 2] for words in targets])
    assert np.nanmedian(true) > np.nanmedian(halved) > np.nanmedian(shifted) + 0.3
    assert np.nanmean(true > shifted) > 0.85  # the grammar says some things twice


def test_a_handful_teaches_nothing() -> None:
    few = learn_association([(["a", "b", "c"], ["x", "y", "z"])])
    assert np.isnan(few.scores([["a", "b", "c"]], [["x", "y", "z"]])).all()


def test_no_pairs() -> None:
    assert len(made({("a", "b"): 1.0}, ["a"], ["b"]).scores([], [])) == 0
