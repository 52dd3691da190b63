"""PRO learns the direction that BLEU prefers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.strategies import floats, lists

from regard.course.phrases.tune import (
    Proposals,
    RankedCandidates,
    interpolated_weights,
    learn_reranking,
    logistic_regression,
    pro,
    scored_candidates,
)


def constructed(rng: np.random.Generator, sentences: int = 20) -> list[RankedCandidates]:
    """BLEU grows with the first feature and falls with the second; the third is noise."""
    made = []
    for _ in range(sentences):
        features = rng.normal(size=(30, 3))
        made.append(RankedCandidates(features, 50 + 10 * features[:, 0] - 20 * features[:, 1]))
    return made


def chosen(sentences: list[RankedCandidates], weights: tuple[float, ...]) -> float:
    return float(np.mean([one.bleu[(one.features @ weights).argmax()] for one in sentences]))


def test_tuned_weights_choose_better_translations() -> None:
    learning, other = (constructed(np.random.default_rng(seed)) for seed in (1, 2))
    before = (0.0, 0.0, 1.0)
    after = pro(learning, before)
    assert chosen(other, after) > chosen(other, before) + 20
    assert after[0] > 0 > after[1] < -after[0]
    assert sum(map(abs, after)) == pytest.approx(1)


@given(lists(floats(-5, 5), min_size=3, max_size=3), lists(floats(-5, 5), min_size=3, max_size=3))
def test_a_mix_never_turns_away_from_the_weights_before(before: list[float], learnt: list[float]) -> None:
    """What is learnt can be the opposite, and its scale does not count."""
    assume(min(sum(map(abs, before)), sum(map(abs, learnt))) > 0.01)
    found = interpolated_weights(before, learnt)
    assert sum(map(abs, found)) == pytest.approx(1)
    assert np.dot(found, before) > 0
    assert found == pytest.approx(interpolated_weights(before, [1000 * weight for weight in learnt]))


def test_alike_candidates_leave_the_weights_alone() -> None:
    alike = RankedCandidates(np.ones((3, 2)), np.full(3, 40.0))
    assert pro([alike], (0.3, 0.7)) == (0.3, 0.7)


def test_the_classifier_is_at_the_minimum_of_its_loss() -> None:
    x = np.random.default_rng(3).normal((0.5, 0), size=(40, 2))
    ridge = 0.1
    w = logistic_regression(x, ridge)

    def loss(w: np.ndarray) -> float:  # type: ignore[type-arg]
        return float(np.log1p(np.exp(-x @ w)).mean() + ridge / 2 * w @ w)

    assert all(loss(w) < loss(w + step) for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]))


def test_sentences_are_scored_as_given() -> None:
    found = scored_candidates([[1.0], [2.0]], ["le chat noir dort", "un chien"], "le chat noir dort")
    assert found.bleu[0] == pytest.approx(100 * np.exp(1 - 5 / 4))  # one word more in the reference
    assert found.bleu[1] < found.bleu[0]


def test_the_feature_that_knows_better_decides() -> None:
    """The first feature prefers the wrong text, the second the right one; learnt weights turn the first around."""
    references = [f"le chat numéro {n} dort dans la grande maison" for n in ("un", "deux", "trois", "quatre")]
    dev = [Proposals(["rien de tout cela", right], [[2.0, -1.0], [1.0, 1.0]]) for right in references]
    weights = learn_reranking(dev, references)
    assert [one.best(weights) for one in dev] == references
    assert weights[1] > 0 > weights[0]
