"""The gain of a pair is its equation, and what the judgement cannot know is not told."""

from __future__ import annotations

import math
import random

import pytest

from damage import clean
from regard.align.numbered import NULL
from regard.doctor.pairing import EPSILON, LexicalModel, judge_pairs, line_words


def test_gain_is_the_equation() -> None:
    pairs = [(line_words(src), line_words(tgt)) for src, tgt in clean().train[:300]]
    judge = LexicalModel.learn(pairs)
    for src, tgt in [pairs[5], (pairs[7][0], pairs[8][1])]:
        words = [word for word in tgt if word in judge.table.target_numbers]
        gain = 0.0
        for word in words:
            lexical = sum(judge.table.probability(word, e) for e in (NULL, *src)) / (len(src) + 1)
            usual = judge.frequencies[judge.table.target_numbers[word]]
            gain += math.log(((1 - EPSILON) * lexical + EPSILON * usual) / usual)
        assert judge.gains([(src, tgt)])[0] == pytest.approx(gain / len(words))


def test_too_few_pairs_tell_nothing() -> None:
    assert judge_pairs([clean().train[:50]]) is None


def test_pairs_thrown_together_are_not_judged_one_by_one() -> None:
    """Where nothing goes together, no pair is worse than the others: there is nothing to learn from."""
    text = clean()
    train = text.train[:1500]
    targets = [tgt for _, tgt in train]
    random.Random(3).shuffle(targets)
    found = judge_pairs([[(src, tgt) for (src, _), tgt in zip(train, targets, strict=True)]])
    assert found is not None
    assert not found.together
    assert found.misaligned() == []
    assert found.shifts == ()
