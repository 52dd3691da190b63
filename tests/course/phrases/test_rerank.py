"""A second judge corrects the order of proposals."""

from __future__ import annotations

from regard.course.phrases.rerank import Proposals, learn_reranking


def test_the_feature_that_knows_better_decides() -> None:
    """The first feature prefers the wrong text, the second the right one; learnt weights turn the first around."""
    references = [f"le chat numéro {n} dort dans la grande maison" for n in ("un", "deux", "trois", "quatre")]
    dev = [Proposals(["rien de tout cela", right], [[2.0, -1.0], [1.0, 1.0]]) for right in references]
    weights = learn_reranking(dev, references)
    assert [one.best(weights) for one in dev] == references
    assert weights[1] > 0 > weights[0]
